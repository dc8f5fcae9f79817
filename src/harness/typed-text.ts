import type { InputMessage } from '../loop/types.js';
import { textOf } from '../protocol/content.js';

/** A text that a person typed, and what the model gets of it: a hook may have changed it. */
export interface TypedText {
  readonly text: string;
  readonly sent: string;
}

/** No mail address: those have letters before the sign. */
const MAY_NAME = /(?<![A-Za-z0-9_.])@(?=\S)/;

/**
 * The texts among these prompts that may name something with an `@`, as far as the prompts go to the
 * model. fail-closed: only what a person or the host has said names files, and nobody else's words do.
 */
export function typedTexts(
  given: readonly InputMessage[],
  passed: readonly InputMessage[],
): readonly TypedText[] {
  return given.flatMap(({ uuid, content, meta, verbatim, typed }) => {
    if (meta === true || verbatim === true) return [];
    const text = typed ?? textOf(content);
    if (!text.includes('@') || !MAY_NAME.test(text)) return [];
    const message = passed.find((one) => one.uuid === uuid && one.meta !== true);
    return message === undefined ? [] : [{ text, sent: textOf(message.content) }];
  });
}
