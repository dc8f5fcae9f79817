import type { PromptHooks } from '../hooks/prompt-submit.js';
import type { Scene } from '../hooks/scene.js';
import type { InputMessage } from '../loop/types.js';
import type { McpPrompts, TypedPrompt } from '../mcp/prompts.js';
import { readTypedPrompt } from '../mcp/typed-prompt.js';
import { textOf } from '../protocol/content.js';
import type { ReadySkill, SkillInvoker } from '../skills/invoke.js';
import type { Skill, SkillBook } from '../skills/skill.js';
import { readTyped } from '../skills/slash.js';
import type { HookNotes } from './hook-notes.js';
import type { RunHooks, Submitted } from './run-hooks.js';

export interface TypedSkillDeps {
  /** Prompts of MCP servers. Absent: there are none. */
  readonly mcpPrompts?: Pick<McpPrompts, 'expand'> | undefined;
  readonly book: SkillBook;
  readonly invoker: SkillInvoker;
  readonly prompts: PromptHooks;
  readonly notes: HookNotes;
  scene(signal: AbortSignal): Scene;
  /** Puts in force what goes beyond text and rules. */
  onReady(ready: ReadySkill): Promise<void>;
  /** A program writes the prompts: what names no command is text, not a slip of the finger. */
  readonly unknownIsText?: boolean;
  /** Shows prompts to the hooks. */
  readonly submit: RunHooks['submit'];
  /** Reads what a prompt names with an `@`. */
  attach(
    prompt: InputMessage,
    how: {
      /** What goes to the model of it: hooks may have changed it. */
      readonly passed: readonly InputMessage[];
      /** Absent: the main agent is shown it. */
      readonly shownTo?: 'other';
      readonly signal: AbortSignal;
    },
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

/** Prompts of a person on their way: what is typed as `/name` brings the text of the skill with it. */
export async function submitTyped(
  deps: TypedSkillDeps,
  prompts: readonly InputMessage[],
  signal: AbortSignal,
): Promise<Submitted> {
  const passed: InputMessage[] = [];
  const refusals: string[] = [];
  for (const prompt of prompts) {
    const submitted = await submitOne(deps, prompt, signal);
    if (submitted.kind === 'pass') passed.push(...submitted.inputs);
    else refusals.push(submitted.message);
  }
  const said = passed.some((message) => message.meta !== true);
  if (refusals.length > 0 && !said) return { kind: 'blocked', message: refusals.join('\n\n') };
  return { kind: 'pass', inputs: passed };
}

async function submitOne(
  deps: TypedSkillDeps,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<Submitted> {
  const begun: Begun = { ready: [], isAttached: false };
  let isThrough = false;
  const refused = (message: string): Submitted => {
    deps.onRefused(message);
    return { kind: 'blocked', message };
  };
  try {
    const messages = await expandTyped(deps, prompt, { signal, begun });
    if (typeof messages === 'string') return refused(messages);
    const submitted = await deps.submit(messages, signal);
    if (submitted.kind !== 'pass') return submitted;
    for (const one of begun.ready) await deps.onReady(one);
    const passed = submitted.inputs;
    const beside = begun.isAttached ? NOTHING : await deps.attach(prompt, { passed, signal });
    if (beside.stop !== undefined) return refused(beside.stop);
    isThrough = true;
    return { kind: 'pass', inputs: [...passed, ...beside.inputs] };
  } finally {
    // fail-closed: of a text that the model never gets nothing holds.
    if (!isThrough) for (const one of begun.ready) one.withdraw();
  }
}

/** What has been done for a prompt on its way. */
interface Begun {
  readonly ready: ReadySkill[];
  /** What it names was given to the agent that works on it. */
  isAttached: boolean;
}

const NOTHING: Beside = { inputs: [] };

/** What a typed prompt becomes; a text: why it goes no further. What was done is noted in `begun`. */
async function expandTyped(
  deps: TypedSkillDeps,
  prompt: InputMessage,
  { signal, begun }: { readonly signal: AbortSignal; readonly begun: Begun },
): Promise<readonly InputMessage[] | string> {
  const text = textOf(prompt.content);
  const isPlain = prompt.meta === true || prompt.verbatim === true;
  if (isPlain || !text.trimStart().startsWith('/')) return [prompt];
  const command = deps.mcpPrompts === undefined ? undefined : readTypedPrompt(text);
  if (command !== undefined && deps.mcpPrompts !== undefined) {
    return await expandPrompt(deps, { prompt, command, prompts: deps.mcpPrompts }, signal);
  }
  const typed = await readTyped(text, { book: deps.book, builtins: BUILTINS });
  if (typed.kind === 'prompt' || typed.kind === 'builtin') return [prompt];
  if (typed.kind === 'unknown') return deps.unknownIsText === true ? [prompt] : typed.message;
  const scene = deps.scene(signal);
  const messages: InputMessage[] = [prompt];
  for (const { skill, args } of typed.invocations) {
    const heard = await deps.prompts.expand({
      ...scene,
      type: 'slash_command',
      command: skill.name,
      args,
      source: skill.source,
      prompt: text,
    });
    if (heard.kind !== 'pass') return `/${skill.name} was held back by a hook: ${heard.reason}`;
    const { agent } = scene;
    const beside = await besideFork(deps, { prompt, skill, signal, begun });
    if (beside.stop !== undefined) return beside.stop;
    const outcome = await deps.invoker.invoke({
      name: skill.name,
      args,
      by: 'person',
      agent,
      signal,
      beside: beside.inputs.flatMap(({ content }) => content),
    });
    if (outcome.kind === 'refused') return `/${skill.name}: ${outcome.reason}`;
    if (outcome.kind === 'forked') {
      messages.push(...deps.notes.followUp([outcome.toolText]));
      continue;
    }
    begun.ready.push(outcome);
    messages.push(...deps.notes.followUp([outcome.message]));
    const note = await deps.notes.note(heard.contexts);
    if (note !== undefined) messages.push(note);
  }
  return messages;
}

/** A skill that runs as an agent of its own ends before the prompt goes on: what is named goes to it. */
async function besideFork(
  deps: TypedSkillDeps,
  {
    prompt,
    skill,
    signal,
    begun,
  }: {
    readonly prompt: InputMessage;
    readonly skill: Skill;
    readonly signal: AbortSignal;
    readonly begun: Begun;
  },
): Promise<Beside> {
  if (skill.head.context !== 'fork') return NOTHING;
  // One that may not be started says so itself.
  if (!(await deps.invoker.check(skill.name, 'person')).ok) return NOTHING;
  begun.isAttached = true;
  return await deps.attach(prompt, { passed: [prompt], shownTo: 'other', signal });
}

/** A server's prompt, typed by a person: its messages follow what was typed, as text and nothing else. */
async function expandPrompt(
  deps: TypedSkillDeps,
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
): Promise<readonly InputMessage[] | string> {
  const { name, args } = command;
  const heard = await deps.prompts.expand({
    ...deps.scene(signal),
    type: 'mcp_prompt',
    command: name,
    args,
    source: 'mcp',
    prompt: textOf(prompt.content),
  });
  if (heard.kind !== 'pass') return `/${name} was held back by a hook: ${heard.reason}`;
  const expanded = await prompts.expand(command, signal);
  if (!expanded.ok) return expanded.error;
  const note = await deps.notes.note(heard.contexts);
  return [prompt, deps.notes.blocks(expanded.value), ...(note === undefined ? [] : [note])];
}
