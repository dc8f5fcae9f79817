import { type Inbox, openInbox } from '../agents/inbox.js';
import { systemClock } from '../env/clock.js';
import { type DirectoryEnvironment, stateDirectory } from '../env/paths.js';
import { nodeProcesses } from '../env/process-stamp.js';
import { stateFiles } from '../env/state-files.js';

/** The inbox of the user whose environment this is. */
export function openInboxOf(env: DirectoryEnvironment): Inbox {
  return openInbox({
    files: stateFiles,
    processes: nodeProcesses,
    stateDirectory: stateDirectory(env),
    now: systemClock.now,
  });
}
