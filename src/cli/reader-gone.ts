import { encodeFrame } from '../server/wire.js';
import type { HostProcess, Output } from './output.js';

/** How often a silent session looks whether anybody still reads. */
const LOOK_MS = 1_000;

/**
 * Aborts once nobody is at the other end: there is no more input, and nobody reads the output. The
 * end of the input alone means "no more prompts". That a reader is gone shows only when something is
 * written, so clients that pass over `keep_alive` are sent one while they wait.
 */
export function readerGone(
  { stdin, stdout }: Pick<HostProcess, 'stdin' | 'stdout'>,
  output: Output,
  clientPassesOver: boolean,
): { readonly signal: AbortSignal; stop(): void } {
  const over = new AbortController();
  let inputEnded = false;
  let outputBroken = false;
  let timer: NodeJS.Timeout | undefined;
  const judge = (): void => {
    if (inputEnded && outputBroken) over.abort();
  };
  const onBroken = (): void => {
    outputBroken = true;
    judge();
  };
  const onEnd = (): void => {
    inputEnded = true;
    judge();
    if (!clientPassesOver) return;
    timer ??= setInterval(() => {
      // One that is alive but slow has enough to read.
      if (!stdout.writableNeedDrain) output.out(encodeFrame({ type: 'keep_alive' }));
    }, LOOK_MS);
    timer.unref();
  };
  stdout.on('error', onBroken);
  stdin.once('end', onEnd);
  stdin.once('close', onEnd);
  return {
    signal: over.signal,
    stop() {
      clearInterval(timer);
      stdin.off('end', onEnd);
      stdin.off('close', onEnd);
      stdout.off('error', onBroken);
    },
  };
}
