import type { ReadText } from '../../client/proposed-change.js';
import type { AnyAnswer, Question } from '../../client/questions.js';
import type { Key } from '../input/keys.js';
import { type Line, line, STYLE, span } from '../screen/line.js';
import { formatDuration } from '../views/format.js';
import { ChoicesDialog } from './choices-dialog.js';
import { describeQuestion } from './description.js';
import type { DescribedDialog, Dialog, DialogView } from './dialog.js';
import { FormDialog } from './form-dialog.js';
import { LineDialog } from './line-dialog.js';
import { OptionDialog } from './option-dialog.js';

/** Keys within this time of the question's first drawing were pressed before the person could read it. */
const SETTLE_MS = 250;
/** A person who is typing has to pause this long before keys go to the question. */
const PAUSE_MS = 700;
const COUNTDOWN_MS = 1_000;

export interface QueueOptions {
  readonly readText: ReadText;
  now(): number;
  /** Questions are printed, and answered by lines. */
  readonly appendOnly?: boolean;
}

interface Waiting {
  readonly id: string;
  /** Absent: the terminal itself asks. */
  readonly question?: Question | undefined;
  readonly dialog: Dialog;
  readonly expires: number | undefined;
  shownAt?: number | undefined;
}

/**
 * Open questions, oldest first. Only keys that are pressed after a question was on the screen, and after a
 * pause in typing, can answer it; earlier ones belong to the prompt.
 */
export class QuestionQueue {
  readonly #readText: ReadText;
  readonly #now: () => number;
  readonly #appendOnly: boolean;
  #waiting: Waiting[] = [];
  #lastKey = Number.NEGATIVE_INFINITY;
  /** The screen says that the question does not take keys yet. */
  #drawnClosed = false;

  constructor({ readText, now, appendOnly = false }: QueueOptions) {
    this.#readText = readText;
    this.#now = now;
    this.#appendOnly = appendOnly;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** The tool calls that questions are about. */
  get calls(): ReadonlySet<string> {
    return new Set(
      this.#waiting.flatMap(({ question }) =>
        question !== undefined && 'call' in question ? [question.call.toolUseId] : [],
      ),
    );
  }

  /** The agents that wait for an answer. */
  get agents(): ReadonlySet<string> {
    return new Set(this.#waiting.flatMap(({ question }) => question?.agent.id ?? []));
  }

  get first(): Question | undefined {
    return this.#waiting[0]?.question;
  }

  add(question: Question): void {
    this.open(question.id, createDialog(question, this.#readText), question);
  }

  open(id: string, asked: DescribedDialog, question?: Question): void {
    if (this.#waiting.some((known) => known.id === id)) return;
    const expiresAt = question?.expiresAt;
    const expires =
      expiresAt === undefined ? undefined : this.#now() + Date.parse(expiresAt) - Date.now();
    const dialog = this.#appendOnly ? new LineDialog(asked) : asked;
    this.#waiting.push({ id, question, dialog, expires });
  }

  /** The question was answered elsewhere, or is over. */
  remove(id: string): void {
    this.#waiting = this.#waiting.filter((known) => known.id !== id);
  }

  /** The first question is not on the screen any more: keys go to it again after it was. */
  hide(): void {
    const [first] = this.#waiting;
    if (first !== undefined) first.shownAt = undefined;
  }

  /** What an overlay in front of the questions says. */
  get badge(): string | undefined {
    if (this.size === 0) return undefined;
    return `${this.size === 1 ? '1 question waits' : `${this.size} questions wait`} · Esc to answer`;
  }

  /** Milliseconds until keys go to the question; 0: they do now. Undefined: there is none, or it is not drawn yet. */
  get settlesIn(): number | undefined {
    const shownAt = this.#waiting[0]?.shownAt;
    if (shownAt === undefined) return undefined;
    const ready = Math.max(shownAt + SETTLE_MS, this.#lastKey + PAUSE_MS);
    return Math.max(0, ready - this.#now());
  }

  /** Milliseconds until the question is drawn again: it takes keys then, or its time is shown. Undefined: it need not be. */
  redrawIn(): number | undefined {
    // By what was drawn, not by the time now: it may have settled while the rest was drawn.
    const ms = this.#drawnClosed ? Math.max(1, this.settlesIn ?? 0) : undefined;
    this.#drawnClosed = false;
    return ms ?? (this.#waiting[0]?.expires === undefined ? undefined : COUNTDOWN_MS);
  }

  /** Whether the person was typing when the question came, and has not paused yet. */
  get interruptsTyping(): boolean {
    return this.#lastKey + PAUSE_MS > this.#now();
  }

  /** Whether the key went to the question, and the answer where it completed one. */
  press(key: Key): { readonly id: string; readonly answer: AnyAnswer | undefined } | undefined {
    const isOpen = this.settlesIn === 0;
    if (!isOpen) this.#lastKey = this.#now();
    const current = this.#waiting[0];
    if (!isOpen || current === undefined) return undefined;
    return { id: current.id, answer: current.dialog.press(key) };
  }

  paste(text: string): boolean {
    if (this.settlesIn !== 0) return false;
    this.#waiting[0]?.dialog.paste(text);
    return true;
  }

  /** Whether the first question was printed: other output waits until it is answered. */
  get isPrinted(): boolean {
    return this.#appendOnly && this.#waiting[0]?.shownAt !== undefined;
  }

  /** In append-only mode: what is to be written of the first question now. */
  print(columns: number): Line[] {
    const current = this.#waiting[0];
    if (!(current?.dialog instanceof LineDialog)) return [];
    const rows = current.dialog.print(columns);
    // Each step of a question takes only what is typed after it appeared.
    if (rows.length > 0) current.shownAt = this.#now();
    return rows;
  }

  view(columns: number, rows: number): DialogView | undefined {
    const current = this.#waiting[0];
    this.#drawnClosed = false;
    if (current === undefined) return undefined;
    current.shownAt ??= this.#now();
    const isOpen = this.settlesIn === 0;
    this.#drawnClosed = !isOpen;
    const { expires, dialog } = current;
    if (this.#appendOnly) return dialog.view(columns, rows);
    const left = expires === undefined ? 0 : Math.max(0, expires - this.#now());
    const end = expires === undefined ? '' : ` · expires in ${formatDuration(left)}`;
    const more = this.size === 1 ? '' : ` · ${this.size - 1} more waiting`;
    const pause = this.interruptsTyping ? 'Pause typing to answer' : '…';
    const hint = isOpen ? current.dialog.hint : pause;
    const shown = current.dialog.view(columns, Math.max(4, rows - 2));
    const foot: Line = line(span(`${hint}${end}${more}`, isOpen ? STYLE.dim : STYLE.warning));
    return {
      lines: [[], ...shown.lines, foot],
      caret:
        isOpen && shown.caret
          ? { row: shown.caret.row + 1, offset: shown.caret.offset }
          : undefined,
    };
  }
}

function createDialog(question: Question, readText: ReadText): DescribedDialog {
  if (question.kind === 'choices') return new ChoicesDialog(question);
  if (question.kind === 'form') return new FormDialog(question);
  return new OptionDialog(describeQuestion(question, readText));
}
