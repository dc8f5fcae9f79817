import { endedWell, serveHost } from '../server/serve-host.js';
import { encodeFrame, MAX_FRAME_BYTES, UNLIMITED } from '../server/wire.js';
import { withDebug } from './debug.js';
import { EXIT } from './exit-code.js';
import type { HostProcess, Output } from './output.js';
import type { PrintDeps } from './print.js';

/** A session driven over JSON lines, by an SDK or a script. Exit codes as the contract says: 0 or 1. */
export async function runStream(deps: PrintDeps): Promise<number> {
  const { options, output, config, host } = deps;
  host.stdin.setEncoding('utf8');
  // Client libraries say who they are, and pass over what only keeps the line open.
  const isLibrary = config.env.CLAUDE_CODE_ENTRYPOINT?.startsWith('sdk-') === true;
  // The only one that is known to read lines of any length.
  const limit = config.env.CLAUDE_CODE_ENTRYPOINT === 'sdk-ts' ? UNLIMITED : MAX_FRAME_BYTES;
  const reader = readerGone(host, output, { sendsKeepAlive: isLibrary });
  const served = await serveHost({
    config: {
      ...config,
      // A host says whether it wants to go back; people always do.
      fileCheckpoints: config.env.CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING === 'true',
    },
    messages: {
      partialMessages: options.partialMessages,
      replayPrompts: options.replayPrompts,
      stateChanges: config.env.CLAUDE_CODE_SDK_READS_SESSION_STATE === '1',
      decisions: options.decisions,
      hookEvents: options.hookEvents,
      agentTexts: () => options.agentTexts,
    },
    asksHost: options.asksOverStdio,
    awaitsInitialize: options.awaitsInitialize,
    input: host.stdin as AsyncIterable<string>,
    write(frame) {
      output.out(encodeFrame(frame, limit));
      return output.behind();
    },
    frameLimit: limit,
    uuid: deps.uuid,
    signal: reader.signal,
    onOpen: deps.onOpen,
    ...(output.debugs ? { tap: withDebug(output, () => undefined) } : {}),
  });
  reader.stop();
  const failure = served.inputError ?? served.startError;
  if (failure !== undefined) output.warn(failure.message);
  if (failure?.remedy !== undefined) output.warn(failure.remedy);
  return endedWell(served) ? EXIT.done : EXIT.error;
}

/** How often a silent session checks that its output is still read. */
const LOOK_MS = 1_000;

/**
 * Aborts once the client is gone: its input has ended and its output is closed. The end of the input alone
 * means "no more prompts". A closed output is noticed only by a write, so clients that ignore `keep_alive`
 * are sent one while they wait.
 */
function readerGone(
  { stdin, stdout }: Pick<HostProcess, 'stdin' | 'stdout'>,
  output: Output,
  options: { readonly sendsKeepAlive: boolean },
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
    if (!options.sendsKeepAlive) return;
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
