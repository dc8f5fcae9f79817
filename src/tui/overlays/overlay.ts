import type { Key } from '../input/keys.js';
import { cutLine, encode, type Line } from '../screen/line.js';
import { type Frame, SYNC_OFF, SYNC_ON, type WindowSize } from '../screen/tail-renderer.js';
import type { Palette } from '../screen/theme.js';

export type OverlayResult =
  | { readonly kind: 'stay' }
  | { readonly kind: 'close' }
  /** A command line to run. */
  | { readonly kind: 'run'; readonly line: string };

/** Something that fills the alternate screen for a while. */
export interface Overlay {
  view(size: WindowSize): Frame;
  press(key: Key, size: WindowSize): OverlayResult;
}

export const STAY: OverlayResult = { kind: 'stay' };
export const CLOSE: OverlayResult = { kind: 'close' };

const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?1049l';

/** Draws overlays in the alternate screen, row by row; the main screen stays as it is. */
export class AlternateScreen {
  readonly #write: (data: string) => void;
  readonly #palette: () => Palette | undefined;
  #isOpen = false;

  constructor(options: { write(data: string): void; palette(): Palette | undefined }) {
    this.#write = options.write;
    this.#palette = options.palette;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** `foot`: lines at the bottom of the window. */
  draw({ lines, caret }: Frame, foot: readonly Line[], size: WindowSize): void {
    const rows = Array.from({ length: size.rows }, (_, index) => {
      const line = foot[index - size.rows + foot.length] ?? lines[index] ?? [];
      const text = encode(cutLine(line, size.columns), this.#palette());
      return `\u001b[${index + 1};1H\u001b[K${text}`;
    });
    const cursor =
      caret === undefined
        ? '\u001b[?25l'
        : `\u001b[${caret.row + 1};${caret.offset + 1}H\u001b[?25h`;
    this.#write(
      `${SYNC_ON}${this.#isOpen ? '' : ENTER}\u001b[?7l${rows.join('')}\u001b[?7h${cursor}${SYNC_OFF}`,
    );
    this.#isOpen = true;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#write(LEAVE);
  }
}
