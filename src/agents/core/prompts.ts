import { type TypedText, typedText } from '../../context/prompt/mention-places.js';
import { promptExpanded, promptSubmitted } from '../../hooks/events/prompt.js';
import { err, ok } from '../../lib/result.js';
import type { InputMessage } from '../../loop/types.js';
import { readTypedPrompt } from '../../mcp/resources/prompts.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { textOf } from '../../protocol/content.js';
import type { ForkTools } from '../../skills/grants/grant.js';
import { readTyped } from '../../skills/invoke/find.js';
import type { ReadySkill, SkillCall } from '../../skills/invoke/invoke.js';
import type { ModelSwitches } from './model-choice.js';
import type { Beside, MentionParts } from './prompt-mentions.js';

/** The outcome of the hooks for a group of prompts. */
export type Submitted =
  | { readonly kind: 'pass'; readonly inputs: readonly InputMessage[] }
  /** No prompt goes to the model. `cause`: all of them begin with an unknown command. */
  | { readonly kind: 'blocked'; readonly message: string; readonly cause?: 'unknown_command' };

export interface PromptParts extends MentionParts {
  readonly models: ModelSwitches;
  /** A prompt is submitted, which resets the count of continuations by Stop hooks. */
  beginPrompt(): void;
  readonly title: { get(): string | undefined; set(text: string): void };
}

/** Commands that the program handles itself. */
const BUILTINS = ['compact'];

/** Submits prompts: messages of the runtime pass unchanged. */
export async function submitPrompts(
  parts: PromptParts,
  prompts: readonly InputMessage[],
  signal: AbortSignal,
): Promise<Submitted> {
  const passed: InputMessage[] = [];
  const refusals: Beside[] = [];
  for (const prompt of prompts) {
    const submitted =
      prompt.meta === true ? { inputs: [prompt] } : await submitPrompt(parts, prompt, signal);
    const { inputs, stop: text } = submitted;
    if (text === undefined) passed.push(...inputs);
    else {
      parts.config.emit({ type: 'notice', level: 'warning', text, tag: 'prompt_blocked' });
      refusals.push(submitted);
    }
  }
  const said = passed.some((message) => message.meta !== true);
  if (refusals.length === 0 || said) return { kind: 'pass', inputs: passed };
  const message = refusals.map(({ stop }) => stop).join('\n\n');
  const isUnknown = refusals.every(({ cause }) => cause === 'unknown_command');
  return { kind: 'blocked', message, ...(isUnknown && { cause: 'unknown_command' }) };
}

