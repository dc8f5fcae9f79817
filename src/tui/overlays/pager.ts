import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { type Line, line, plainText, type Span, STYLE, span } from '../screen/line.js';
import type { WindowSize } from '../screen/tail-renderer.js';
import { CLOSE, type Overlay, type OverlayResult, STAY } from './overlay.js';

export interface PagerOptions {
  readonly title: string;
  /** The text as rows of this width, newest last. */
  rows(columns: number): readonly Line[];
  /** Begin at the end. */
  readonly fromEnd?: boolean;
}

/** A text that is longer than the window: scrolling and search. */
export class Pager implements Overlay {
  readonly #options: PagerOptions;
  #rows: readonly Line[] = [];
  #columns = 0;
  #top = 0;
  #search: Editor | undefined;
  #found = '';

  constructor(options: PagerOptions) {
    this.#options = options;
  }

  view(size: WindowSize) {
    const height = this.#layOut(size);
    const rows = this.#rows
      .slice(this.#top, this.#top + height)
      .map((row) => (this.#found === '' ? row : marked(row, this.#found)));
    const blank = Array.from({ length: height - rows.length }, (): Line => []);
    const end = Math.min(this.#rows.length, this.#top + height);
    if (this.#search !== undefined) {
      const edited = this.#search.layout(size.columns, {
        first: line(span('/', STYLE.accent)),
        rest: line(' '),
      });
      return {
        lines: [...rows, ...blank, edited.lines[0] ?? []],
        caret: { row: height, offset: edited.caret.offset },
      };
    }
    const place = `${this.#options.title} · ${end} of ${this.#rows.length} · / search · n N next · g G ends · q closes`;
    return { lines: [...rows, ...blank, line(span(place, STYLE.inverse))] };
  }

  press(key: Key, size: WindowSize): OverlayResult {
    const height = this.#layOut(size);
    if (this.#search !== undefined) {
      this.#pressSearch(this.#search, key);
      return STAY;
    }
    const by = (rows: number): OverlayResult => {
      this.#top += rows;
      return STAY;
    };
    switch (key.id) {
      case 'q':
      case 'escape':
      case 'ctrl+c':
      case 'ctrl+o':
        return CLOSE;
      case 'up':
      case 'k':
        return by(-1);
      case 'down':
      case 'j':
      case 'enter':
        return by(1);
      case 'pageup':
      case 'b':
      case 'ctrl+b':
        return by(-height);
      case 'pagedown':
      case ' ':
      case 'ctrl+f':
        return by(height);
      case 'ctrl+u':
        return by(-Math.ceil(height / 2));
      case 'ctrl+d':
        return by(Math.ceil(height / 2));
      case 'g':
      case 'home':
        return by(-this.#rows.length);
      case 'G':
      case 'end':
        return by(this.#rows.length);
      case '/':
        this.#search = new Editor();
        return STAY;
      case 'n':
        this.#find(1);
        return STAY;
      case 'N':
        this.#find(-1);
        return STAY;
      default:
        return STAY;
    }
  }

  #layOut({ columns, rows }: WindowSize): number {
    const height = Math.max(1, rows - 1);
    if (columns !== this.#columns) {
      const isFirst = this.#columns === 0;
      const before = this.#rows.length;
      this.#rows = this.#options.rows(columns);
      this.#columns = columns;
      if (isFirst && this.#options.fromEnd === true) this.#top = this.#rows.length;
      else if (before > 0) this.#top = Math.round((this.#top / before) * this.#rows.length);
    }
    this.#top = Math.max(0, Math.min(this.#top, this.#rows.length - height));
    return height;
  }

  #pressSearch(search: Editor, key: Key): void {
    if (key.id === 'escape' || key.id === 'ctrl+c') this.#search = undefined;
    else if (key.id !== 'enter') search.press(key);
    else {
      this.#search = undefined;
      this.#found = search.text.toLowerCase();
      this.#top -= 1;
      this.#find(1);
    }
  }

  #find(by: 1 | -1): void {
    const count = this.#rows.length;
    if (this.#found === '' || count === 0) return;
    for (let step = 1; step <= count; step++) {
      const index = (this.#top + by * step + 2 * count) % count;
      if (
        plainText(this.#rows[index] ?? [])
          .toLowerCase()
          .includes(this.#found)
      ) {
        this.#top = index;
        return;
      }
    }
  }
}

/** Every place where the text is found, inverse. */
function marked(row: Line, found: string): Line {
  return row.flatMap(({ text, style }): Span[] => {
    const lower = text.toLowerCase();
    const spans: Span[] = [];
    let at = 0;
    for (
      let hit = lower.indexOf(found);
      hit >= 0 && lower.length === text.length;
      hit = lower.indexOf(found, at)
    ) {
      spans.push(
        { text: text.slice(at, hit), style },
        { text: text.slice(hit, hit + found.length), style: STYLE.inverse },
      );
      at = hit + found.length;
    }
    return [...spans, { text: text.slice(at), style }];
  });
}
