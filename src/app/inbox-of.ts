import { type Inbox, openInbox } from '../agents/inbox/inbox.js';
import { systemClock } from '../platform/clock.js';
import { type DirectoryEnvironment, stateDirectory } from '../platform/fs/paths.js';
import { stateFiles } from '../platform/fs/state-files.js';
import { nodeProcesses } from '../platform/process/process-stamp.js';

/** The inbox of the user whose environment this is. */
export function openInboxOf(env: DirectoryEnvironment): Inbox {
  return openInbox({
    files: stateFiles,
    processes: nodeProcesses,
    stateDirectory: stateDirectory(env),
    now: systemClock.now,
  });
}
