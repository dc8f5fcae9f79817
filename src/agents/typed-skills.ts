import type { PromptHooks } from '../hooks/prompt-submit.js';
import type { Scene } from '../hooks/scene.js';
import type { InputMessage } from '../loop/types.js';
import { textOf } from '../protocol/content.js';
import type { ReadySkill, SkillInvoker } from '../skills/invoke.js';
import type { SkillBook } from '../skills/skill.js';
import { readTyped } from '../skills/slash.js';
import type { HookNotes } from './hook-notes.js';

export interface TypedSkillDeps {
  readonly book: SkillBook;
  readonly invoker: SkillInvoker;
  readonly prompts: PromptHooks;
  readonly notes: HookNotes;
  scene(signal: AbortSignal): Scene;
  onReady(ready: ReadySkill): void;
}

/** Words that the program itself knows. */
const BUILTINS = ['compact'];

/** What a typed prompt becomes; a text: why it goes no further. */
export type Expanded = readonly InputMessage[] | string;

/** `/name arguments` of a person: the text of the skill follows what was typed. */
export async function expandTyped(
  deps: TypedSkillDeps,
  prompt: InputMessage,
  signal: AbortSignal,
): Promise<Expanded> {
  const text = textOf(prompt.content);
  if (prompt.meta === true || !text.trimStart().startsWith('/')) return [prompt];
  const typed = await readTyped(text, { book: deps.book, builtins: BUILTINS });
  if (typed.kind === 'prompt' || typed.kind === 'builtin') return [prompt];
  if (typed.kind === 'unknown') return typed.message;
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
    deps.onReady(outcome);
    messages.push(...deps.notes.followUp([outcome.message]));
    const note = await deps.notes.note(heard.contexts);
    if (note !== undefined) messages.push(note);
  }
  return messages;
}
