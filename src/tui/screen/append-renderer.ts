import { sliceWhole } from '../../lib/text/truncate.js';
import { encodePlain, type Line, plainText } from './line.js';
import type { Frame, WindowSize } from './tail-renderer.js';
import { textWidth } from './width.js';

export interface AppendOptions {
  write(data: string): void;
  size(): WindowSize;
  readonly lineEnd: '\n' | '\r\n';
}

/**
 * Writes lines and never changes them again, for screen readers, dumb terminals and pipes. Only the row in which
 * a person types changes, by backspaces: it sends no escape sequence at all.
 */
export class AppendRenderer {
  readonly #options: AppendOptions;
  #pending: Line[] = [];
  /** The last row as it is on the screen, and the place of the cursor in it. */
  #row = '';
  #caret = 0;
  #columns: number;

  constructor(options: AppendOptions) {
    this.#options = options;
    this.#columns = options.size().columns;
  }

  commit(lines: readonly Line[]): void {
    for (const line of lines) this.#pending.push(line);
  }

  /** Writes what was committed, then the row in which the caret of the frame is. */
  draw({ lines, caret }: Frame): void {
    const { columns } = this.#options.size();
    let out = '';
    // A terminal has laid out the row anew: what is typed goes on in the next one.
    if (columns !== this.#columns && this.#row !== '') out += this.#end();
    this.#columns = columns;
    for (const line of this.#pending.splice(0))
      out += this.#change(encodePlain(line)) + this.#end();
    const text = plainText(lines[caret?.row ?? 0] ?? []);
    const shown = visiblePart(text, caret?.offset ?? text.length, columns);
    out += this.#change(encodePlain([{ text: shown.text }]), shown.caret);
    if (out !== '') this.#options.write(out);
  }

  /** Writes what was committed and leaves an empty row to other programs or the end. */
  clear(): void {
    this.draw({ lines: [] });
  }

  #end(): string {
    this.#row = '';
    this.#caret = 0;
    return this.#options.lineEnd;
  }

  /** Makes the row another one; what both begin with is not written again. */
  #change(text: string, caret = text.length): string {
    const row = this.#row;
    let same = 0;
    while (same < row.length && row[same] === text[same]) same++;
    // Not between the halves of a surrogate pair.
    if (/[\udc00-\udfff]/.test(text[same] ?? '')) same--;
    const isSame = row === text;
    const from = isSame ? Math.min(caret, this.#caret) : same;
    const blanks = Math.max(0, textWidth(row.slice(same)) - textWidth(text.slice(same)));
    const out = [
      this.#caret > from ? back(row.slice(from, this.#caret)) : row.slice(this.#caret, from),
      isSame ? text.slice(from, caret) : `${text.slice(from)}${' '.repeat(blanks)}`,
      isSame ? '' : '\b'.repeat(blanks) + back(text.slice(caret)),
    ];
    this.#row = text;
    this.#caret = caret;
    return out.join('');
  }
}

function back(text: string): string {
  return '\b'.repeat(textWidth(text));
}

/** The part of a long row around the caret. It moves by half a window, so that most keys only add to it. */
function visiblePart(
  text: string,
  caret: number,
  columns: number,
): { text: string; caret: number } {
  const isWide = textWidth(text) > text.length;
  const half = Math.max(4, Math.floor((columns - 2) / (isWide ? 4 : 2)));
  const start = text.length < 2 * half ? 0 : Math.max(0, Math.floor(caret / half) - 1) * half;
  const part = sliceWhole(text, start, start + 2 * half);
  return start === 0 ? { text: part, caret } : { text: `…${part}`, caret: caret - start + 1 };
}
