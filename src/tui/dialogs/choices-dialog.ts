import type { AnyAnswer, Question } from '../../client/questions.js';
import { visible } from '../../util/visible.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { type Line, line, STYLE, span, wrapLine } from '../screen/line.js';
import { type Dialog, type DialogView, quoted, ScrollBody, stack, title } from './dialog.js';

type Asked = Extract<Question, { kind: 'choices' }>;

/** The questions of AskUserQuestion, one after the other, with an answer of one's own each. */
export class ChoicesDialog implements Dialog {
  get hint(): string {
    if (this.#own !== undefined) return 'Enter sends · Esc goes back';
    const ticks = this.#current?.multiSelect === true ? 'Space ticks · ' : '';
    return `${ticks}↑↓ and Enter, or a number · Esc gives no answer`;
  }

  readonly #question: Asked;
  readonly #answers = new Map<string, string>();
  readonly #scroll = new ScrollBody();
  #at = 0;
  #selected = 0;
  #ticked = new Set<number>();
  #own: Editor | undefined;

  constructor(question: Asked) {
    this.#question = question;
  }

  view(columns: number, rows: number): DialogView {
    const current = this.#current;
    if (current === undefined) return { lines: [] };
    const { questions } = this.#question;
    const place = questions.length === 1 ? '' : ` (${this.#at + 1} of ${questions.length})`;
    const head = [
      ...title(`${current.header}${place}`, columns),
      ...quoted(current.question, columns, STYLE.bold),
    ];
    const preview = current.options[this.#selected]?.preview;
    const body =
      preview === undefined
        ? []
        : ['', ...preview.split('\n')].flatMap((row) => quoted(row, columns));
    const options = current.options.flatMap((option, index) =>
      this.#optionRows(option, index, columns),
    );
    const other = this.#ownRows(columns);
    const foot = [[], ...options, ...other.lines];
    const lines = stack({ head, body, foot }, this.#scroll, { columns, rows });
    if (other.caret === undefined) return { lines };
    const first = lines.length - other.lines.length;
    return { lines, caret: { row: first + other.caret.row, offset: other.caret.offset } };
  }

  press(key: Key): AnyAnswer | undefined {
    const current = this.#current;
    if (current === undefined) return undefined;
    if (this.#own !== undefined) return this.#pressOwn(this.#own, key);
    if (this.#scroll.press(key)) return undefined;
    const count = current.options.length + 1;
    const number = /^[1-9]$/.test(key.id) ? Number(key.id) - 1 : -1;
    switch (key.id) {
      case 'escape':
        return { behavior: 'deny', message: 'The user did not answer the questions.' };
      case 'up':
      case 'ctrl+p':
        this.#selected = (this.#selected + count - 1) % count;
        return undefined;
      case 'down':
      case 'ctrl+n':
      case 'tab':
        this.#selected = (this.#selected + 1) % count;
        return undefined;
      case 'left':
      case 'shift+tab':
        this.#goTo(Math.max(0, this.#at - 1));
        return undefined;
      case ' ':
        return current.multiSelect ? this.#choose(this.#selected) : undefined;
      case 'enter':
        return this.#enter();
      default:
        if (number < 0 || number >= count) return undefined;
        this.#selected = number;
        return this.#choose(number);
    }
  }

  paste(text: string): void {
    this.#own?.paste(text);
  }

  get #current() {
    return this.#question.questions[this.#at];
  }

  #goTo(at: number): void {
    this.#at = at;
    this.#selected = 0;
    this.#ticked = new Set();
  }

  #enter(): AnyAnswer | undefined {
    const { multiSelect, options } = this.#current ?? { multiSelect: false, options: [] };
    if (multiSelect && this.#ticked.size > 0 && this.#selected < options.length) {
      return this.#answer(
        [...this.#ticked]
          .sort((a, b) => a - b)
          .map((index) => options[index]?.label ?? '')
          .join(', '),
      );
    }
    return multiSelect && this.#selected < options.length
      ? undefined
      : this.#choose(this.#selected);
  }

  #choose(index: number): AnyAnswer | undefined {
    const option = this.#current?.options[index];
    if (option === undefined) {
      this.#own = new Editor();
      return undefined;
    }
    if (this.#current?.multiSelect !== true) return this.#answer(option.label);
    if (!this.#ticked.delete(index)) this.#ticked.add(index);
    return undefined;
  }

  #pressOwn(own: Editor, key: Key): AnyAnswer | undefined {
    if (key.id === 'escape') this.#own = undefined;
    else if (key.id !== 'enter') own.press(key);
    else if (own.expanded.trim() !== '') {
      this.#own = undefined;
      const ticked = [...this.#ticked].map((index) => this.#current?.options[index]?.label ?? '');
      return this.#answer([...ticked, own.expanded.trim()].join(', '));
    }
    return undefined;
  }

  #answer(text: string): AnyAnswer | undefined {
    this.#answers.set(this.#current?.question ?? '', text);
    if (this.#at + 1 < this.#question.questions.length) {
      this.#goTo(this.#at + 1);
      return undefined;
    }
    return { answers: Object.fromEntries(this.#answers) };
  }

  #optionRows(
    option: Asked['questions'][number]['options'][number],
    index: number,
    columns: number,
  ): Line[] {
    const isSelected = index === this.#selected && this.#own === undefined;
    const tick =
      this.#current?.multiSelect === true ? (this.#ticked.has(index) ? '[x] ' : '[ ] ') : '';
    return [
      ...wrapLine(
        line(span(`${tick}${visible(option.label)}`, isSelected ? STYLE.selected : undefined)),
        columns,
        {
          first: line(
            span(isSelected ? '❯ ' : '  ', STYLE.accent),
            span(`${index + 1}  `, STYLE.bold),
          ),
          rest: line('     '),
        },
      ),
      ...(option.description === ''
        ? []
        : wrapLine(line(span(visible(option.description), STYLE.dim)), columns, {
            first: line('     '),
          })),
    ];
  }

  #ownRows(columns: number) {
    const index = this.#current?.options.length ?? 0;
    const isSelected = this.#selected === index;
    const first = line(
      span(isSelected ? '❯ ' : '  ', STYLE.accent),
      span(`${index + 1}  `, STYLE.bold),
    );
    if (this.#own !== undefined) return this.#own.layout(columns, { first, rest: line('     ') });
    return {
      lines: [[...first, span('Something else …', isSelected ? STYLE.selected : STYLE.dim)]],
      caret: undefined,
    };
  }
}
