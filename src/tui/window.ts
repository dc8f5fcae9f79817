import { printable } from '../util/printable.js';
import type { Key } from './input/keys.js';
import { AlternateScreen, type Overlay, type OverlayResult, STAY } from './overlays/overlay.js';
import type { Line } from './screen/line.js';
import { type Frame, RESET_SCREEN, TailRenderer, type WindowSize } from './screen/tail-renderer.js';

/** The terminal as a device: bytes in and out. Tests hand in an emulator. */
export interface Device {
  write(data: string): void;
  size(): WindowSize;
  onInput(listener: (data: string) => void): void;
  /** The window may have another size. */
  onResize(listener: () => void): void;
  /** Raw keys instead of lines. */
  setRaw(isRaw: boolean): void;
  /** Stops the program until the shell continues it, then calls back. */
  suspend(onResume: () => void): void;
  close(): void;
}

export interface WindowOptions {
  readonly colour: boolean;
  readonly appendOnly?: boolean | undefined;
}

/** Bracketed paste, focus reports, and the Kitty protocol with flag 1, which leaves dead keys alone. */
const ENTER_MODES = '\u001b[?2004h\u001b[?1004h\u001b[>1u';
const LEAVE_MODES = '\u001b[<u\u001b[?1004l\u001b[?2004l';
const SAVE_TITLE = '\u001b[22;2t';
const RESTORE_TITLE = '\u001b[23;2t';

/** The window of the terminal: modes, title, bell, the tail of the main screen, and overlays. */
export class Window {
  readonly #device: Device;
  readonly #renderer: TailRenderer;
  readonly #alternate: AlternateScreen;
  #overlay: Overlay | undefined;
  #title = '';
  #isAway = false;
  #isClosed = false;
  /** Undefined: the terminal does not report it. */
  isFocused: boolean | undefined;

  constructor(device: Device, options: WindowOptions) {
    this.#device = device;
    const output = { write: (data: string) => device.write(data), colour: options.colour };
    const { appendOnly } = options;
    this.#renderer = new TailRenderer({ ...output, size: () => device.size(), appendOnly });
    this.#alternate = new AlternateScreen(output);
    device.setRaw(true);
    device.write(`${SAVE_TITLE}${ENTER_MODES}`);
  }

  get size(): WindowSize {
    return this.#device.size();
  }

  /** Whether nothing may be drawn: another program has the window, or it was given back. */
  get isAway(): boolean {
    return this.#isAway || this.#isClosed;
  }

  get hasOverlay(): boolean {
    return this.#overlay !== undefined;
  }

  open(overlay: Overlay): void {
    this.#overlay = overlay;
  }

  press(key: Key): OverlayResult {
    const result = this.#overlay?.press(key, this.size) ?? STAY;
    if (result.kind !== 'stay') {
      this.#overlay = undefined;
      this.#alternate.close();
    }
    return result;
  }

  commit(lines: readonly Line[]): void {
    this.#renderer.commit(lines);
  }

  draw(frame: () => Frame): void {
    if (this.#overlay !== undefined) this.#alternate.draw(this.#overlay, this.size);
    else this.#renderer.draw(frame());
  }

  /** Draws the live region anew. */
  refresh(): void {
    this.#renderer.clear();
  }

  /** A bell and a notification for a person who looks at another window. */
  notify(text: string): void {
    if (this.isFocused === true) return;
    this.#device.write(
      this.isFocused === false ? `\u001b]9;${printable(text)}\u0007\u0007` : '\u0007',
    );
  }

  setTitle(text: string): void {
    const title = printable(text).replace(/\s+/g, ' ');
    if (title === this.#title || this.#isAway) return;
    this.#title = title;
    this.#device.write(`\u001b]2;${title}\u0007`);
  }

  /** Stops the program until the shell continues it. */
  suspend(onResume: () => void): void {
    this.#giveAway();
    this.#device.suspend(() => {
      this.#takeBack();
      onResume();
    });
  }

  /** Lets another program have the window. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    this.#giveAway();
    try {
      return await use();
    } finally {
      this.#takeBack();
    }
  }

  /** Gives the window back as it was. Safe to call twice, and from an exit handler. */
  close(): void {
    if (this.#isClosed) return;
    this.#giveAway();
    this.#isClosed = true;
    this.#device.write(RESTORE_TITLE);
    this.#device.close();
  }

  #giveAway(): void {
    if (this.#isAway) return;
    this.#alternate.close();
    this.#renderer.clear();
    this.#device.write(`${LEAVE_MODES}${RESET_SCREEN}`);
    this.#device.setRaw(false);
    this.#isAway = true;
  }

  #takeBack(): void {
    if (this.#isClosed) return;
    this.#isAway = false;
    this.#device.setRaw(true);
    this.#device.write(ENTER_MODES);
  }
}
