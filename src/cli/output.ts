import { openSync, writeSync } from 'node:fs';
import { messageOf, PortcullisError, systemCodeOf } from '../errors.js';
import { printable } from '../lib/text/printable.js';
import { redact, redactSure } from '../lib/text/redact.js';

/** What the program uses of its process. Tests that need no process of their own pass something else. */
export type HostProcess = Pick<
  NodeJS.Process,
  'cwd' | 'env' | 'exit' | 'on' | 'stderr' | 'stdin' | 'stdout'
>;

/** Standard output for frames and answers, standard error for everything else. */
export interface Output {
  out(text: string): void;
  /** Words of a model. Where a terminal shows them they cannot steer it; a pipe gets them as they are. */
  answer(text: string): void;
  warn(text: string): void;
  debug(text: string): void;
  /** Whether `debug` writes anywhere. */
  readonly debugs: boolean;
  /** Undefined: the reader keeps up. Otherwise resolves when it has taken what was written, or is gone. */
  behind(): Promise<void> | undefined;
  /** Resolves when the reader has taken everything, or after a bounded wait. */
  drained(): Promise<void>;
  /** Handles a closed pipe for callers that write to the streams directly. */
  open(): void;
  /** Why some of the output was not delivered; undefined when the reader closed the pipe itself. */
  lost(): string | undefined;
}

/** How long a slow reader may keep us. */
const DRAIN_MS = 30_000;

export function processOutput(
  options: { debug: boolean; debugFile: string | undefined },
  host: Pick<HostProcess, 'stderr' | 'stdout'> = process,
): Output {
  let gone = false;
  let lost: string | undefined;
  /** Opened with the first word for it: to open it takes as long as to read all settings. */
  let opened: NodeJS.WriteStream | undefined;
  const stdout = (): NodeJS.WriteStream => {
    if (opened === undefined) {
      opened = host.stdout;
      // A reader that went away (`| head`) is no reason to crash; the run goes on and is recorded.
      opened.on('error', (error) => {
        gone = true;
        if (systemCodeOf(error) !== 'EPIPE') lost ??= messageOf(error);
      });
    }
    return opened;
  };
  let stderr: NodeJS.WriteStream | undefined;
  const standardError = (): NodeJS.WriteStream => {
    if (stderr === undefined) {
      stderr = host.stderr;
      stderr.on('error', () => undefined);
    }
    return stderr;
  };
  const out = (text: string): void => {
    const stream = stdout();
    if (!gone) stream.write(text);
  };
  let waiting: Promise<void> | undefined;
  const behind = (): Promise<void> | undefined => {
    const stream = opened;
    if (gone || stream?.writableNeedDrain !== true) return undefined;
    waiting ??= new Promise<void>((resolve) => {
      const done = (): void => {
        stream.off('drain', done);
        stream.off('close', done);
        stream.off('error', done);
        waiting = undefined;
        resolve();
      };
      stream.on('drain', done);
      stream.on('close', done);
      stream.on('error', done);
    });
    return waiting;
  };
  const debugFile = options.debugFile === undefined ? undefined : openDebugFile(options.debugFile);
  return {
    debugs: options.debug || debugFile !== undefined,
    out,
    behind,
    answer: (text) => out(stdout().isTTY === true ? printable(text) : text),
    warn: (text) => void standardError().write(`portcullis: ${printable(redactSure(text))}\n`),
    debug(said) {
      const text = redact(said);
      if (debugFile !== undefined) debugFile(`${new Date().toISOString()} ${text}\n`);
      else if (options.debug) standardError().write(`portcullis debug: ${printable(text)}\n`);
    },
    open() {
      stdout();
      standardError();
    },
    lost: () => lost,
    async drained() {
      const stream = opened;
      if (stream === undefined) return;
      // A file says only in the next round of the event loop that it took nothing.
      await new Promise((resolve) => setImmediate(resolve));
      if (gone || stream.writableLength === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          lost ??= `it was not read for ${DRAIN_MS / 1000} s`;
          resolve();
        }, DRAIN_MS);
        const done = (): void => {
          clearTimeout(timer);
          resolve();
        };
        stream.once('drain', done);
        stream.once('error', done);
        // A write of nothing calls back when all before it is out.
        stream.write('', done);
      });
    },
  };
}

/** For its owner alone: it tells of commands and decisions. */
function openDebugFile(file: string): (text: string) => void {
  let fd: number;
  try {
    fd = openSync(file, 'a', 0o600);
  } catch (thrown) {
    throw new PortcullisError('usage', `--debug-file: ${messageOf(thrown)}`, {
      remedy: 'name a file in a directory that exists and can be written',
    });
  }
  return (text) => {
    try {
      writeSync(fd, text);
    } catch {
      // A full disk costs the notes about a run, not the run.
    }
  };
}
