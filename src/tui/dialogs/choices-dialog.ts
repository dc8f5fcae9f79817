import type { AnyAnswer, Question } from '../../client/questions.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { STYLE } from '../screen/line.js';
import { askedBy } from './description.js';
import {
  type DescribedDialog,
  type Description,
  type DialogView,
  drawDialog,
  OptionList,
  quoted,
  ScrollBody,
} from './dialog.js';

type Asked = Extract<Question, { kind: 'choices' }>;

/** The questions of AskUserQuestion, one after the other, with an answer of one's own each. */
export class ChoicesDialog implements DescribedDialog {
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

  get hint(): string {
    if (this.#own !== undefined) return 'Enter sends · Esc goes back';
    const ticks = this.#current?.multiSelect === true ? 'Space ticks · ' : '';
    return `${ticks}↑↓ and Enter, or a number · Esc gives no answer`;
  }

  describe(columns: number): Description {
    const { questions } = this.#question;
    const { header = '', question = '', options = [], multiSelect = false } = this.#current ?? {};
    const tick = (index: number): string =>
      multiSelect ? (this.#ticked.has(index) ? '[x] ' : '[ ] ') : '';
    const place = questions.length === 1 ? '' : ` (${this.#at + 1} of ${questions.length})`;
    return {
      title: `${header === '' ? 'Question' : header}${place}${askedBy(this.#question)}`,
      body: quoted(question, columns, STYLE.bold),
      notes: [],
      options: options.map(({ label, description, preview }, index) => ({
        key: String(index + 1),
        label: `${tick(index)}${label}`,
        note: description === '' ? undefined : description,
        preview,
      })),
      answers: `${multiSelect ? 'numbers' : 'a number'} or your own words, Enter skips`,
    };
  }

  view(columns: number, rows: number): DialogView {
    const described = this.describe(columns);
    const preview = described.options[this.#selected]?.preview;
    const body = preview === undefined ? [] : [[], ...quoted(preview, columns)];
    const parts = { scroll: this.#scroll, options: this.#list(columns), editor: this.#own };
    const shown = { ...described, body: [...described.body, ...body] };
    return drawDialog(shown, parts, { columns, rows });
  }

  press(key: Key): AnyAnswer | undefined {
    const current = this.#current;
    if (current === undefined) return undefined;
    if (this.#own !== undefined) return this.#pressOwn(this.#own, key);
    if (this.#scroll.press(key)) return undefined;
    switch (key.id) {
      case 'escape':
        return NO_ANSWER;
      case 'left':
      case 'shift+tab':
        this.#goTo(Math.max(0, this.#at - 1));
        return undefined;
      case ' ':
        return current.multiSelect ? this.#choose(this.#selected) : undefined;
      case 'enter':
        return this.#enter();
      default: {
        const list = this.#list();
        const index = list.press(key);
        this.#selected = index ?? list.selected;
        return index === undefined ? undefined : this.#choose(index);
      }
    }
  }

  paste(text: string): void {
    this.#own?.paste(text);
  }

  /** Numbers stand for labels; everything else is the person's own answer, and an empty line skips the question. */
  take(text: string): AnyAnswer | undefined {
    const { options = [], multiSelect = false } = this.#current ?? {};
    const words = text.split(/[\s,]+/).filter((word) => word !== '');
    const labels = words.map((word) =>
      /^\d{1,3}$/.test(word) ? options[Number(word) - 1]?.label : undefined,
    );
    const areAll = labels.every((label) => label !== undefined);
    const isChoice = areAll && (multiSelect || labels.length < 2);
    return this.#answer(isChoice ? [...new Set(labels)].join(', ') : text.trim());
  }

  get #current() {
    return this.#question.questions[this.#at];
  }

  #list(columns = 80): OptionList {
    const { options } = this.describe(columns);
    const own = { key: String(options.length + 1), label: 'Something else …' };
    const list = new OptionList([...options, own]);
    list.selected = this.#selected;
    return list;
  }

  #goTo(at: number): void {
    this.#at = at;
    this.#selected = 0;
    this.#ticked = new Set();
  }

  #enter(): AnyAnswer | undefined {
    const { multiSelect, options } = this.#current ?? { multiSelect: false, options: [] };
    if (!multiSelect || this.#selected >= options.length) return this.#choose(this.#selected);
    return this.#ticked.size === 0 ? undefined : this.#answer(this.#tickedLabels().join(', '));
  }

  #tickedLabels(): string[] {
    const options = this.#current?.options ?? [];
    return [...this.#ticked].sort((a, b) => a - b).map((index) => options[index]?.label ?? '');
  }

  #choose(index: number): AnyAnswer | undefined {
    const option = this.#current?.options[index];
    if (option === undefined) this.#own = new Editor();
    else if (this.#current?.multiSelect !== true) return this.#answer(option.label);
    else if (!this.#ticked.delete(index)) this.#ticked.add(index);
    return undefined;
  }

  #pressOwn(own: Editor, key: Key): AnyAnswer | undefined {
    if (key.id === 'escape') this.#own = undefined;
    else if (key.id !== 'enter') own.press(key);
    else if (own.expanded.trim() !== '') {
      this.#own = undefined;
      return this.#answer([...this.#tickedLabels(), own.expanded.trim()].join(', '));
    }
    return undefined;
  }

  #answer(text: string): AnyAnswer | undefined {
    if (text !== '') this.#answers.set(this.#current?.question ?? '', text);
    this.#goTo(this.#at + 1);
    if (this.#current !== undefined) return undefined;
    return this.#answers.size === 0 ? NO_ANSWER : { answers: Object.fromEntries(this.#answers) };
  }
}

const NO_ANSWER = {
  behavior: 'deny',
  message: 'The user did not answer the questions.',
} as const;
