import type { ReadStream, WriteStream } from 'node:tty';
import { RESET_SCREEN, type WindowSize } from './screen/tail-renderer.js';
import type { Device } from './window.js';

/** The terminal of this process. */
export function openDevice(input: ReadStream, output: WriteStream): Device {
  const removers: (() => void)[] = [];
  // A pipe has no window: its lines are not broken.
  let size: WindowSize = { columns: output.isTTY ? 80 : 1_000, rows: 24 };
  const listen = (
    emitter: NodeJS.EventEmitter,
    name: string,
    listener: (...args: never[]) => void,
  ): void => {
    emitter.on(name, listener as (...args: unknown[]) => void);
    removers.push(() => emitter.off(name, listener as (...args: unknown[]) => void));
  };
  input.setEncoding('utf8');
  return {
    write: (data) => void output.write(data),
    // Asks the terminal: the size that the stream remembers is set by a signal that comes later.
    size() {
      try {
        const [columns, rows] = output.getWindowSize();
        size = { columns: Math.max(1, columns || 80), rows: Math.max(1, rows || 24) };
      } catch {
        // The window was closed: the size does not matter any more.
      }
      return size;
    },
    onInput: (listener) => listen(input, 'data', (data: string) => listener(data)),
    onResize: (listener) => listen(output, 'resize', listener),
    setRaw(isRaw) {
      if (input.isTTY) input.setRawMode(isRaw);
      if (isRaw) input.resume();
      else input.pause();
    },
    suspend(onResume) {
      process.once('SIGCONT', onResume);
      process.kill(0, 'SIGTSTP');
    },
    close() {
      for (const remove of removers) remove();
    },
  };
}

/** What a process that dies without closing the terminal has to write. */
export const EMERGENCY_RESET = `\u001b[?1049l\u001b[<u\u001b[?1004l\u001b[?2004l${RESET_SCREEN}`;
