import type { AgentSession, LoopEvent, SessionNews } from '../harness.js';
import { createFramer, initFrame } from '../server/frames.js';
import { initNames } from '../server/initialize.js';
import type { Frame } from '../server/wire.js';
import type { CliOptions } from './options.js';

/** What a run tells its host besides the result. Loaded where somebody wants frames. */
export function printFrames(
  options: CliOptions,
  sessionId: () => string,
  uuid: () => string,
): {
  frames(event: LoopEvent | SessionNews): readonly Frame[];
  init(session: AgentSession): Promise<Frame>;
} {
  return {
    frames: createFramer({
      sessionId,
      partialMessages: options.partialMessages && options.outputFormat === 'stream-json',
      replayPrompts: options.replayPrompts,
      stateChanges: false,
      decisions: options.decisions,
      hookEvents: options.hookEvents,
      uuid,
    }),
    init: async (session) => initFrame(session.info(), uuid(), (await initNames(session)).names),
  };
}
