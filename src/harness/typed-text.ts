import type { InputMessage } from '../loop/types.js';
import { textOf } from '../protocol/content.js';

/** A text that a person typed, and what a hook has made of it. */
export interface TypedText {
  readonly text: string;
  /** Absent: no hook has changed it. */
  readonly changed?: {
    readonly text: string;
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
  const { uuid, content, meta, verbatim, typed } = prompt;
  if (meta === true || verbatim === true) return undefined;
  const text = typed ?? textOf(content);
  if (!text.includes('@') || !MAY_NAME.test(text)) return undefined;
  const message = passed.find((one) => one.uuid === uuid && one.meta !== true);
  if (message === undefined) return undefined;
  return message === prompt ? { text } : { text, changed: changedFrom(prompt, text, message) };
}

function changedFrom(
  { content }: InputMessage,
  typed: string,
  message: InputMessage,
): TypedText['changed'] {
  const said = textOf(content);
  const beside = (said.startsWith(typed) ? said.slice(typed.length) : said).trim();
  const sent = textOf(message.content);
  const at = beside === '' ? -1 : sent.lastIndexOf(beside);
  if (at === -1) return { text: sent, beside };
  return { text: `${sent.slice(0, at)}\n${sent.slice(at + beside.length)}`, beside: '' };
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
  const kept = new Set(namesIn(changed.text));
  const elsewhere = new Set(namesIn(changed.beside));
  return (name) => kept.has(name) && !elsewhere.has(name);
}
