import type { PromptHooks } from '../hooks/prompt-submit.js';
import type { Scene } from '../hooks/scene.js';
import type { InputMessage } from '../loop/types.js';
import type { McpPrompts, TypedPrompt } from '../mcp/prompts.js';
import { readTypedPrompt } from '../mcp/typed-prompt.js';
import { textOf } from '../protocol/content.js';
import type { ReadySkill, SkillInvoker } from '../skills/invoke.js';
import type { SkillBook } from '../skills/skill.js';
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
  /** A prompt goes no further, and why. */
  onRefused(message: string): void;
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
  const ready: ReadySkill[] = [];
  let isThrough = false;
  try {
    const messages = await expandTyped(deps, prompt, { signal, ready });
    if (typeof messages === 'string') {
      deps.onRefused(messages);
      return { kind: 'blocked', message: messages };
    }
    const submitted = await deps.submit(messages, signal);
    if (submitted.kind === 'pass') {
      for (const one of ready) await deps.onReady(one);
      isThrough = true;
    }
    return submitted;
  } finally {
    // fail-closed: of a text that the model never gets nothing holds.
    if (!isThrough) for (const one of ready) one.withdraw();
  }
}

/** What a typed prompt becomes; a text: why it goes no further. What was started is added to `ready`. */
async function expandTyped(
  deps: TypedSkillDeps,
  prompt: InputMessage,
  { signal, ready }: { readonly signal: AbortSignal; readonly ready: ReadySkill[] },
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
    const outcome = await deps.invoker.invoke({
      name: skill.name,
      args,
      by: 'person',
      agent,
      signal,
    });
    if (outcome.kind === 'refused') return `/${skill.name}: ${outcome.reason}`;
    if (outcome.kind === 'forked') {
      messages.push(...deps.notes.followUp([outcome.toolText]));
      continue;
    }
    ready.push(outcome);
    messages.push(...deps.notes.followUp([outcome.message]));
    const note = await deps.notes.note(heard.contexts);
    if (note !== undefined) messages.push(note);
  }
  return messages;
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
