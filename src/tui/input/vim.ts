import type { Editor } from './editor.js';
import type { Key } from './keys.js';

export type VimMode = 'insert' | 'normal';

/** The usual vim keys over the editor: motions, counts, `d`, `c` and `y` with a motion, undo. */
export class VimKeys {
  readonly #editor: Editor;
  #mode: VimMode = 'insert';
  #count = '';
  #operator: 'd' | 'c' | 'y' | undefined;
  #prefix: 'g' | 'f' | 't' | 'r' | undefined;
  #register: { readonly text: string; readonly whole: boolean } = { text: '', whole: false };

  constructor(editor: Editor) {
    this.#editor = editor;
  }

  get mode(): VimMode {
    return this.#mode;
  }

  reset(): void {
    this.#mode = 'insert';
    this.#forget();
  }

  /** Whether vim took the key; in insert mode only Esc is taken. */
  press(key: Key): boolean {
    if (this.#mode === 'insert') {
      if (key.id !== 'escape') return false;
      this.#mode = 'normal';
      const editor = this.#editor;
      if (editor.caret > editor.lineStart()) editor.moveTo(editor.before(editor.caret));
      return true;
    }
    if (key.id === 'escape') {
      const waits =
        this.#operator !== undefined || this.#prefix !== undefined || this.#count !== '';
      this.#forget();
      return waits;
    }
    if (key.text === '') return false;
    this.#command(key.text);
    return true;
  }