/** Submits one prompt: typed skills are expanded, hooks see it, its mentions are resolved. */
async function submitPrompt(
  parts: PromptParts,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<Beside> {
  const begun: ReadySkill[] = [];
  let isThrough = false;
  try {
    const isCommand =
      prompt.verbatim !== true && textOf(prompt.content).trimStart().startsWith('/');
    const expanded = isCommand ? await expandTyped(parts, prompt, { signal, begun }) : [];
    if ('inputs' in expanded) return expanded;
    const passed = await askHooks(parts, prompt, signal);
    if (passed.stop !== undefined) return passed;
    const typed = typedText(prompt, passed.inputs);
    const inputs = [...passed.inputs];
    for (const { follow } of expanded) {
      const beside = await follow(typed);
      if (beside.stop !== undefined) return beside;
      inputs.push(...beside.inputs);
    }
    // With forked skills the mentions go to their agents instead.
    const named = expanded.some(({ isFork }) => isFork)
      ? NOTHING
      : await attach(parts, typed, { signal });
    if (named.stop !== undefined) return named;
    // Last, because a blocked prompt must not leave a skill's model or hooks in force.
    for (const one of begun) await inForce(parts, one);
    isThrough = true;
    return { inputs: [...inputs, ...named.inputs] };
  } finally {
    // fail-closed: a skill whose text the model never gets is withdrawn.
    if (!isThrough) for (const one of begun) one.withdraw();
  }
}

async function askHooks(
  parts: PromptParts,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<Beside> {
  const { config, hooks, log, title } = parts;
  parts.beginPrompt();
  const text = textOf(prompt.content);
  const outcome = await promptSubmitted(hooks.dispatch, {
    prompt: text,
    ...hooks.scene(signal),
    source: config.callbacks === undefined ? 'user' : 'sdk',
    sessionTitle: title.get(),
  });
  if (outcome.kind === 'stopped') return held(`Stopped by a hook: ${outcome.reason}`);
  if (outcome.kind === 'blocked') {
    const original = outcome.suppressOriginal === true ? '' : `\n\nOriginal prompt: ${text}`;
    return held(`The prompt was blocked by a hook: ${outcome.reason}${original}`);
  }
  if (outcome.sessionTitle !== undefined) title.set(outcome.sessionTitle);
  const note = await hooks.notes.note(outcome.contexts);
  const context = note === undefined ? [] : [note];
  const { updatedPrompt } = outcome;
  if (updatedPrompt === undefined) return { inputs: [prompt, ...context] };
  // The original text is kept in the transcript.
  const { uuid, content } = prompt;
  log.recorder.attachment({ type: 'replaced_prompt', uuid, content });
  const others = content.filter((block) => block.type !== 'text');
  const replaced = {
    ...prompt,
    content: [...others, { type: 'text' as const, text: updatedPrompt }],
  };
  return { inputs: [replaced, ...context] };
}

/** A step after a typed command, taken once the prompt is allowed. */
interface Step {
  /** The skill runs as an agent of its own. */
  readonly isFork?: boolean;
  follow(typed: TypedText | undefined): Promise<Beside>;
}

const NOTHING: Beside = { inputs: [] };

function held(stop: string): Beside {
  return { inputs: [], stop };
}

/** Expands a typed command into steps, or blocks the prompt. Ready skills are added to `begun`. */
async function expandTyped(
  parts: PromptParts,
  prompt: InputMessage,
  { signal, begun }: { readonly signal: AbortSignal; readonly begun: ReadySkill[] },
): Promise<readonly Step[] | Beside> {
  const text = textOf(prompt.content);
  const { hooks, skills, mcp } = parts;
  const { notes, dispatch } = hooks;
  const occasion = { ...hooks.scene(signal), prompt: text };
  const steps: Step[] = [];
  const follow = async (
    messages: readonly InputMessage[],
    contexts: readonly string[] = [],
  ): Promise<void> => {
    const note = await notes.note(contexts);
    const inputs = [...messages, ...(note === undefined ? [] : [note])];
    steps.push({ follow: async () => ({ inputs }) });
  };
  const command = mcp && readTypedPrompt(text);
  if (mcp !== undefined && command !== undefined) {
    // A server's prompt: its messages follow the typed text, verbatim.
    const { name, args } = command;
    const about = { type: 'mcp_prompt', command: name, args, source: 'mcp' } as const;
    const heard = await promptExpanded(dispatch, { ...occasion, ...about });
    if (heard.kind !== 'pass') return held(`/${name} was held back by a hook: ${heard.reason}`);
    const expanded = await mcp.prompts.expand(command, signal);
    if (!expanded.ok) return held(expanded.error);
    await follow([notes.blocks(expanded.value)], heard.contexts);
    return steps;
  }
  const typed = await readTyped(text, { book: skills.book, builtins: BUILTINS });
  if (typed.kind === 'prompt' || typed.kind === 'builtin') return [];
  if (typed.kind === 'unknown') {
    // Programs write a host's prompts, so an unknown command is text there and no typing error.
    const isText = parts.config.callbacks !== undefined;
    return isText ? [] : { ...held(typed.message), cause: 'unknown_command' };
  }
  for (const { skill, args } of typed.invocations) {
    const { name, source } = skill;
    const about = { type: 'slash_command', command: name, args, source } as const;
    const heard = await promptExpanded(dispatch, { ...occasion, ...about });
    if (heard.kind !== 'pass') return held(`/${name} was held back by a hook: ${heard.reason}`);
    const order = { name, args, by: 'person', agent: MAIN_AGENT, signal } as const;
    if (skill.head.context === 'fork') {
      const mayStart = await skills.invoker.check(name, 'person');
      if (!mayStart.ok) return held(`/${name}: ${mayStart.error}`);
      steps.push({ isFork: true, follow: (named) => runFork(parts, order, named) });
      continue;
    }
    const outcome = await skills.invoker.invoke(order);
    if (outcome.kind === 'refused') return held(`/${name}: ${outcome.reason}`);
    // A skill that was changed to run as its own agent just now has run already.
    if (outcome.kind === 'forked') await follow(notes.followUp([outcome.toolText]));
    else {
      begun.push(outcome);
      await follow(notes.followUp([outcome.message]), heard.contexts);
    }
  }
  return steps;
}

/** Runs a skill as an agent of its own, which gets the prompt's mentions and ends before the prompt continues. */
async function runFork(
  parts: PromptParts,
  order: SkillCall,
  typed: TypedText | undefined,
): Promise<Beside> {
  let stop: string | undefined;
  const outcome = await parts.skills.invoker.invoke({
    ...order,
    async beside(other) {
      const named = await attach(parts, typed, { other, signal: order.signal });
      stop = named.stop;
      return stop === undefined ? ok(named.inputs.flatMap(({ content }) => content)) : err(stop);
    },
  });
  if (outcome.kind === 'refused') return held(stop ?? `/${order.name}: ${outcome.reason}`);
  if (outcome.kind === 'forked') return { inputs: parts.hooks.notes.followUp([outcome.toolText]) };
  // fail-closed: hooks approved a skill that runs as an agent of its own, which it no longer does.
  outcome.withdraw();
  return held(`/${order.name}: it has changed just now. Type it again`);
}

/** Applies what a skill brings besides its text. */
async function inForce({ skills, hooks, models }: PromptParts, ready: ReadySkill): Promise<void> {
  skills.onReady(ready, { agent: MAIN_AGENT, by: 'person' });
  const stays = ready.model === undefined ? undefined : await models.forTurn(ready.model);
  if (stays !== undefined) hooks.tell(`skill ${ready.skill.name}: ${stays}`);
}

/** Resolves the `@` mentions of a prompt; `other` are the tools of another agent that gets it. */
async function attach(
  parts: PromptParts,
  typed: TypedText | undefined,
  how: { readonly other?: ForkTools; readonly signal: AbortSignal },
): Promise<Beside> {
  if (typed === undefined) return NOTHING;
  const { attachedTo } = await import('./prompt-mentions.js');
  return await attachedTo(parts, typed, how);
}
