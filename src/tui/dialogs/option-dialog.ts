import type { AnyAnswer } from '../../client/questions.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import type { OptionQuestion } from './description.js';
import {
  type DescribedDialog,
  type Description,
  type DialogView,
  dimText,
  drawDialog,
  namedOption,
  OPTION_HINT,
  OptionList,
  optionKeys,
  ScrollBody,
} from './dialog.js';

/** A question with options: a permission, a plan, an address to open, or a yes or no of the session itself. */
export class OptionDialog implements DescribedDialog {
  readonly #question: OptionQuestion;
  readonly #options: OptionList;
  readonly #scroll = new ScrollBody();
  #comment: Editor | undefined;

  constructor(question: OptionQuestion) {
    this.#question = question;
    this.#options = new OptionList(question.options);
  }

  get hint(): string {
    return this.#comment === undefined ? OPTION_HINT : 'Enter sends · Esc goes back';
  }

  describe(columns: number): Description {
    const { title, options } = this.#question;
    const notes = this.#question.notes(columns);
    if (this.#comment !== undefined) {
      const label = 'What should it do instead? Without a comment the turn ends.';
      notes.push(...dimText(label, columns));
    }
    const body = this.#question.body(columns);
    return { title, body, notes, options, answers: optionKeys(options) };
  }

  view(columns: number, rows: number): DialogView {
    const parts = { scroll: this.#scroll, options: this.#options, editor: this.#comment };
    return drawDialog(this.describe(columns), parts, { columns, rows });
  }

  press(key: Key): AnyAnswer | undefined {
    if (this.#comment !== undefined) return this.#pressComment(this.#comment, key);
    if (this.#scroll.press(key)) return undefined;
    const { options } = this.#question;
    if (key.id === 'escape') return options.at(-1)?.answer;
    const index = this.#options.press(key);
    const chosen = index === undefined ? undefined : options[index];
    if (chosen?.takesComment === true) this.#comment = new Editor();
    else return chosen?.answer;
    return undefined;
  }

  paste(text: string): void {
    this.#comment?.paste(text);
  }

  /** fail-closed: a line that names no option is the refusal. */
  take(text: string): AnyAnswer | undefined {
    const { options } = this.#question;
    const chosen = namedOption(options, text) ?? options.at(-1);
    if (chosen?.takesComment !== true) return chosen?.answer;
    return this.#refuse(text.replace(/^\s*no?\b[\s,:]*/i, ''));
  }

  #pressComment(comment: Editor, key: Key): AnyAnswer | undefined {
    if (key.id === 'enter') return this.#refuse(comment.expanded);
    if (key.id === 'escape') this.#comment = undefined;
    else comment.press(key);
    return undefined;
  }

  /** With a comment the model goes on from there; without one the turn ends. */
  #refuse(comment: string): AnyAnswer | undefined {
    const message = comment.trim();
    if (message === '') return this.#question.options.at(-1)?.answer;
    return { behavior: 'deny', message: `The user said no: ${message}` };
  }
}
