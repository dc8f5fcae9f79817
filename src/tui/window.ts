import { printable } from '../lib/text/printable.js';
import type { Key } from './input/keys.js';
import { AlternateScreen, type Overlay, type OverlayResult, STAY } from './overlays/overlay.js';
import { AppendRenderer } from './screen/append-renderer.js';
import { type Line, line, STYLE, span } from './screen/line.js';
import { type Frame, RESET_SCREEN, TailRenderer, type WindowSize } from './screen/tail-renderer.js';
import {
  ASK_BACKGROUND,
  type Background,
  backgroundIn,
  type Palette,
  paletteOf,
  TERMINAL_COLOURS,
} from './screen/theme.js';

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

/** `full` draws. The others append lines: with keys, without any escape sequence, without a person. */
export type WindowKind = 'full' | 'lines' | 'dumb' | 'pipe';

export interface WindowOptions {
  readonly colour: boolean;
  readonly kind: WindowKind;
}

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
const NO_MODES = { enter: '', leave: '' };
/** Bracketed paste, focus reports, and the Kitty protocol with flag 1, which leaves dead keys alone. */
const MODES: Readonly<Record<WindowKind, { readonly enter: string; readonly leave: string }>> = {
  full: {
    enter: `${PASTE_ON}\u001b[?1004h\u001b[>1u`,
    leave: `\u001b[<u\u001b[?1004l${PASTE_OFF}${RESET_SCREEN}`,
  },
  lines: { enter: PASTE_ON, leave: PASTE_OFF },
  dumb: NO_MODES,
  pipe: NO_MODES,
};
const SAVE_TITLE = '\u001b[22;2t';
const RESTORE_TITLE = '\u001b[23;2t';

/** The window of the terminal: modes, title, bell, the tail of the main screen, and overlays. */
export class Window {
  readonly #device: Device;
  readonly #kind: WindowKind;
  readonly #renderer: TailRenderer | AppendRenderer;
  readonly #alternate: AlternateScreen;
  #overlay: Overlay | undefined;
  /** Undefined: no colours. */
  #palette: Palette | undefined;
  #theme = 'auto';
  #background: Background | undefined;
  /** A line below an overlay: something waits behind it. */
  badge: string | undefined;
  #title = '';
  #isAway = false;
  #isClosed = false;
  /** Undefined: the terminal does not report it. */
  isFocused: boolean | undefined;

  constructor(device: Device, options: WindowOptions) {
    this.#device = device;
    const { kind } = options;
    this.#kind = kind;
    this.#palette = options.colour && kind === 'full' ? TERMINAL_COLOURS : undefined;
    const output = {
      write: (data: string) => device.write(data),
      size: () => device.size(),
      palette: () => this.#palette,
    };
    const lineEnd = kind === 'pipe' ? '\n' : '\r\n';
    this.#renderer =
      kind === 'full' ? new TailRenderer(output) : new AppendRenderer({ ...output, lineEnd });
    this.#alternate = new AlternateScreen(output);
    if (kind === 'full') device.write(SAVE_TITLE);
    this.#enter();
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

  /** Takes the colours of a theme. `asked`: the reply of the terminal to a question comes as input. */
  useTheme(theme: string): 'asked' | 'known' {
    this.#theme = theme;
    this.takeReply('');
    const isKnown = this.#palette === undefined || this.#background !== undefined;
    if (isKnown || !theme.startsWith('auto')) return 'known';
    this.#device.write(ASK_BACKGROUND);
    return 'asked';
  }

  /** The terminal replied to a question about itself. */
  takeReply(text: string): void {
    this.#background = backgroundIn(text) ?? this.#background;
    if (this.#palette !== undefined) this.#palette = paletteOf(this.#theme, this.#background);
  }

  press(key: Key): OverlayResult {
    const result = this.#overlay?.press(key, this.#overlaySize) ?? STAY;
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
    if (this.#overlay === undefined) this.#renderer.draw(frame());
    else {
      const badge = this.badge === undefined ? [] : [line(span(this.badge, STYLE.warning))];
      this.#alternate.draw(this.#overlay.view(this.#overlaySize), badge, this.size);
    }
  }

  get #overlaySize(): WindowSize {
    const { columns, rows } = this.size;
    return { columns, rows: Math.max(1, rows - (this.badge === undefined ? 0 : 1)) };
  }

  /** Draws the live region anew. */
  refresh(): void {
    this.#renderer.clear();
  }

  /** A bell and a notification for a person who looks at another window. */
  notify(text: string): void {
    if (this.isFocused === true || this.#kind === 'pipe') return;
    this.#device.write(
      this.isFocused === false ? `\u001b]9;${printable(text)}\u0007\u0007` : '\u0007',
    );
  }

  setTitle(text: string): void {
    const title = printable(text).replace(/\s+/g, ' ');
    if (title === this.#title || this.#isAway || this.#kind !== 'full') return;
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
    if (this.#kind === 'full') this.#device.write(RESTORE_TITLE);
    this.#device.close();
  }

  #giveAway(): void {
    if (this.#isAway) return;
    this.#alternate.close();
    this.#renderer.clear();
    this.#device.write(MODES[this.#kind].leave);
    this.#device.setRaw(false);
    this.#isAway = true;
  }

  #takeBack(): void {
    if (this.#isClosed) return;
    this.#isAway = false;
    this.#enter();
  }

  #enter(): void {
    if (this.#kind !== 'pipe') this.#device.setRaw(true);
    this.#device.write(MODES[this.#kind].enter);
  }
}
