import { endedWell, serveHost } from '../server/serve-host.js';
import { encodeFrame, MAX_FRAME_BYTES, UNLIMITED } from '../server/wire.js';
import { withDebug } from './debug.js';
import { EXIT } from './exit-code.js';
import type { PrintDeps } from './print.js';
import { readerGone } from './reader-gone.js';

/** A session driven over JSON lines, by an SDK or a script. Exit codes as the contract says: 0 or 1. */
export async function runStream(deps: PrintDeps): Promise<number> {
  const { options, output, config, host } = deps;
  host.stdin.setEncoding('utf8');
  // Client libraries say who they are, and pass over what only keeps the line open.
  const isLibrary = config.env.CLAUDE_CODE_ENTRYPOINT?.startsWith('sdk-') === true;
  // The only one that is known to read lines of any length.
  const limit = config.env.CLAUDE_CODE_ENTRYPOINT === 'sdk-ts' ? UNLIMITED : MAX_FRAME_BYTES;
  const reader = readerGone(host, output, isLibrary);
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
