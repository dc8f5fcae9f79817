import type { CommandOutput } from '../../client/events.js';
import type { AnyAnswer } from '../../client/questions.js';
import { visible } from '../../lib/text/visible.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { type Line, line, lines, plainText, wrapLine } from '../screen/line.js';
import {
  type DescribedDialog,
  type Dialog,
  type DialogView,
  OptionList,
  quoted,
} from './dialog.js';
import { OptionDialog } from './option-dialog.js';

/** A question in append-only mode: printed as lines, and answered by a line that is typed below them. */
export class LineDialog implements Dialog {
  readonly hint = '';
  readonly #asked: DescribedDialog;
  #editor = new Editor();
  #isDue = true;
  /** Title and body that were printed last: the next field of a form does not repeat them. */
  #printed = '';
  #answers = '';

  constructor(asked: DescribedDialog) {
    this.#asked = asked;
  }

  /** What the question says now, once. */
  print(columns: number): Line[] {
    if (!this.#isDue) return [];
    this.#isDue = false;
    const { title, body, notes, options, answers } = this.#asked.describe(columns);
    const head = wrapLine(line(`? ${visible(title)}`), columns);
    const text = [...head, ...body].map(plainText).join('\n');
    const isNew = text !== this.#printed;
    this.#printed = text;
    this.#answers = answers;
    return [
      ...(isNew ? [[], ...head, ...body] : []),
      ...notes,
      ...options.flatMap((option) => [
        ...new OptionList([option]).lines(columns),
        ...(option.preview === undefined ? [] : quoted(option.preview, columns)),
      ]),
    ];
  }

  view(): DialogView {
    const label = `Answer [${this.#answers}] `;
    const row = `${label}${this.#editor.text.replaceAll('\n', '⏎')}`;
    return { lines: [line(row)], caret: { row: 0, offset: label.length + this.#editor.caret } };
  }

  press(key: Key): AnyAnswer | undefined {
    const isOver = key.id === 'escape' || (key.id === 'ctrl+d' && this.#editor.isEmpty);
    if (isOver) return this.#asked.press({ id: 'escape', text: '' });
    if (key.id !== 'enter') {
      this.#editor.press(key);
      return undefined;
    }
    const text = this.#editor.expanded;
    this.#editor = new Editor();
    this.#isDue = true;
    return this.#asked.take(text);
  }

  paste(text: string): void {
    this.#editor.paste(text);
  }
}

/** The list of a command in append-only mode: a number runs a choice, and a command that is typed instead runs. */
export class CommandChoices extends OptionDialog {
  constructor({ text, choices = [] }: CommandOutput) {
    const options = choices.map(({ label, description, line: command, current }, index) => ({
      key: String(index + 1),
      label: current === true ? `${label} (current)` : label,
      note: description,
      answer: { option: command },
    }));
    super({
      title: 'Choose',
      body: (columns) => (text === '' ? [] : lines(text).flatMap((row) => wrapLine(row, columns))),
      notes: () => [],
      options: [...options, { key: 'c', label: 'Cancel', answer: { option: '' } }],
    });
  }

  override take(text: string): AnyAnswer | undefined {
    return text.startsWith('/') ? { option: text.trim() } : super.take(text);
  }
}