  #forget(): void {
    this.#count = '';
    this.#operator = undefined;
    this.#prefix = undefined;
  }

  #command(key: string): void {
    if (this.#prefix === 'r') {
      this.#edit(this.#editor.caret, this.#editor.after(this.#editor.caret), key);
      this.#editor.moveTo(this.#editor.caret - key.length);
      this.#forget();
      return;
    }
    if (/^[1-9]$/.test(key) || (key === '0' && this.#count !== '')) {
      this.#count = `${this.#count}${key}`.slice(0, 4);
      return;
    }
    if ('gftr'.includes(key) && this.#prefix === undefined) {
      this.#prefix = key as 'g' | 'f' | 't' | 'r';
      return;
    }
    if ('dcy'.includes(key) && this.#operator === undefined) {
      this.#operator = key as 'd' | 'c' | 'y';
      return;
    }
    const times = Number(this.#count || '1');
    const operator = this.#operator;
    // As in vim, `cw` leaves the blanks behind the word.
    const motion = operator === 'c' && key === 'w' ? 'e' : key;
    const target = this.#motion(motion, times);
    this.#forget();
    if (operator === undefined) {
      if (target === undefined) this.#simple(key, times);
      else this.#editor.moveTo(target);
    } else if (key === operator) {
      this.#wholeLines(operator, times);
    } else if (target !== undefined) {
      this.#apply(operator, target, motion);
    }
  }

  #motion(key: string, times: number): number | undefined {
    const editor = this.#editor;
    if (this.#prefix === 'g') return key === 'g' ? 0 : undefined;
    if (this.#prefix === 'f' || this.#prefix === 't') {
      const found = editor.text.indexOf(key, editor.caret + 1);
      if (found < 0 || found > editor.lineEnd()) return undefined;
      return this.#prefix === 'f' ? found : found - 1;
    }
    const repeat = (step: (at: number) => number): number => {
      let at = editor.caret;
      for (let index = 0; index < times; index++) at = step(at);
      return at;
    };
    const { text } = editor;
    switch (key) {
      case 'h':
        return Math.max(
          editor.lineStart(),
          repeat((at) => editor.before(at)),
        );
      case 'l':
      case ' ':
        return Math.min(
          editor.lineEnd(),
          repeat((at) => editor.after(at)),
        );
      case 'w':
        return repeat((at) => at + (/^(?:\w+|[^\w\s]+)?\s*/.exec(text.slice(at))?.[0].length ?? 0));
      case 'e':
        return repeat(
          (at) =>
            at +
            Math.max(0, (/^.?\s*(?:\w+|[^\w\s]+)?/s.exec(text.slice(at))?.[0].length ?? 1) - 1),
        );
      case 'b':
        return repeat(
          (at) => at - (/(?:\w+|[^\w\s]+)?\s*$/.exec(text.slice(0, at))?.[0].length ?? 0),
        );
      case '0':
        return editor.lineStart();
      case '^':
        return editor.lineStart() + (/^\s*/.exec(text.slice(editor.lineStart()))?.[0].length ?? 0);
      case '$':
        return editor.lineEnd();
      case 'G':
        return text.length;
      default:
        return undefined;
    }
  }

  #simple(key: string, times: number): void {
    const editor = this.#editor;
    const insertAt = (at: number): void => {
      editor.moveTo(at);
      this.#mode = 'insert';
    };
    const newLine = (at: number, caret: number): void => {
      editor.moveTo(at);
      editor.insert('\n');
      insertAt(caret);
    };
    const rows = (by: 1 | -1): void => {
      for (let index = 0; index < times; index++) editor.moveRow(by);
    };
    const commands: Readonly<Record<string, () => void>> = {
      i: () => insertAt(editor.caret),
      a: () => insertAt(Math.min(editor.lineEnd(), editor.after(editor.caret))),
      I: () => insertAt(editor.lineStart()),
      A: () => insertAt(editor.lineEnd()),
      o: () => newLine(editor.lineEnd(), editor.lineEnd() + 1),
      O: () => newLine(editor.lineStart(), editor.lineStart()),
      j: () => rows(1),
      k: () => rows(-1),
      x: () => this.#apply('d', Math.min(editor.lineEnd(), editor.caret + times), key),
      D: () => this.#apply('d', editor.lineEnd(), key),
      C: () => this.#apply('c', editor.lineEnd(), key),
      p: () => this.#put('after'),
      P: () => this.#put('before'),
      u: () => editor.undo(),
    };
    if (Object.hasOwn(commands, key)) commands[key]?.();
  }

  #wholeLines(operator: 'd' | 'c' | 'y', times: number): void {
    const editor = this.#editor;
    const start = editor.lineStart();
    let end = editor.lineEnd();
    for (let index = 1; index < times; index++)
      end = editor.lineEnd(Math.min(end + 1, editor.text.length));
    this.#register = { text: editor.text.slice(start, end), whole: true };
    if (operator === 'y') return;
    if (operator === 'c') {
      this.#mode = 'insert';
      this.#edit(start, end, '');
      return;
    }
    const isLast = end === editor.text.length;
    this.#edit(isLast ? Math.max(0, start - 1) : start, isLast ? end : end + 1, '');
    editor.moveTo(editor.lineStart());
  }

  #apply(operator: 'd' | 'c' | 'y', target: number, key: string): void {
    const editor = this.#editor;
    const start = Math.min(editor.caret, target);
    const inclusive = key === 'e' ? 1 : 0;
    const end = Math.min(editor.text.length, Math.max(editor.caret, target) + inclusive);
    this.#register = { text: editor.text.slice(start, end), whole: false };
    if (operator === 'y') editor.moveTo(start);
    else this.#edit(start, end, '');
    if (operator === 'c') this.#mode = 'insert';
  }

  #put(where: 'before' | 'after'): void {
    const after = where === 'after';
    const { text, whole } = this.#register;
    const editor = this.#editor;
    if (text === '') return;
    if (whole) {
      editor.moveTo(after ? editor.lineEnd() : editor.lineStart());
      editor.insert(after ? `\n${text}` : `${text}\n`);
    } else {
      if (after) editor.moveTo(editor.after(editor.caret));
      editor.insert(text);
    }
  }

  /** One step that undo takes back. */
  #edit(start: number, end: number, text: string): void {
    const { text: before } = this.#editor;
    this.#editor.set(before.slice(0, start) + text + before.slice(end), start + text.length);
  }
}
