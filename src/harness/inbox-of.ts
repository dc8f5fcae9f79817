import { type Inbox, openInbox } from '../agents/inbox.js';
import { systemClock } from '../env/clock.js';
import { nodeDeliveryFiles } from '../env/delivery-files.js';
import { nodeInboxFiles } from '../env/inbox-files.js';
import { type DirectoryEnvironment, stateDirectory } from '../env/paths.js';

/** The inbox of the user whose environment this is. */
export function openInboxOf(env: DirectoryEnvironment): Inbox {
  return openInbox({
    files: nodeInboxFiles,
    processes: nodeDeliveryFiles,
    stateDirectory: stateDirectory(env),
    now: systemClock.now,
  });
}
