import type { AnyAnswer } from '../../client/questions.js';
import { visible } from '../../util/visible.js';
import type { Key } from '../input/keys.js';
import { cutLine, type Line, line, STYLE, span, wrapLine } from '../screen/line.js';

export interface DialogView {
  readonly lines: readonly Line[];
  readonly caret?: { readonly row: number; readonly offset: number } | undefined;
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

export const OPTION_HINT = 'Choose with a letter, or ↑↓ and Enter · Esc refuses';

export interface DialogOption {
  readonly key: string;
  readonly label: string;
  /** Below the label: what the answer saves. */
  readonly note?: string | undefined;
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

  /** One row for each option where there is no room for more. */
  shortLines(columns: number): Line[] {
    return this.options.map(({ key, label }, index) => {
      const isSelected = index === this.selected;
      const style = isSelected ? STYLE.selected : undefined;
      const mark = span(isSelected ? '❯ ' : '  ', STYLE.accent);
      return cutLine([mark, span(`${key}  `, STYLE.bold), span(visible(label), style)], columns);
    });
  }

  lines(columns: number): Line[] {
    return this.options.flatMap(({ key, label, note }, index) => {
      const isSelected = index === this.selected;
      const mark = isSelected ? '❯ ' : '  ';
      return [
        ...wrapLine(line(span(visible(label), isSelected ? STYLE.selected : undefined)), columns, {
          first: line(span(mark, STYLE.accent), span(`${key}  `, STYLE.bold)),
          rest: line('     '),
        }),
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

/** The options, in short where the body would get fewer rows than it needs. */
export function optionRows(
  options: OptionList,
  body: readonly Line[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): Line[] {
  const whole = options.lines(columns);
  const isTight = rows - whole.length < Math.min(body.length, FEWEST_BODY_ROWS) + 1;
  return isTight ? options.shortLines(columns) : whole;
}

const FEWEST_BODY_ROWS = 6;

/** Puts head, body and foot together so that the foot, which holds the answers, is always visible. */
export function stack(
  parts: {
    readonly head: readonly Line[];
    readonly body: readonly Line[];
    readonly foot: readonly Line[];
  },
  scroll: ScrollBody,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): Line[] {
  const left = Math.max(3, rows - parts.head.length - parts.foot.length);
  return [...parts.head, ...scroll.lines(parts.body, left, columns), ...parts.foot];
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

export function title(text: string, columns: number): Line[] {
  return wrapLine(line(span(visible(text), STYLE.heading)), columns);
}

export function dimText(text: string, columns: number): Line[] {
  return wrapLine(line(span(visible(text), STYLE.dim)), columns);
}
