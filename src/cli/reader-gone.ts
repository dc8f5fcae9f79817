import { encodeFrame } from '../server/wire.js';
import type { HostProcess, Output } from './output.js';

/** How often a silent session checks that its output is still read. */
const LOOK_MS = 1_000;

/**
 * Aborts once the client is gone: its input has ended and its output is closed. The end of the input alone
 * means "no more prompts". A closed output is noticed only by a write, so clients that ignore `keep_alive`
 * are sent one while they wait.
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
