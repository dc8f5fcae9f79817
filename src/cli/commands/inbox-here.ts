import { type Inbox, openInbox } from '../../agents/inbox.js';
import { nodeDeliveryFiles } from '../../env/delivery-files.js';
import { nodeInboxFiles } from '../../env/inbox-files.js';
import { stateDirectory } from '../../env/paths.js';

/** The inbox of this user. */
export function inboxHere(): Inbox {
  return openInbox({
    files: nodeInboxFiles,
    processes: nodeDeliveryFiles,
    stateDirectory: stateDirectory(process.env),
    now: Date.now,
  });
}
