import type { CommandOutput, SessionEvent } from '../client/events.js';
import type { Completion } from '../client/session-client.js';
import { CommandChoices } from './dialogs/line-dialog.js';
import type { ScreenParts } from './drawn-screen.js';
import { type EntryOptions, renderEntry } from './entries.js';
import { line, plainText } from './screen/line.js';
import type { Frame } from './screen/tail-renderer.js';

/** The id under which the list of a command is asked. */
export const CHOICE = 'choice';

const KEYS = ' · Ctrl+O shows the last turn in full · Ctrl+D leaves';

/** What append-only mode does instead of drawing: lines that stay, and one row in which a person types. */
export class LineScreen {
  readonly #parts: ScreenParts;
  /** No person types: there is no row for it, and nothing is asked. */
  readonly #isPipe: boolean;
  #isOpen = false;

  constructor(parts: ScreenParts) {
    this.#parts = parts;
    this.#isPipe = parts.kind === 'pipe';
  }

  /** The session is open: says where, once, because there is no status line. */
  greet({ info }: Extract<SessionEvent, { type: 'opened' }>): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#parts.window.commit([
      line(`Portcullis ${this.#parts.version} · ${info.model} · mode ${info.mode} · ${info.cwd}`),
      line(`/help lists commands${this.#isPipe ? '' : KEYS}`),
    ]);
  }

  /** What was typed as a prompt stays where it was typed. */
  keepPrompt(text: string): void {
    const rows = text.split('\n').map((row, index) => line(`${index === 0 ? '> ' : '  '}${row}`));
    this.#parts.window.commit(rows);
  }

  /** What was typed as an answer stays where it was typed. */
  keepAnswer(): void {
    const { view, window } = this.#parts;
    if (view.questions.settlesIn === 0) window.commit(view.questions.view(0, 0)?.lines ?? []);
  }

  show(command: string, output: CommandOutput): void {
    const { view } = this.#parts;
    const { choices = [], text } = output;
    if (choices.length > 0 && !this.#isPipe)
      view.questions.open(CHOICE, new CommandChoices(output));
    else {
      const all = [text, ...choices.map(({ label }) => `  ${label}`)].join('\n');
      const entry = { kind: 'command', output: { ...output, text: all } } as const;
      view.conversation.add({ ...entry, line: this.#isPipe ? command : '' });
    }
  }

  /** Lists completions; only one that stands alone is left to take. */
  listCompletions(found: readonly Completion[]): readonly Completion[] {
    if (found.length === 1) return found;
    this.#parts.display.flash(found.map(({ text }) => text).join('  '));
    return [];
  }

  /** Everything since the last prompt, with complete results. */
  showTranscript(options: EntryOptions): void {
    const { entries } = this.#parts.view.conversation;
    const last = entries.findLastIndex(({ kind }) => kind === 'prompt');
    const shown = entries.slice(Math.max(0, last));
    this.#parts.window.commit(
      shown.flatMap((entry) => renderEntry(entry, { ...options, expanded: true })),
    );
  }

  draw(options: EntryOptions): number | undefined {
    const { window, view, display } = this.#parts;
    if (!view.questions.isPrinted) window.commit(view.conversation.take(options));
    const hint = display.takeHint();
    if (hint !== undefined) window.commit([line(hint)]);
    window.commit(view.questions.print(options.columns));
    window.draw(() => this.#row());
    return view.questions.redrawIn();
  }

  /** An answer or the prompt; nothing while a turn runs and nothing is typed. */
  #row(): Frame {
    const { view, composer } = this.#parts;
    const answer = view.questions.view(0, 0);
    if (answer !== undefined && view.questions.settlesIn === 0) return answer;
    const isBusy = !this.#isOpen || view.runningSince !== undefined || answer !== undefined;
    if (this.#isPipe || (isBusy && composer.editor.isEmpty)) return { lines: [] };
    const { lines, caret } = composer.lines(Number.MAX_SAFE_INTEGER);
    // One row: ends of lines are shown as a character.
    const texts = lines.map((row, index) => plainText(row).slice(index === 0 ? 0 : 2));
    const before = texts.slice(0, caret.row).map((text) => text.length - 1);
    const offset = before.reduce((sum, length) => sum + length, caret.offset);
    return { lines: [line(texts.join('⏎'))], caret: { row: 0, offset } };
  }
}
