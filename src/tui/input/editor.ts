import type { ImageBlock } from '../../protocol/content.js';
import type { Line } from '../screen/line.js';
import { graphemes } from '../screen/width.js';
import { breakRows, type Row, styledRow } from './editor-rows.js';
import type { Key } from './keys.js';

interface Snapshot {
  readonly text: string;
  readonly caret: number;
}

/** Lines up to which a paste is shown as it is; a longer one becomes a placeholder. */
const INLINE_LINES = 3;
const INLINE_BYTES = 800;
const MOST_UNDO = 500;
/** A longer text would make every key slow. */
const LONGEST_SHOWN = 20_000;

/** The text that a person writes: several lines, readline keys, undo, pastes as placeholders. */
export class Editor {
  #text = '';
  #caret = 0;
  #undo: Snapshot[] = [];
  #redo: Snapshot[] = [];
  #typing = false;
  #killed: string[] = [];
  #yanked: { readonly start: number; readonly index: number } | undefined;
  #pastes = new Map<string, string>();
  /** Kept while the terminal is open: a prompt that comes back finds its images again. */
  readonly #images = new Map<string, ImageBlock>();
  /** Rows of the last layout, for up and down. */
  #rows: readonly Row[] = [{ start: 0, end: 0 }];

  get text(): string {
    return this.#text;
  }

