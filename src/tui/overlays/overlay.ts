import type { Key } from '../input/keys.js';
import { cutLine, encode, type Line } from '../screen/line.js';
import { SYNC_OFF, SYNC_ON, type WindowSize } from '../screen/tail-renderer.js';

export type OverlayResult =
  | { readonly kind: 'stay' }
  | { readonly kind: 'close' }
  /** A command line to run. */
  | { readonly kind: 'run'; readonly line: string };

/** Something that fills the alternate screen for a while. */
export interface Overlay {
  view(size: WindowSize): {
    readonly lines: readonly Line[];
    readonly caret?: { readonly row: number; readonly offset: number } | undefined;
  };
  press(key: Key, size: WindowSize): OverlayResult;
}

export const STAY: OverlayResult = { kind: 'stay' };
export const CLOSE: OverlayResult = { kind: 'close' };

const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?1049l';

/** Draws overlays in the alternate screen, row by row; the main screen stays as it is. */
export class AlternateScreen {
  readonly #write: (data: string) => void;
  readonly #colour: boolean;
  #isOpen = false;

  constructor(options: { write(data: string): void; readonly colour: boolean }) {
    this.#write = options.write;
    this.#colour = options.colour;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  draw(overlay: Overlay, size: WindowSize): void {
    const { lines, caret } = overlay.view(size);
    const rows = Array.from({ length: size.rows }, (_, index) => {
      const text = encode(cutLine(lines[index] ?? [], size.columns), this.#colour);
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
