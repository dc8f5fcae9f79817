import { cutLine, encode, type Line, plainText, takeCharacters, wrapLine } from './line.js';
import type { Palette } from './theme.js';
import { wrappedRows } from './width.js';

export interface WindowSize {
  readonly columns: number;
  readonly rows: number;
}

/** The rows at the bottom of the window, which may change. */
export interface Frame {
  readonly lines: readonly Line[];
  /** Where the real cursor goes: before this character (UTF-16) of this line. Absent: it is hidden. */
  readonly caret?: { readonly row: number; readonly offset: number } | undefined;
}

export interface RendererOptions {
  write(data: string): void;
  /** Asked before every drawing, so that a resize is seen before its signal arrives. */
  size(): WindowSize;
  /** Undefined: no colours. */
  palette(): Palette | undefined;
}

export const SYNC_ON = '\u001b[?2026h';
export const SYNC_OFF = '\u001b[?2026l';
const HIDE = '\u001b[?25l';
const SHOW = '\u001b[?25h';
// A terminal that counts an emoji as wider than we do cuts the row instead of breaking it in two.
const NO_WRAP = '\u001b[?7l';
const WRAP = '\u001b[?7h';
const ERASE_ROW = '\u001b[K';
const ERASE_BELOW = '\u001b[J';
// tmux takes an erasure that begins in the first cell for a cleared screen and copies it into the scrollback.
const ERASE_FROM_ROW = `\u001b7${ERASE_ROW}\u001b[B${ERASE_BELOW}\u001b8`;
/** What a program that ends in the middle of a drawing leaves behind, undone. */
export const RESET_SCREEN = `${WRAP}${SHOW}\u001b[0m${SYNC_OFF}`;

/**
 * Draws in the main screen of a terminal. Committed lines are written once and scroll away; below them a
 * live region of at most rows − 1 lines is redrawn in place. It never erases the screen or the scrollback.
 */
export class TailRenderer {
  readonly #options: RendererOptions;
  #size: WindowSize;
  /** The live region as it is on the screen. */
  #drawn: readonly string[] = [];
  #texts: readonly string[] = [];
  /** The row of the live region in which the cursor is. */
  #cursorRow = 0;
  #caret = '';
  #pending: Line[] = [];

  constructor(options: RendererOptions) {
    this.#options = options;
    this.#size = options.size();
  }

  /** Adds lines to the scrollback with the next drawing. */
  commit(lines: readonly Line[]): void {
    for (const line of lines) this.#pending.push(line);
  }

  draw(frame: Frame): void {
    const size = this.#options.size();
    let out = '';
    if (size.columns !== this.#size.columns || size.rows !== this.#size.rows) {
      out += this.#leaveRegion(size);
      this.#size = size;
    }
    const shown = clip(frame, size);
    const rows = shown.lines.map((line) => cutLine(line, size.columns));
    const encoded = rows.map((line) => encode(line, this.#options.palette()));
    out +=
      this.#pending.length > 0 || encoded.length !== this.#drawn.length
        ? this.#redraw(encoded)
        : this.#patch(encoded);
    this.#texts = rows.map(plainText);
    out += this.#placeCursor(rows, shown.caret, out !== '');
    if (out !== '') this.#options.write(`${SYNC_ON}${HIDE}${NO_WRAP}${out}${WRAP}${SYNC_OFF}`);
  }

  /** Removes the live region and leaves the cursor where it began, for other programs or the end. */
  clear(): void {
    const { columns, rows } = this.#options.size();
    const out = this.#leaveRegion({ columns, rows });
    this.#size = { columns, rows };
    const rest = this.#pending.length > 0 ? this.#redraw([]) : '';
    this.#caret = '';
    this.#options.write(`${SYNC_ON}${NO_WRAP}${out}${rest}${WRAP}${SHOW}${SYNC_OFF}`);
  }

  #redraw(encoded: readonly string[]): string {
    let out = this.#toTop();
    const committed = this.#pending
      .flatMap((line) => wrapLine(line, this.#size.columns, { anywhere: true }))
      .map((line) => encode(line, this.#options.palette()));
    this.#pending = [];
    for (const text of committed) out += `${ERASE_ROW}${text}\r\n`;
    out += encoded.map((text) => `${ERASE_ROW}${text}`).join('\r\n');
    if (this.#drawn.length > committed.length + encoded.length) {
      out += encoded.length === 0 ? ERASE_FROM_ROW : `\u001b[B\r${ERASE_BELOW}\u001b[A`;
    } else if (encoded.length === 0) {
      out += ERASE_ROW;
    }
    this.#drawn = encoded;
    this.#cursorRow = Math.max(0, encoded.length - 1);
    return out;
  }

  #patch(encoded: readonly string[]): string {
    let out = '';
    encoded.forEach((text, row) => {
      if (text === this.#drawn[row]) return;
      out += `${this.#moveTo(row)}\r${ERASE_ROW}${text}`;
    });
    this.#drawn = encoded;
    return out;
  }

  /** The text before the caret is written again: the cursor then is where this terminal has put it. */
  #placeCursor(rows: readonly Line[], caret: Frame['caret'], changed: boolean): string {
    if (caret === undefined) {
      const wasHidden = this.#caret === '';
      this.#caret = '';
      return wasHidden ? '' : HIDE;
    }
    const row = Math.min(caret.row, rows.length - 1);
    const before = encode(takeCharacters(rows[row] ?? [], caret.offset), this.#options.palette());
    const place = `${row}:${before}`;
    if (!changed && place === this.#caret) return '';
    this.#caret = place;
    return `${this.#moveTo(row)}\r${before}${SHOW}`;
  }

  #moveTo(row: number): string {
    const by = row - this.#cursorRow;
    this.#cursorRow = row;
    if (by === 0) return '';
    return by > 0 ? `\u001b[${by}B` : `\u001b[${-by}A`;
  }

  #toTop(): string {
    return `${this.#moveTo(0)}\r`;
  }

  /**
   * Goes to the first row of the live region in a window that has another size now, and erases from there.
   * Terminals lay out the rows above the cursor anew when the window becomes narrower.
   */
  #leaveRegion(now: WindowSize): string {
    const above = this.#texts
      .slice(0, this.#cursorRow)
      .reduce(
        (sum, text) =>
          sum + (now.columns < this.#size.columns ? wrappedRows(text, now.columns) : 1),
        0,
      );
    const up = Math.min(above, now.rows - 1);
    this.#drawn = [];
    this.#texts = [];
    this.#cursorRow = 0;
    return `\r${up > 0 ? `\u001b[${up}A` : ''}${now.rows > 1 ? ERASE_FROM_ROW : ERASE_ROW}`;
  }
}

/** The part of a frame that fits: its end, or the rows around the caret. */
function clip(frame: Frame, { rows }: WindowSize): Frame {
  const most = Math.max(1, rows - 1);
  if (frame.lines.length <= most) return frame;
  const { caret } = frame;
  const start = Math.min(frame.lines.length - most, caret?.row ?? Number.POSITIVE_INFINITY);
  return {
    lines: frame.lines.slice(start, start + most),
    caret: caret && { row: caret.row - start, offset: caret.offset },
  };
}
