import type { Clock } from '../platform/clock.js';
import { nodeTranscriptFiles } from '../platform/fs/transcript-files.js';
import { sha256 } from '../platform/hash.js';
import type { SessionNews } from '../protocol/session-events.js';
import { type Journal, journalFile, openJournal } from './journal.js';

/** The journal of a session on this machine. Nothing is opened before the first decision. */
export function openSessionJournal(options: {
  /** False: nothing of the session is kept, so neither are its decisions. */
  readonly persist: boolean;
  readonly stateDirectory: string;
  /** The project's directory. */
  readonly cwd: string;
  readonly sessionId: string;
  readonly workspace: { readonly cwd: string };
  readonly clock: Pick<Clock, 'now'>;
  emit(news: SessionNews): void;
}): Journal {
  const { persist, workspace, sessionId, clock, emit } = options;
  return openJournal({
    files: nodeTranscriptFiles,
    hash: sha256,
    clock,
    file: persist ? journalFile(options) : undefined,
    sessionId,
    cwd: () => workspace.cwd,
    emit,
  });
}