  get caret(): number {
    return this.#caret;
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  /** The text with every placeholder replaced by what was pasted. */
  get expanded(): string {
    if (this.#pastes.size === 0) return this.#text;
    return this.#text.replace(
      /\[Pasted text #\d+: [^\]]*\]/g,
      (mark) => this.#pastes.get(mark) ?? mark,
    );
  }

  /** The images whose placeholders are in the text. */
  get images(): readonly ImageBlock[] {
    const marks = [...this.#images].filter(([mark]) => this.#text.includes(mark));
    return marks.map(([, block]) => block);
  }

  /** Puts a placeholder for an image at the caret. */
  attach({ block, bytes }: { readonly block: ImageBlock; readonly bytes: number }): void {
    const mark = `[Image #${this.#images.size + 1} · ${Math.max(1, Math.round(bytes / 1024))} KB]`;
    this.#images.set(mark, block);
    this.insert(mark);
  }

  set(text: string, caret = text.length): void {
    this.#remember(false);
    this.#text = text;
    this.#caret = Math.min(caret, text.length);
  }

  /** Puts a whole prompt into the editor; a very long one as a placeholder. */
  restore(text: string): void {
    this.set('');
    if (text.length > LONGEST_SHOWN) this.paste(text);
    else this.insert(text);
  }

  clear(): void {
    this.set('');
    this.#pastes.clear();
    this.#undo = [];
    this.#redo = [];
  }

  insert(text: string): void {
    this.#remember(text.length === 1 && text !== ' ');
    this.replace(this.#caret, this.#caret, text);
  }

  /** Replaces a range and puts the caret behind the new text. */
  replace(start: number, end: number, text: string): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#caret = start + text.length;
  }

  /** A long paste is kept whole and shown as one placeholder with its exact size. */
  paste(raw: string): void {
    const text = raw.replace(/\r\n?/g, '\n');
    const bytes = new TextEncoder().encode(text).length;
    const count = text.split('\n').length;
    // Characters that cannot be shown stay in the paste, out of the line.
    const isPlain = !/[\p{Cc}\p{Cf}]/u.test(text.replaceAll('\n', ''));
    if (count <= INLINE_LINES && bytes <= INLINE_BYTES && isPlain) {
      this.insert(text);
      return;
    }
    const size = `${amount(count, 'line')}, ${amount(bytes, 'byte')}`;
    const mark = `[Pasted text #${this.#pastes.size + 1}: ${size}]`;
    this.#pastes.set(mark, text);
    this.insert(mark);
  }

  undo(): void {
    const before = this.#undo.pop();
    if (before === undefined) return;
    this.#redo.push({ text: this.#text, caret: this.#caret });
    this.#restore(before);
  }

  redo(): void {
    const after = this.#redo.pop();
    if (after === undefined) return;
    this.#undo.push({ text: this.#text, caret: this.#caret });
    this.#restore(after);
  }

  /** Whether the key means something to the editor. */
  press({ id, text }: Key): boolean {
    const yanked = this.#yanked;
    if (id !== 'alt+y') this.#yanked = undefined;
    if (text !== '') {
      this.insert(text);
      return true;
    }
    switch (id) {
      case 'left':
      case 'ctrl+b':
        this.moveTo(this.before(this.#caret));
        return true;
      case 'right':
      case 'ctrl+f':
        this.moveTo(this.after(this.#caret));
        return true;
      case 'up':
      case 'ctrl+p':
        return this.moveRow(-1);
      case 'down':
      case 'ctrl+n':
        return this.moveRow(1);
      case 'home':
      case 'ctrl+a':
        this.moveTo(this.lineStart());
        return true;
      case 'end':
      case 'ctrl+e':
        this.moveTo(this.lineEnd());
        return true;
      case 'ctrl+home':
      case 'alt+<':
        this.moveTo(0);
        return true;
      case 'ctrl+end':
      case 'alt+>':
        this.moveTo(this.#text.length);
        return true;
      case 'alt+b':
      case 'ctrl+left':
      case 'alt+left':
        this.moveTo(this.wordStart());
        return true;
      case 'alt+f':
      case 'ctrl+right':
      case 'alt+right':
        this.moveTo(this.wordEnd());
        return true;
      case 'backspace':
      case 'shift+backspace':
      case 'ctrl+h':
        this.#delete(this.#placeholderBefore() ?? this.before(this.#caret), this.#caret);
        return true;
      case 'delete':
      case 'ctrl+d':
        this.#delete(this.#caret, this.after(this.#caret));
        return true;
      case 'ctrl+k':
        this.kill(this.#caret, this.lineEnd() === this.#caret ? this.#caret + 1 : this.lineEnd());
        return true;
      case 'ctrl+u':
        this.kill(this.lineStart(), this.#caret);
        return true;
      case 'ctrl+w':
        this.kill(this.#blankBefore(), this.#caret);
        return true;
      case 'alt+backspace':
      case 'ctrl+backspace':
        this.kill(this.wordStart(), this.#caret);
        return true;
      case 'alt+d':
      case 'ctrl+delete':
        this.kill(this.#caret, this.wordEnd());
        return true;
      case 'ctrl+y':
        this.#yank(0);
        return true;
      case 'alt+y':
        if (yanked !== undefined) {
          this.replace(yanked.start, this.#caret, '');
          this.#yank(yanked.index + 1);
        }
        return true;
      case 'ctrl+_':
      case 'ctrl+/':
        this.undo();
        return true;
      case 'alt+_':
      case 'ctrl+shift+_':
        this.redo();
        return true;
      case 'shift+enter':
      case 'alt+enter':
      case 'ctrl+j':
        this.insert('\n');
        return true;
      default:
        return false;
    }
  }

  moveTo(caret: number): void {
    this.#typing = false;
    this.#caret = Math.max(0, Math.min(caret, this.#text.length));
  }

  /** False at the first or last row: the key then goes through the history. */
  moveRow(by: number): boolean {
    const at = this.#rowOfCaret();
    const from = this.#rows[at];
    const to = this.#rows[at + by];
    if (from === undefined || to === undefined) return false;
    const column = this.#caret - from.start;
    this.moveTo(Math.min(to.start + column, to.end));
    return true;
  }

  before(at: number): number {
    return at - (graphemes(this.#text.slice(Math.max(0, at - 40), at)).at(-1)?.length ?? 0);
  }

  after(at: number): number {
    return at + (graphemes(this.#text.slice(at, at + 40))[0]?.length ?? 0);
  }

  lineStart(at = this.#caret): number {
    return this.#text.lastIndexOf('\n', at - 1) + 1;
  }

  lineEnd(at = this.#caret): number {
    const end = this.#text.indexOf('\n', at);
    return end < 0 ? this.#text.length : end;
  }

  wordStart(): number {
    const [word = ''] =
      /[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(this.#text.slice(0, this.#caret)) ?? [];
    return this.#caret - word.length;
  }

  wordEnd(): number {
    const [word = ''] = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(this.#text.slice(this.#caret)) ?? [];
    return this.#caret + word.length;
  }

  /** Deletes a range and keeps it for Ctrl+Y. */
  kill(start: number, end: number): void {
    const text = this.#text.slice(start, end);
    if (text === '') return;
    this.#killed = [text, ...this.#killed].slice(0, 20);
    this.#delete(start, end);
  }

  /** The rows of the text in a window, with the place of the caret. */
  layout(
    columns: number,
    prompt: { readonly first: Line; readonly rest: Line },
  ): {
    readonly lines: Line[];
    readonly caret: { readonly row: number; readonly offset: number };
  } {
    const indent = prompt.first.reduce((sum, { text }) => sum + text.length, 0);
    this.#rows = breakRows(this.#text, Math.max(1, columns - indent - 1));
    const at = this.#rowOfCaret();
    const lines = this.#rows.map(
      ({ start, end }, index): Line => [
        ...(index === 0 ? prompt.first : prompt.rest),
        ...styledRow(this.#text.slice(start, end)),
      ],
    );
    return {
      lines,
      caret: { row: at, offset: indent + this.#caret - (this.#rows[at]?.start ?? 0) },
    };
  }

  #rowOfCaret(): number {
    const index = this.#rows.findLastIndex(({ start }) => start <= this.#caret);
    return Math.max(0, index);
  }

  #blankBefore(): number {
    const [word = ''] = /[^\s]*\s*$/.exec(this.#text.slice(0, this.#caret)) ?? [];
    return this.#caret - word.length;
  }

  #placeholderBefore(): number | undefined {
    const mark = [...this.#pastes.keys(), ...this.#images.keys()].find((one) =>
      this.#text.slice(0, this.#caret).endsWith(one),
    );
    return mark === undefined ? undefined : this.#caret - mark.length;
  }

  #delete(start: number, end: number): void {
    if (start === end) return;
    this.#remember(false);
    this.replace(start, end, '');
  }

  #yank(index: number): void {
    const text = this.#killed[index % Math.max(1, this.#killed.length)];
    if (text === undefined) return;
    const start = this.#caret;
    this.insert(text);
    this.#yanked = { start, index };
  }

  /** Letters typed one after the other are undone together. */
  #remember(typing: boolean): void {
    if (!(typing && this.#typing)) {
      this.#undo.push({ text: this.#text, caret: this.#caret });
      if (this.#undo.length > MOST_UNDO) this.#undo.shift();
    }
    this.#typing = typing;
    this.#redo = [];
  }

  #restore({ text, caret }: Snapshot): void {
    this.#text = text;
    this.#caret = caret;
    this.#typing = false;
  }
}

function amount(count: number, unit: string): string {
  return `${count.toLocaleString('en-US')} ${unit}${count === 1 ? '' : 's'}`;
}
