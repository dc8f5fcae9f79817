import { type TypedText, typedText } from '../../context/prompt/mention-places.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import { type PromptSource, promptExpanded, promptSubmitted } from '../../hooks/events/prompt.js';
import type { HookDispatch } from '../../hooks/registry/hook.js';
import type { HookNotes } from '../../hooks/session/hook-notes.js';
import { err, ok } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import type { McpPrompts, TypedPrompt } from '../../mcp/resources/prompts.js';
import { readTypedPrompt } from '../../mcp/resources/prompts.js';
import { textOf } from '../../protocol/content.js';
import type { ForkTools } from '../../skills/grants/grant.js';
import { readTyped } from '../../skills/invoke/find.js';
import type { ReadySkill, SkillInvoker } from '../../skills/invoke/invoke.js';
import type { Skill, SkillBook } from '../../skills/skill.js';
import type { Submitted } from './session.js';

export interface PromptDeps {
  /** Prompts of MCP servers. Absent: there are none. */
  readonly mcpPrompts?: Pick<McpPrompts, 'expand'> | undefined;
  readonly book: SkillBook;
  readonly invoker: SkillInvoker;
  readonly dispatch: HookDispatch;
  readonly notes: HookNotes;
  scene(signal: AbortSignal): Scene;
  readonly source: PromptSource;
  /** A prompt is on its way: Stop hooks may send the agent on again. */
  beginPrompt(): void;
  title(): string | undefined;
  setTitle(text: string): void;
  /** What a hook put in a prompt's place, for the transcript: what was said is kept beside it. */
  onReplaced(said: InputMessage): void;
  /** Puts in force what goes beyond text and rules. */
  onReady(ready: ReadySkill): Promise<void>;
  /** A program writes the prompts: what names no command is text, not a slip of the finger. */
  readonly unknownIsText?: boolean;
  /** Reads what a prompt names with an `@`. */
  attach(
    typed: TypedText,
    /** `other`: the tools of another agent that is shown it. Absent: the main agent is. */
    how: { readonly other?: ForkTools; readonly signal: AbortSignal },
  ): Promise<Beside>;
  /** A prompt goes no further, and why. */
  onRefused(message: string): void;
}

/** What stands beside a prompt for what it names. */
export interface Beside {
  readonly inputs: readonly InputMessage[];
  /** The prompt goes no further, and why. */
  readonly stop?: string;
}

/** Words that the program itself knows. */
const BUILTINS = ['compact'];

