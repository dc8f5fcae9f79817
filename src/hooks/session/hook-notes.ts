import { reminder } from '../../context/prompt/reminders.js';
import type { InputMessage } from '../../loop/types.js';
import type { UserBlock } from '../../protocol/content.js';
import { type LongTextFiles, spillLong } from '../answers/text.js';

/** Makes what hooks say for the model into messages of the conversation. */
export interface HookNotes {
  /** All of it as one message; undefined when there is nothing to say. */
  note(texts: readonly string[]): Promise<InputMessage | undefined>;
  /** Texts that calls want in the conversation as they are. */
  followUp(texts: readonly string[]): readonly InputMessage[];
  /** Content that stands beside a prompt and is not the person's own. */
  blocks(content: readonly UserBlock[]): InputMessage;
  /** A text as a message that people see as well: a hook's own prompt. */
  prompt(text: string): InputMessage;
}

export function createHookNotes(deps: LongTextFiles & { uuid(): string }): HookNotes {
  return {
    async note(texts) {
      if (texts.length === 0) return undefined;
      const shown = await Promise.all(texts.map((text) => spillLong(text, deps)));
      return {
        uuid: deps.uuid(),
        content: shown.map((text) => ({ type: 'text', text: reminder(text) })),
        meta: true,
      };
    },
    followUp: (texts) =>
      texts.length === 0
        ? []
        : [
            {
              uuid: deps.uuid(),
              content: texts.map((text) => ({ type: 'text', text })),
              meta: true,
            },
          ],
    blocks: (content) => ({ uuid: deps.uuid(), content, meta: true }),
    prompt: (text) => ({ uuid: deps.uuid(), content: [{ type: 'text', text }], typed: '' }),
  };
}
