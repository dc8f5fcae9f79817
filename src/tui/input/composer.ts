import type { Completion, CompletionQuery } from '../../client/session-client.js';
import type { TypedInput } from '../../client/typed-input.js';
import { cutLine, type Line, line, STYLE, span } from '../screen/line.js';
import { Editor } from './editor.js';
import type { PromptHistory } from './history.js';
import type { Key } from './keys.js';
import { VimKeys } from './vim.js';

/** What keys ask of the terminal, beyond editing. */
export const ACTIONS = [
  'interrupt',
  'rewind',
  'quit',
  'clear-or-quit',
  'suspend',
  'next-mode',
  'external-editor',
  'transcript',
  'toggle-todos',
  'toggle-thinking',
  'toggle-receipts',
  'redraw',
  'take-back',
  'paste-image',
] as const;

export type Action = (typeof ACTIONS)[number];

/** Key by key; a file of the user can bind others. */
const DEFAULT_KEYS: Readonly<Record<string, Action>> = {
  'ctrl+c': 'clear-or-quit',
  'ctrl+z': 'suspend',
  'shift+tab': 'next-mode',
  'ctrl+g': 'external-editor',
  'ctrl+o': 'transcript',
  'ctrl+t': 'toggle-todos',
  'ctrl+l': 'redraw',
  'alt+up': 'take-back',
  'alt+t': 'toggle-thinking',
  'alt+r': 'toggle-receipts',
};

export type ComposerResult =
  | { readonly kind: 'edited' }
  | (TypedInput & { readonly kind: 'submit' })
  | { readonly kind: 'action'; readonly action: Action };

export interface ComposerOptions {
  readonly history: PromptHistory;
  readonly keys?: Readonly<Record<string, Action>> | undefined;
  /** What the text before the caret could become. */
  complete?(query: CompletionText, signal: AbortSignal): Promise<readonly Completion[]>;
  /** Completions have come. */
  onChange?(): void;
  /** Milliseconds; tells a double Esc from two. */
  now(): number;
}

type CompletionText = Pick<CompletionQuery, 'text' | 'cursor'>;

const EDITED: ComposerResult = { kind: 'edited' };
const DOUBLE_ESCAPE_MS = 800;
const MENU_ROWS = 8;

/** The place where prompts are written: editor, history, search, completion. */
export class Composer {
  readonly editor = new Editor();
  readonly #options: ComposerOptions;
  readonly #keys: Readonly<Record<string, Action>>;
  #vim: VimKeys | undefined;
  #search: { text: string; skip: number } | undefined;
  #menu: readonly Completion[] = [];
  #selected = 0;
  #completing: AbortController | undefined;
  #dismissed: string | undefined;
  #lastEscape = Number.NEGATIVE_INFINITY;
  #stash: string | undefined;

  constructor(options: ComposerOptions) {
    this.#options = options;
    this.#keys = { ...DEFAULT_KEYS, ...options.keys };
  }

  useVim(isWanted: boolean): void {
    this.#vim = isWanted ? new VimKeys(this.editor) : undefined;
  }

  get vimMode(): string | undefined {
    return this.#vim?.mode;
  }

  /** What completion is asked for; undefined: there is nothing to complete at the caret. */
  get completionQuery(): CompletionText | undefined {
    const { text, caret } = this.editor;
    if (text === this.#dismissed || this.#search !== undefined) return undefined;
    const before = text.slice(0, caret);
    const isCommand = /^\/[^\n]*$/.test(before);
    return isCommand || /(?:^|\s)@\S*$/.test(before) ? { text, cursor: caret } : undefined;
  }

  requestCompletions(): void {
    this.#completing?.abort();
    const query = this.completionQuery;
    if (query === undefined) return;
    this.#completing = new AbortController();
    this.#options.complete?.(query, this.#completing.signal).then(
      (found) => {
        this.setCompletions(found, query);
        this.#options.onChange?.();
      },
      // A menu that cannot be filled stays closed.
      () => undefined,
    );
  }

  setCompletions(found: readonly Completion[], query: CompletionText): void {
    if (query.text !== this.editor.text || query.cursor !== this.editor.caret) return;
    this.#menu = found;
    this.#selected = 0;
  }

  paste(text: string): void {
    this.#search = undefined;
    this.editor.paste(text);
  }

