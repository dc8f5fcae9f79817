import xterm from '@xterm/headless';
import type { WindowSize } from '../../src/tui/screen/tail-renderer.js';

/** A terminal emulator that keeps all bytes it was sent. */
export interface Emulator {
  readonly size: WindowSize;
  /** Everything that was written, as it was written. */
  readonly sent: string;
  write(data: string): void;
  resize(size: WindowSize): void;
  /** Waits until all that was written is on the screen. */
  settle(): Promise<void>;
  /** All rows, scrollback first, without blanks at their ends. */
  rows(): string[];
  /** The rows that the window shows. */
  screen(): string[];
  cursor(): { readonly row: number; readonly before: string };
  isAlternate(): boolean;
}

export function createEmulator(size: WindowSize): Emulator {
  const terminal = new xterm.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 100_000,
    allowProposedApi: true,
  });
  let sent = '';
  const row = (index: number): string =>
    terminal.buffer.active.getLine(index)?.translateToString(true) ?? '';
  return {
    get size() {
      return { columns: terminal.cols, rows: terminal.rows };
    },
    get sent() {
      return sent;
    },
    write(data) {
      sent += data;
      terminal.write(data);
    },
    resize: ({ columns, rows }) => terminal.resize(columns, rows),
    settle: () => new Promise((resolve) => terminal.write('', resolve)),
    rows: () => Array.from({ length: terminal.buffer.active.length }, (_, index) => row(index)),
    screen: () =>
      Array.from({ length: terminal.rows }, (_, index) =>
        row(terminal.buffer.active.baseY + index),
      ),
    cursor: () => {
      const { baseY, cursorX, cursorY } = terminal.buffer.active;
      const cells = terminal.buffer.active.getLine(baseY + cursorY);
      return { row: cursorY, before: cells?.translateToString(false, 0, cursorX) ?? '' };
    },
    isAlternate: () => terminal.buffer.active.type === 'alternate',
  };
}