/** Prompts on their way to the model; what the runtime adds is not a prompt and passes as it is. */
export async function submitPrompts(
  deps: PromptDeps,
  prompts: readonly InputMessage[],
  signal: AbortSignal,
): Promise<Submitted> {
  const passed: InputMessage[] = [];
  const refusals: Extract<Submitted, { kind: 'blocked' }>[] = [];
  for (const prompt of prompts) {
    const submitted =
      prompt.meta === true ? { inputs: [prompt] } : await submitPrompt(deps, prompt, signal);
    if ('inputs' in submitted) passed.push(...submitted.inputs);
    else {
      deps.onRefused(submitted.message);
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
  deps: PromptDeps,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<{ readonly inputs: readonly InputMessage[] } | Refusal> {
  const begun: ReadySkill[] = [];
  let isThrough = false;
  try {
    const isCommand =
      prompt.verbatim !== true && textOf(prompt.content).trimStart().startsWith('/');
    const steps = isCommand ? await expandTyped(deps, prompt, { signal, begun }) : [];
    if ('message' in steps) return steps;
    const passed = await askHooks(deps, prompt, signal);
    if (typeof passed === 'string') return { message: passed };
    const typed = typedText(prompt, passed);
    const followUps = await takeSteps(deps, steps, { typed, signal });
    if (typeof followUps === 'string') return { message: followUps };
    // What is named goes to the agents that work on it, where there are any.
    const isAttached = typed !== undefined && !steps.some(isFork);
    const beside = isAttached ? await deps.attach(typed, { signal }) : NOTHING;
    if (beside.stop !== undefined) return { message: beside.stop };
    // Last: a model or hooks of a skill whose prompt is held back would stay.
    for (const one of begun) await deps.onReady(one);
    isThrough = true;
    return { inputs: [...passed, ...followUps, ...beside.inputs] };
  } finally {
    // fail-closed: of a text that the model never gets nothing holds.
    if (!isThrough) for (const one of begun) one.withdraw();
  }
}

/** Shows a prompt to the hooks. A text: why it goes no further. */
async function askHooks(
  deps: PromptDeps,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<readonly InputMessage[] | string> {
  deps.beginPrompt();
  const text = textOf(prompt.content);
  const outcome = await promptSubmitted(deps.dispatch, {
    prompt: text,
    ...deps.scene(signal),
    source: deps.source,
    sessionTitle: deps.title(),
  });
  if (outcome.kind === 'stopped') return `Stopped by a hook: ${outcome.reason}`;
  if (outcome.kind === 'blocked') {
    const original = outcome.suppressOriginal === true ? '' : `\n\nOriginal prompt: ${text}`;
    return `The prompt was blocked by a hook: ${outcome.reason}${original}`;
  }
  if (outcome.sessionTitle !== undefined) deps.setTitle(outcome.sessionTitle);
  const note = await deps.notes.note(outcome.contexts);
  const context = note === undefined ? [] : [note];
  const { updatedPrompt } = outcome;
  if (updatedPrompt === undefined) return [prompt, ...context];
  deps.onReplaced(prompt);
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
  deps: PromptDeps,
  prompt: InputMessage,
  { signal, begun }: { readonly signal: AbortSignal; readonly begun: ReadySkill[] },
): Promise<readonly Step[] | Refusal> {
  const text = textOf(prompt.content);
  const command = deps.mcpPrompts === undefined ? undefined : readTypedPrompt(text);
  if (command !== undefined && deps.mcpPrompts !== undefined) {
    return await expandPrompt(deps, { prompt, command, prompts: deps.mcpPrompts }, signal);
  }
  const typed = await readTyped(text, { book: deps.book, builtins: BUILTINS });
  if (typed.kind === 'prompt' || typed.kind === 'builtin') return [];
  if (typed.kind === 'unknown') {
    return deps.unknownIsText === true ? [] : { message: typed.message, cause: 'unknown_command' };
  }
  const scene = deps.scene(signal);
  const steps: Step[] = [];
  for (const { skill, args } of typed.invocations) {
    const heard = await promptExpanded(deps.dispatch, {
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
      const mayStart = await deps.invoker.check(skill.name, 'person');
      if (!mayStart.ok) return { message: `/${skill.name}: ${mayStart.error}` };
      steps.push({ skill, args });
      continue;
    }
    const { agent } = scene;
    const by = 'person';
    const outcome = await deps.invoker.invoke({ name: skill.name, args, by, agent, signal });
    if (outcome.kind === 'refused') return { message: `/${skill.name}: ${outcome.reason}` };
    // The skill has become one with an agent of its own just now, and has run.
    if (outcome.kind === 'forked') {
      steps.push(...deps.notes.followUp([outcome.toolText]));
      continue;
    }
    begun.push(outcome);
    steps.push(...deps.notes.followUp([outcome.message]));
    const note = await deps.notes.note(heard.contexts);
    if (note !== undefined) steps.push(note);
  }
  return steps;
}

/** The messages that follow a prompt, with the reports of agents in their places; a text: why it goes no further. */
async function takeSteps(
  deps: PromptDeps,
  steps: readonly Step[],
  way: { readonly typed: TypedText | undefined; readonly signal: AbortSignal },
): Promise<readonly InputMessage[] | string> {
  const messages: InputMessage[] = [];
  for (const step of steps) {
    if (!isFork(step)) {
      messages.push(step);
      continue;
    }
    const report = await runFork(deps, step, way);
    if (report.stop !== undefined) return report.stop;
    messages.push(...report.inputs);
  }
  return messages;
}

/** It ends before the prompt goes on: what is named goes to it. */
async function runFork(
  deps: PromptDeps,
  { skill, args }: Fork,
  { typed, signal }: { readonly typed: TypedText | undefined; readonly signal: AbortSignal },
): Promise<Beside> {
  let stop: string | undefined;
  const outcome = await deps.invoker.invoke({
    name: skill.name,
    args,
    by: 'person',
    agent: deps.scene(signal).agent,
    signal,
    async beside(other) {
      const named = typed === undefined ? NOTHING : await deps.attach(typed, { other, signal });
      stop = named.stop;
      return stop === undefined ? ok(named.inputs.flatMap(({ content }) => content)) : err(stop);
    },
  });
  if (outcome.kind === 'refused') {
    return { inputs: [], stop: stop ?? `/${skill.name}: ${outcome.reason}` };
  }
  if (outcome.kind === 'forked') return { inputs: deps.notes.followUp([outcome.toolText]) };
  // fail-closed: hooks were shown a skill that does its work elsewhere.
  outcome.withdraw();
  return { inputs: [], stop: `/${skill.name}: it has changed just now. Type it again` };
}

/** A server's prompt, typed by a person: its messages follow what was typed, as text and nothing else. */
async function expandPrompt(
  deps: PromptDeps,
  {
    prompt,
    command,
    prompts,
  }: {
    readonly prompt: InputMessage;
    readonly command: TypedPrompt;
    readonly prompts: Pick<McpPrompts, 'expand'>;
  },
  signal: AbortSignal,
): Promise<readonly InputMessage[] | Refusal> {
  const { name, args } = command;
  const heard = await promptExpanded(deps.dispatch, {
    ...deps.scene(signal),
    type: 'mcp_prompt',
    command: name,
    args,
    source: 'mcp',
    prompt: textOf(prompt.content),
  });
  if (heard.kind !== 'pass')
    return { message: `/${name} was held back by a hook: ${heard.reason}` };
  const expanded = await prompts.expand(command, signal);
  if (!expanded.ok) return { message: expanded.error };
  const note = await deps.notes.note(heard.contexts);
  return [deps.notes.blocks(expanded.value), ...(note === undefined ? [] : [note])];
}
