import { type TypedText, typedText } from '../../context/prompt/mention-places.js';
import { promptExpanded, promptSubmitted } from '../../hooks/events/prompt.js';
import { err, ok } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import type { TypedPrompt } from '../../mcp/resources/prompts.js';
import { readTypedPrompt } from '../../mcp/resources/prompts.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import type { ForkTools } from '../../skills/grants/grant.js';
import { readTyped } from '../../skills/invoke/find.js';
import type { ReadySkill } from '../../skills/invoke/invoke.js';
import type { Skill } from '../../skills/skill.js';
import type { ModelSwitches } from './model-choice.js';
import type { Beside, MentionParts } from './prompt-mentions.js';

/** What became of prompts that hooks were shown. */
export type Submitted =
  | { readonly kind: 'pass'; readonly inputs: readonly InputMessage[] }
  /** None of them goes to the model. `cause`: all of them begin with the name of a command that does not exist. */
  | { readonly kind: 'blocked'; readonly message: string; readonly cause?: 'unknown_command' };

export interface PromptParts extends MentionParts {
  readonly models: ModelSwitches;
  /** A prompt is on its way: Stop hooks may send the agent on again. */
  beginPrompt(): void;
  readonly title: { get(): string | undefined; set(text: string): void };
}

/** Words that the program itself knows. */
const BUILTINS = ['compact'];

/** Prompts on their way to the model; what the runtime adds is not a prompt and passes as it is. */
export async function submitPrompts(
  parts: PromptParts,
  prompts: readonly InputMessage[],
  signal: AbortSignal,
): Promise<Submitted> {
  const passed: InputMessage[] = [];
  const refusals: Extract<Submitted, { kind: 'blocked' }>[] = [];
  for (const prompt of prompts) {
    const submitted =
      prompt.meta === true ? { inputs: [prompt] } : await submitPrompt(parts, prompt, signal);
    if ('inputs' in submitted) passed.push(...submitted.inputs);
    else {
      const text = submitted.message;
      parts.config.emit({ type: 'notice', level: 'warning', text, tag: 'prompt_blocked' });
      refusals.push({ kind: 'blocked', ...submitted });
    }
  }
  const said = passed.some((message) => message.meta !== true);
  if (refusals.length === 0 || said) return { kind: 'pass', inputs: passed };
  const message = refusals.map((refusal) => refusal.message).join('\n\n');
  const isUnknown = refusals.every(({ cause }) => cause === 'unknown_command');
  return { kind: 'blocked', message, ...(isUnknown && { cause: 'unknown_command' }) };
}

/** Why a prompt goes no further. */
interface Refusal {
  readonly message: string;
  readonly cause?: 'unknown_command';
}

