import type { InputMessage } from '../loop/types.js';
import { textOf } from '../protocol/content.js';

/** A text that a person typed, and what a hook has made of it. */
export interface TypedText {
  /** One for each block: what is open in one, a fence of code or a word, ends with it. */
  readonly texts: readonly string[];
  /** Absent: no hook has changed it. */
  readonly changed?: {
    readonly texts: readonly string[];
    /** What stood beside what was typed and can no longer be told from it. */
    readonly beside: string;
  };
}

/** No mail address: those have letters before the sign. */
const MAY_NAME = /(?<![A-Za-z0-9_.])@(?=\S)/;

/**
 * What of this prompt may name something with an `@`, as far as it goes to the model with the others that
 * are `passed`. fail-closed: only what a person or the host has said names files, and nobody else's words do.
 */
export function typedText(
  prompt: InputMessage,
  passed: readonly InputMessage[],
): TypedText | undefined {
  const { uuid, meta, verbatim } = prompt;
  if (meta === true || verbatim === true) return undefined;
  const texts = typedIn(prompt);
  if (!texts.some(mayName)) return undefined;
  const message = passed.find((one) => one.uuid === uuid && one.meta !== true);
  if (message === undefined) return undefined;
  return message === prompt ? { texts } : { texts, changed: changedFrom(prompt, message) };
}

/** Whether calls may be made for a prompt before it is sent: for what it names, or a skill's commands. */
export function bringsCalls(prompt: InputMessage): boolean {
  const { content, meta, verbatim } = prompt;
  if (meta === true || verbatim === true) return false;
  return typedIn(prompt).some(mayName) || textOf(content).trimStart().startsWith('/');
}

function typedIn({ content, typed }: InputMessage): readonly string[] {
  return typed === undefined ? textsIn(content) : [typed];
}

function textsIn(content: InputMessage['content']): readonly string[] {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

function mayName(text: string): boolean {
  return text.includes('@') && MAY_NAME.test(text);
}

function changedFrom(prompt: InputMessage, message: InputMessage): TypedText['changed'] {
  const sent = textsIn(message.content);
  const beside = besideTyped(prompt);
  if (beside === '') return { texts: sent, beside };
  const last = sent.findLastIndex((text) => text.includes(beside));
  if (last === -1) return { texts: sent, beside };
  const texts = sent.map((text, index) => {
    if (index !== last) return text;
    const at = text.lastIndexOf(beside);
    return `${text.slice(0, at)}\n${text.slice(at + beside.length)}`;
  });
  return { texts, beside: '' };
}

/** What of a prompt nobody has typed, as what was piped in. */
function besideTyped({ content, typed }: InputMessage): string {
  if (typed === undefined) return '';
  const said = textOf(content);
  return (said.startsWith(typed) ? said.slice(typed.length) : said).trim();
}

/**
 * Whether a name of the typed text still counts: a hook may have taken it out. `namesIn` finds those of a
 * text. fail-closed: one that stood in what is no word of the person's too is taken out.
 */
export function stillNames(
  { changed }: TypedText,
  namesIn: (text: string) => readonly string[],
): (name: string) => boolean {
  if (changed === undefined) return () => true;
  const kept = new Set(changed.texts.flatMap(namesIn));
  const elsewhere = new Set(namesIn(changed.beside));
  return (name) => kept.has(name) && !elsewhere.has(name);
}
