import type { CommandOutput } from '../client/events.js';
import type { DisplayOptions } from './display-options.js';
import type { EntryOptions } from './entries.js';
import { buildFrame } from './frame.js';
import type { Composer } from './input/composer.js';
import type { Overlay } from './overlays/overlay.js';
import { Pager } from './overlays/pager.js';
import { Picker } from './overlays/picker.js';
import { type Line, line, lines, STYLE, span, wrapLine } from './screen/line.js';
import type { WindowSize } from './screen/tail-renderer.js';
import type { SessionStatus } from './session-status.js';
import type { SessionView } from './session-view.js';
import type { Window, WindowKind } from './window.js';

export interface ScreenParts {
  readonly window: Window;
  readonly view: SessionView;
  readonly composer: Composer;
  readonly display: DisplayOptions;
  readonly status: SessionStatus;
  readonly version: string;
  readonly kind: WindowKind;
}

const SPINNER_MS = 120;
const GREETING =
  '/help lists commands · Ctrl+O opens the transcript · Shift+Tab changes the mode · Ctrl+D leaves';

/** The drawn terminal: finished rows, a live region below them, and overlays. */
export class DrawnScreen {
  readonly #parts: ScreenParts;
  branch: string | undefined;

  constructor(parts: ScreenParts) {
    this.#parts = parts;
    const { window, version } = parts;
    window.commit([
      line(span('Portcullis', STYLE.heading), span(` ${version}`, STYLE.dim)),
      ...wrapLine(line(span(GREETING, STYLE.dim)), window.size.columns),
    ]);
  }

  show(command: string, output: CommandOutput): void {
    const { window, view } = this.#parts;
    const overlay = commandOverlay(command, output, window.size);
    if (overlay !== undefined) window.open(overlay);
    else if (output.text !== '') view.conversation.add({ kind: 'command', line: command, output });
  }

  showTranscript(_options: EntryOptions): void {
    this.#parts.window.open(this.#parts.view.transcript());
  }

  /** Milliseconds until the next drawing, where something moves. */
  draw(options: EntryOptions): number | undefined {
    const { window, view, composer, display, status } = this.#parts;
    const { conversation, questions, runningSince, agents } = view;
    window.badge = questions.badge;
    if (!window.hasOverlay) window.commit(conversation.take(options));
    const { showThinking = false } = options;
    const showTodos = display.shows('todos');
    const facts = { branch: this.branch, custom: status.custom, hint: display.hint };
    const parts = { view, composer, status: facts, now: options.now, showTodos, showThinking };
    window.draw(() => buildFrame(parts, window.size));
    const isBusy = runningSince !== undefined || agents.size > 0;
    return questions.redrawIn() ?? (isBusy ? SPINNER_MS : undefined);
  }
}

/** Output with more rows than this opens in a pager. */
const INLINE_ROWS = 16;

/** The overlay for what a command printed: a list to choose from, or a long text. Undefined: it is short. */
function commandOverlay(
  command: string,
  { text, choices = [] }: CommandOutput,
  { columns, rows }: WindowSize,
): Overlay | undefined {
  if (choices.length > 0) return new Picker(text, choices);
  const wrapped = (width: number): Line[] => lines(text).flatMap((row) => wrapLine(row, width));
  if (wrapped(columns).length <= Math.min(INLINE_ROWS, rows - 4)) return undefined;
  return new Pager({ title: command, rows: wrapped });
}