/** One prompt: what is typed as `/name` brings the text of the skill with it, hooks see it, what it names is read. */
async function submitPrompt(
  parts: PromptParts,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<{ readonly inputs: readonly InputMessage[] } | Refusal> {
  const begun: ReadySkill[] = [];
  let isThrough = false;
  try {
    const isCommand =
      prompt.verbatim !== true && textOf(prompt.content).trimStart().startsWith('/');
    const steps = isCommand ? await expandTyped(parts, prompt, { signal, begun }) : [];
    if ('message' in steps) return steps;
    const passed = await askHooks(parts, prompt, signal);
    if (typeof passed === 'string') return { message: passed };
    const typed = typedText(prompt, passed);
    const followUps = await takeSteps(parts, steps, { typed, signal });
    if (typeof followUps === 'string') return { message: followUps };
    // What is named goes to the agents that work on it, where there are any.
    const isAttached = typed !== undefined && !steps.some(isFork);
    const beside = isAttached ? await attach(parts, typed, { signal }) : NOTHING;
    if (beside.stop !== undefined) return { message: beside.stop };
    // Last: a model or hooks of a skill whose prompt is held back would stay.
    for (const one of begun) await inForce(parts, one);
    isThrough = true;
    return { inputs: [...passed, ...followUps, ...beside.inputs] };
  } finally {
    // fail-closed: of a text that the model never gets nothing holds.
    if (!isThrough) for (const one of begun) one.withdraw();
  }
}

/** Shows a prompt to the hooks. A text: why it goes no further. */
async function askHooks(
  parts: PromptParts,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<readonly InputMessage[] | string> {
  const { config, hooks, log, title } = parts;
  parts.beginPrompt();
  const text = textOf(prompt.content);
  const outcome = await promptSubmitted(hooks.dispatch, {
    prompt: text,
    ...hooks.scene(signal),
    source: config.callbacks === undefined ? 'user' : 'sdk',
    sessionTitle: title.get(),
  });
  if (outcome.kind === 'stopped') return `Stopped by a hook: ${outcome.reason}`;
  if (outcome.kind === 'blocked') {
    const original = outcome.suppressOriginal === true ? '' : `\n\nOriginal prompt: ${text}`;
    return `The prompt was blocked by a hook: ${outcome.reason}${original}`;
  }
  if (outcome.sessionTitle !== undefined) title.set(outcome.sessionTitle);
  const note = await hooks.notes.note(outcome.contexts);
  const context = note === undefined ? [] : [note];
  const { updatedPrompt } = outcome;
  if (updatedPrompt === undefined) return [prompt, ...context];
  // What was said is kept beside it in the transcript.
  const { uuid, content } = prompt;
  log.recorder.attachment({ type: 'replaced_prompt', uuid, content });
  const others = prompt.content.filter((block) => block.type !== 'text');
  return [{ ...prompt, content: [...others, { type: 'text', text: updatedPrompt }] }, ...context];
}

/** A skill that runs as an agent of its own, once the prompt is let through. */
interface Fork {
  readonly skill: Skill;
  readonly args: string;
}

/** What follows a prompt. */
type Step = InputMessage | Fork;

function isFork(step: Step): step is Fork {
  return 'skill' in step;
}

const NOTHING: Beside = { inputs: [] };

/** What follows a typed command. Skills that are ready are noted in `begun`. */
async function expandTyped(
  parts: PromptParts,
  prompt: InputMessage,
  { signal, begun }: { readonly signal: AbortSignal; readonly begun: ReadySkill[] },
): Promise<readonly Step[] | Refusal> {
  const text = textOf(prompt.content);
  const { hooks, skills, mcp } = parts;
  const { notes } = hooks;
  const command = mcp && readTypedPrompt(text);
  if (command !== undefined) return await expandPrompt(parts, { text, command }, signal);
  const typed = await readTyped(text, { book: skills.book, builtins: BUILTINS });
  if (typed.kind === 'prompt' || typed.kind === 'builtin') return [];
  if (typed.kind === 'unknown') {
    // A program writes the prompts of a host: what names no command is text, not a slip of the finger.
    const isText = parts.config.callbacks !== undefined;
    return isText ? [] : { message: typed.message, cause: 'unknown_command' };
  }
  const scene = hooks.scene(signal);
  const steps: Step[] = [];
  for (const { skill, args } of typed.invocations) {
    const heard = await promptExpanded(hooks.dispatch, {
      ...scene,
      type: 'slash_command',
      command: skill.name,
      args,
      source: skill.source,
      prompt: text,
    });
    if (heard.kind !== 'pass')
      return { message: `/${skill.name} was held back by a hook: ${heard.reason}` };
    if (skill.head.context === 'fork') {
      const mayStart = await parts.skills.invoker.check(skill.name, 'person');
      if (!mayStart.ok) return { message: `/${skill.name}: ${mayStart.error}` };
      steps.push({ skill, args });
      continue;
    }
    const { agent } = scene;
    const by = 'person';
    const outcome = await parts.skills.invoker.invoke({
      name: skill.name,
      args,
      by,
      agent,
      signal,
    });
    if (outcome.kind === 'refused') return { message: `/${skill.name}: ${outcome.reason}` };
    // The skill has become one with an agent of its own just now, and has run.
    if (outcome.kind === 'forked') {
      steps.push(...notes.followUp([outcome.toolText]));
      continue;
    }
    begun.push(outcome);
    steps.push(...notes.followUp([outcome.message]));
    const note = await notes.note(heard.contexts);
    if (note !== undefined) steps.push(note);
  }
  return steps;
}

/** The messages that follow a prompt, with the reports of agents in their places; a text: why it goes no further. */
async function takeSteps(
  parts: PromptParts,
  steps: readonly Step[],
  way: { readonly typed: TypedText | undefined; readonly signal: AbortSignal },
): Promise<readonly InputMessage[] | string> {
  const messages: InputMessage[] = [];
  for (const step of steps) {
    if (!isFork(step)) {
      messages.push(step);
      continue;
    }
    const report = await runFork(parts, step, way);
    if (report.stop !== undefined) return report.stop;
    messages.push(...report.inputs);
  }
  return messages;
}

/** It ends before the prompt goes on: what is named goes to it. */
async function runFork(
  parts: PromptParts,
  { skill, args }: Fork,
  { typed, signal }: { readonly typed: TypedText | undefined; readonly signal: AbortSignal },
): Promise<Beside> {
  let stop: string | undefined;
  const outcome = await parts.skills.invoker.invoke({
    name: skill.name,
    args,
    by: 'person',
    agent: MAIN_AGENT,
    signal,
    async beside(other) {
      const named = typed === undefined ? NOTHING : await attach(parts, typed, { other, signal });
      stop = named.stop;
      return stop === undefined ? ok(named.inputs.flatMap(({ content }) => content)) : err(stop);
    },
  });
  if (outcome.kind === 'refused') {
    return { inputs: [], stop: stop ?? `/${skill.name}: ${outcome.reason}` };
  }
  if (outcome.kind === 'forked') return { inputs: parts.hooks.notes.followUp([outcome.toolText]) };
  // fail-closed: hooks were shown a skill that does its work elsewhere.
  outcome.withdraw();
  return { inputs: [], stop: `/${skill.name}: it has changed just now. Type it again` };
}

/** A server's prompt, typed by a person: its messages follow what was typed, as text and nothing else. */
async function expandPrompt(
  { hooks, mcp }: PromptParts,
  { text, command }: { readonly text: string; readonly command: TypedPrompt },
  signal: AbortSignal,
): Promise<readonly InputMessage[] | Refusal> {
  const { name, args } = command;
  const heard = await promptExpanded(hooks.dispatch, {
    ...hooks.scene(signal),
    type: 'mcp_prompt',
    command: name,
    args,
    source: 'mcp',
    prompt: text,
  });
  if (heard.kind !== 'pass')
    return { message: `/${name} was held back by a hook: ${heard.reason}` };
  const expanded = await mcp?.prompts.expand(command, signal);
  if (expanded?.ok !== true) return { message: expanded?.error ?? 'there are no servers' };
  const note = await hooks.notes.note(heard.contexts);
  return [hooks.notes.blocks(expanded.value), ...(note === undefined ? [] : [note])];
}

/** Puts in force what a skill brings besides its text. */
async function inForce({ skills, hooks, models }: PromptParts, ready: ReadySkill): Promise<void> {
  skills.onReady(ready, { agent: MAIN_AGENT, by: 'person' });
  const stays = ready.model === undefined ? undefined : await models.forTurn(ready.model);
  if (stays !== undefined) hooks.tell(`skill ${ready.skill.name}: ${stays}`);
}

/** Reads what a prompt names with an `@`. `other`: the tools of another agent that is shown it. */
async function attach(
  parts: PromptParts,
  typed: TypedText,
  how: { readonly other?: ForkTools; readonly signal: AbortSignal },
): Promise<Beside> {
  const { attachedTo } = await import('./prompt-mentions.js');
  return await attachedTo(parts, typed, how);
}
