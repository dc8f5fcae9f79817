import { appendFileSync } from 'node:fs';
import { printable } from '../util/printable.js';

/** Standard output for frames and answers, standard error for everything else. */
export interface Output {
  out(text: string): void;
  warn(text: string): void;
  debug(text: string): void;
  /** Whether anybody reads what `debug` writes. */
  readonly debugs: boolean;
  /** Resolves when the reader has taken everything, or after a bounded wait. */
  drained(): Promise<void>;
}

/** How long a slow reader may keep us. */
const DRAIN_MS = 30_000;

export function processOutput(options: { debug: boolean; debugFile: string | undefined }): Output {
  let gone = false;
  // A reader that went away (`| head`) is no reason to crash; the run goes on and is recorded.
  process.stdout.on('error', () => {
    gone = true;
  });
  process.stderr.on('error', () => undefined);
  return {
    debugs: options.debug || options.debugFile !== undefined,
    out(text) {
      if (!gone) process.stdout.write(text);
    },
    warn: (text) => void process.stderr.write(`portcullis: ${printable(text)}\n`),
    debug(text) {
      if (options.debugFile !== undefined)
        appendFileSync(options.debugFile, `${new Date().toISOString()} ${text}\n`);
      else if (options.debug) process.stderr.write(`portcullis debug: ${text}\n`);
    },
    drained() {
      if (gone || process.stdout.writableLength === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, DRAIN_MS);
        const done = (): void => {
          clearTimeout(timer);
          resolve();
        };
        process.stdout.once('drain', done);
        process.stdout.once('error', done);
        // A write of nothing calls back when all before it is out.
        process.stdout.write('', done);
      });
    },
  };
}