  press(key: Key): ComposerResult {
    if (key.id !== 'escape') this.#dismissed = undefined;
    if (this.#search !== undefined) return this.#pressInSearch(key, this.#search);
    if (this.#shownMenu.length > 0 && this.#pressInMenu(key)) return EDITED;
    if (this.#vim?.press(key) === true) return EDITED;
    const result = this.#pressInEditor(key);
    if (this.completionQuery === undefined) this.#menu = [];
    return result;
  }

  lines(columns: number): {
    readonly lines: Line[];
    readonly caret: { row: number; offset: number };
  } {
    if (this.#search !== undefined) return this.#searchLines(this.#search);
    const { lines, caret } = this.editor.layout(columns, {
      first: line(span('> ', STYLE.accent)),
      rest: line('  '),
    });
    return { lines: [...lines, ...this.#menuLines(columns)], caret };
  }

  #pressInEditor(key: Key): ComposerResult {
    const { editor } = this;
    const bound = this.#keys[key.id];
    if (bound !== undefined) return { kind: 'action', action: bound };
    switch (key.id) {
      case 'enter':
        return this.#enter();
      case 'escape':
        return this.#escape();
      case 'ctrl+d':
        if (editor.isEmpty) return { kind: 'action', action: 'quit' };
        break;
      case 'ctrl+r':
        this.#search = { text: '', skip: 0 };
        return EDITED;
      case 'ctrl+v':
        return { kind: 'action', action: 'paste-image' };
      case 'ctrl+s': {
        const stash = this.#stash;
        this.#stash = editor.isEmpty ? undefined : editor.text;
        editor.set(stash ?? '');
        return EDITED;
      }
      case 'up':
      case 'down': {
        if (editor.press(key)) return EDITED;
        const entry = this.#options.history.move(key.id === 'up' ? -1 : 1, editor.text);
        if (entry !== undefined) editor.set(entry);
        return EDITED;
      }
    }
    editor.press(key);
    return EDITED;
  }

  #enter(): ComposerResult {
    const { editor } = this;
    if (editor.text.slice(0, editor.caret).endsWith('\\') && editor.caret === editor.lineEnd()) {
      editor.replace(editor.caret - 1, editor.caret, '\n');
      return EDITED;
    }
    if (editor.text.trim() === '') return EDITED;
    const { expanded: text, text: shown, images } = editor;
    const result = { kind: 'submit', text, shown, images } as const;
    this.#options.history.add(editor.expanded.length < 20_000 ? editor.expanded : editor.text);
    editor.clear();
    this.#vim?.reset();
    this.#menu = [];
    return result;
  }

  /** Esc interrupts; twice in a row it clears what was typed, or rewinds where nothing was. */
  #escape(): ComposerResult {
    const now = this.#options.now();
    const isDouble = now - this.#lastEscape < DOUBLE_ESCAPE_MS;
    this.#lastEscape = isDouble ? Number.NEGATIVE_INFINITY : now;
    if (!isDouble) return { kind: 'action', action: 'interrupt' };
    if (this.editor.isEmpty) return { kind: 'action', action: 'rewind' };
    this.#options.history.add(this.editor.expanded);
    this.editor.clear();
    return EDITED;
  }

  #pressInMenu(key: Key): boolean {
    const count = this.#shownMenu.length;
    switch (key.id) {
      case 'up':
      case 'ctrl+p':
        this.#selected = (this.#selected + count - 1) % count;
        return true;
      case 'down':
      case 'ctrl+n':
        this.#selected = (this.#selected + 1) % count;
        return true;
      case 'escape':
        this.#menu = [];
        this.#dismissed = this.editor.text;
        return true;
      case 'tab':
      case 'enter': {
        const chosen = this.#menu[this.#selected];
        if (chosen === undefined) return false;
        const typed = this.editor.text.slice(chosen.from, this.editor.caret);
        this.#menu = [];
        // A command that is typed in full runs with the same Enter.
        if (key.id === 'enter' && typed.trimEnd() === chosen.text.trimEnd()) return false;
        const isWhole = key.id === 'tab' && !/[/ ]$/.test(chosen.text);
        this.editor.replace(
          chosen.from,
          this.editor.caret,
          isWhole ? `${chosen.text} ` : chosen.text,
        );
        if (key.id === 'enter') this.#dismissed = this.editor.text;
        return true;
      }
      default:
        return false;
    }
  }

  #pressInSearch(key: Key, search: { text: string; skip: number }): ComposerResult {
    const found = this.#options.history.search(search.text, search.skip);
    if (key.text !== '') this.#search = { text: search.text + key.text, skip: 0 };
    else if (key.id === 'backspace') this.#search = { text: search.text.slice(0, -1), skip: 0 };
    else if (key.id === 'ctrl+r') this.#search = { ...search, skip: search.skip + 1 };
    else {
      this.#search = undefined;
      if (key.id !== 'escape' && key.id !== 'ctrl+c' && key.id !== 'ctrl+g') {
        if (found !== undefined) this.editor.set(found);
        if (key.id !== 'enter' && key.id !== 'tab') return this.press(key);
      }
    }
    return EDITED;
  }

  #searchLines({ text, skip }: { text: string; skip: number }) {
    const found = this.#options.history.search(text, skip);
    const label = found === undefined ? 'no match: ' : 'search history: ';
    return {
      lines: [line(span(label, STYLE.dim), text), line(span(`  ${found ?? ''}`, STYLE.accent))],
      caret: { row: 0, offset: label.length + text.length },
    };
  }

  /** Empty once the text that it completes has changed. */
  get #shownMenu(): readonly Completion[] {
    return this.completionQuery === undefined ? [] : this.#menu;
  }

  #menuLines(columns: number): Line[] {
    const menu = this.#shownMenu;
    const start = Math.max(0, Math.min(this.#selected - MENU_ROWS + 1, menu.length - MENU_ROWS));
    const rows = menu.slice(start, start + MENU_ROWS);
    const wide = Math.min(36, Math.max(0, ...rows.map(({ text }) => text.length)));
    return rows.map(({ text, description }, index) =>
      cutLine(
        line(
          span(
            `  ${text.padEnd(wide)}`,
            start + index === this.#selected ? STYLE.selected : undefined,
          ),
          span(description === undefined ? '' : `  ${description}`, STYLE.dim),
        ),
        columns,
      ),
    );
  }
}
