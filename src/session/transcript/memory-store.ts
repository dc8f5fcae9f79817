import { makePrivateDirectory } from '../../platform/fs/append-log.js';
import { join } from '../../platform/fs/paths.js';
import type { MetaLine, TranscriptEntry } from '../../protocol/transcript.js';
import { requireSafeId } from '../session-id.js';
import { SessionReader } from './lines.js';
import { onlyOne, transcriptIn } from './listing.js';
import { PAYLOAD_DIRECTORY } from './payload.js';
import type { LoadedSession, SessionStore } from './store.js';

export interface MemoryStoreOptions {
  /** Parent of the spill directories, which are created, and of the transcript paths, which are not. */
  readonly directory: string;
}

type Line = TranscriptEntry | MetaLine;

/** A store that ends with the process: for runs without persistence, for embedding, for tests. */
export function createMemoryStore(options: MemoryStoreOptions): SessionStore {
  const directoryOf = (sessionId: string): string =>
    join(options.directory, requireSafeId(sessionId, 'session'));
  /** By session, then by agent ('' for the session's own), oldest append first. */
  const sessions = new Map<string, Map<string, Line[]>>();

  const lines = (sessionId: string, agentId = ''): readonly Line[] | undefined =>
    sessions.get(sessionId)?.get(agentId);
  const read = (sessionId: string, agentId?: string): LoadedSession | undefined => {
    const known = lines(sessionId, agentId);
    return known === undefined ? undefined : gather(sessionId, known);
  };

  return {
    append(sessionId, added, agentId = '') {
      requireSafeId(sessionId, 'session');
      if (agentId !== '') requireSafeId(agentId, 'agent');
      const files = sessions.get(sessionId) ?? new Map<string, Line[]>();
      // Deleted first, so that the map's order is the order of the last appends.
      if (agentId === '') sessions.delete(sessionId);
      sessions.set(sessionId, files);
      files.set(agentId, [...(files.get(agentId) ?? []), ...added]);
      return 0;
    },
    async read(sessionId, agentId) {
      return read(sessionId, agentId);
    },
    async payload(_sessionId, toolUseResult) {
      return toolUseResult;
    },
    async agents(sessionId) {
      return [...(sessions.get(sessionId)?.keys() ?? [])].filter((agentId) => agentId !== '');
    },
    async newest() {
      return [...sessions.keys()].findLast((id) =>
        lines(id)?.some((line) => line.type === 'user' || line.type === 'assistant'),
      );
    },
    async find(idOrTitle) {
      if (lines(idOrTitle) !== undefined) return idOrTitle;
      const titled = [...sessions.keys()].filter((id) => read(id)?.title === idOrTitle);
      return onlyOne(titled, idOrTitle);
    },
    transcriptPath: (sessionId, agentId) => transcriptIn(directoryOf(sessionId), agentId),
    release: () => undefined,
    spillDirectory(sessionId) {
      const directory = join(directoryOf(sessionId), PAYLOAD_DIRECTORY);
      makePrivateDirectory(directory);
      return directory;
    },
    close: () => 0,
  };
}

function gather(sessionId: string, lines: readonly Line[]): LoadedSession {
  const reader = new SessionReader();
  for (const line of lines) {
    reader.add('uuid' in line ? { kind: 'entry', entry: line } : { kind: 'meta', line });
  }
  return reader.session(sessionId);
}
