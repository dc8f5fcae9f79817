import type { AnyAnswer } from '../../client/questions.js';
import { visible } from '../../lib/text/visible.js';
import type { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { cutLine, type Line, line, STYLE, span, wrapLine } from '../screen/line.js';

export interface DialogView {
  readonly lines: readonly Line[];
  readonly caret?: { readonly row: number; readonly offset: number } | undefined;
}

/** What a question says now, in the order in which it is read. */
export interface Description {
  readonly title: string;
  /** What it is about; a long one scrolls. */
  readonly body: readonly Line[];
  /** Why it is asked, or what a field takes. */
  readonly notes: readonly Line[];
  readonly options: readonly DialogOption[];
  /** What a line that answers it may be: `y/a/n`. */
  readonly answers: string;
}

/** A question on the screen. It changes with keys until one of them gives the answer. */
export interface Dialog {
  /** Which keys it takes. */
  readonly hint: string;
  view(columns: number, rows: number): DialogView;
  /** The answer, once the key completes it. */
  press(key: Key): AnyAnswer | undefined;
  paste(text: string): void;
}

/** A dialog that can also be printed, and answered by lines. */
export interface DescribedDialog extends Dialog {
  describe(columns: number): Description;
  /** The answer, once the line completes it. */
  take(text: string): AnyAnswer | undefined;
}

export const OPTION_HINT = 'Choose with a letter, or ↑↓ and Enter · Esc refuses';

export interface DialogOption {
  readonly key: string;
  readonly label: string;
  /** Below the label: what the answer saves. */
  readonly note?: string | undefined;
  /** What the option is about, at length. */
  readonly preview?: string | undefined;
}

/**
 * Options with letters, numbers and arrow keys. None is selected at first: an Enter that was meant for
 * something else answers nothing.
 */
export class OptionList {
  readonly options: readonly DialogOption[];
  selected = -1;

  constructor(options: readonly DialogOption[]) {
    this.options = options;
  }

  /** The index of the option that the key chooses. */
  press({ id }: Key): number | undefined {
    const count = this.options.length;
    if (id === 'up' || id === 'ctrl+p')
      this.selected = this.selected <= 0 ? count - 1 : this.selected - 1;
    else if (id === 'down' || id === 'ctrl+n' || id === 'tab')
      this.selected = (this.selected + 1) % count;
    else if (id === 'enter') return this.selected < 0 ? undefined : this.selected;
    else {
      const index = this.options.findIndex(({ key }) => key === id.toLowerCase());
      const number = /^[1-9]$/.test(id) ? Number(id) - 1 : -1;
      if (index >= 0) return index;
      if (number >= 0 && number < count) return number;
    }
    return undefined;
  }

  /** `isShort`: one row for each option, where there is no room for more. */
  lines(columns: number, isShort = false): Line[] {
    return this.options.flatMap(({ key, label, note }, index) => {
      const isSelected = index === this.selected;
      const mark = span(isSelected ? '❯ ' : '  ', STYLE.accent);
      const first = [mark, span(`${key}  `, STYLE.bold)];
      const text = span(visible(label), isSelected ? STYLE.selected : undefined);
      if (isShort) return [cutLine([...first, text], columns)];
      return [
        ...wrapLine([text], columns, { first, rest: line('     ') }),
        ...(note === undefined
          ? []
          : wrapLine(line(span(visible(note), STYLE.dim)), columns, { first: line('     ') })),
      ];
    });
  }
}

/** Rows of which only some fit; Page Up and Page Down move. */
export class ScrollBody {
  #top = 0;
  #height = 1;

  press({ id }: Key): boolean {
    if (id === 'pagedown' || id === 'ctrl+d') this.#top += this.#height;
    else if (id === 'pageup' || id === 'ctrl+u') this.#top -= this.#height;
    else return false;
    return true;
  }

  lines(rows: readonly Line[], height: number, columns: number): Line[] {
    if (rows.length <= height) return [...rows];
    this.#height = Math.max(1, height - 1);
    this.#top = Math.max(0, Math.min(this.#top, rows.length - this.#height));
    const end = this.#top + this.#height;
    const place = `lines ${this.#top + 1}–${end} of ${rows.length} · PgUp/PgDn`;
    return [...rows.slice(this.#top, end), cutLine(line(span(place, STYLE.warning)), columns)];
  }
}

/** Rows that the body gets at least, where the window has them. */
const FEWEST_BODY_ROWS = 6;

/** Draws a description above its options or a field; these are always visible, and the body scrolls. */
export function drawDialog(
  { title, body, notes }: Pick<Description, 'title' | 'body' | 'notes'>,
  {
    scroll,
    options,
    editor,
  }: {
    readonly scroll: ScrollBody;
    readonly options: OptionList;
    readonly editor?: Editor | undefined;
  },
  { columns, rows }: { readonly columns: number; readonly rows: number },
): DialogView {
  const head = wrapLine(line(span(visible(title), STYLE.heading)), columns);
  const spaced = notes.length === 0 ? [[]] : [[], ...notes, []];
  const field = editor?.layout(columns, {
    first: line(span('> ', STYLE.accent)),
    rest: line('  '),
  });
  const left = rows - head.length - spaced.length;
  // In a small window the reason scrolls with the body.
  const isTight = field === undefined && left - options.options.length < FEWEST_BODY_ROWS;
  const above = isTight ? [...body, ...notes] : body;
  const below = isTight ? [] : spaced;
  const room = rows - head.length - below.length;
  const whole = options.lines(columns);
  const isShort = room - whole.length < Math.min(above.length, FEWEST_BODY_ROWS) + 1;
  const answers = field?.lines ?? (isShort ? options.lines(columns, true) : whole);
  const height = Math.max(3, room - answers.length);
  const lines = [...head, ...scroll.lines(above, height, columns), ...below, ...answers];
  const first = lines.length - answers.length;
  return {
    lines,
    caret: field && { row: first + field.caret.row, offset: field.caret.offset },
  };
}

/** The keys of options, as the place for an answer shows them: `y/a/n`, `1-12/c`. */
export function optionKeys(options: readonly DialogOption[]): string {
  const keys = options.map(({ key }) => key);
  const letters = keys.filter((key) => !/^\d+$/.test(key));
  const last = keys.length - letters.length;
  return [...(last > 1 ? [`1-${last}`] : keys.slice(0, last)), ...letters].join('/');
}

/** The option that a line names by its key, its number, or yes and no. */
export function namedOption<T extends DialogOption>(
  options: readonly T[],
  text: string,
): T | undefined {
  const word = text.trim().toLowerCase();
  const key = word === 'yes' ? 'y' : word === 'no' ? 'n' : word;
  const number = /^[1-9]\d{0,3}$/.test(key) ? Number(key) : 0;
  return options.find((option) => option.key === key) ?? options[number - 1];
}

/** A line that a model, a server or a file wrote: nothing in it is invisible, and a bar marks it as theirs. */
export function quoted(text: string, columns: number, style?: string): Line[] {
  return text.split('\n').flatMap((row) => {
    const indent = /^[ \t]{0,60}/.exec(row)?.[0] ?? '';
    const shown = `${indent.replaceAll('\t', '  ')}${visible(row.slice(indent.length))}`;
    return wrapLine(line(span(shown, style)), columns, {
      first: line(span('│ ', STYLE.dim)),
      anywhere: true,
    });
  });
}

export function dimText(text: string, columns: number): Line[] {
  return wrapLine(line(span(visible(text), STYLE.dim)), columns);
}

export function warningRows(warnings: readonly string[], columns: number): Line[] {
  return warnings.flatMap((text) =>
    wrapLine(line(span(`! ${visible(text)}`, STYLE.warning)), columns),
  );
}
