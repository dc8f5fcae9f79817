import { makePrivateDirectory } from '../../platform/fs/append-log.js';
import { join } from '../../platform/fs/paths.js';
import { requireSafeId } from '../session-id.js';
import { type RawLine, sessionOf } from './lines.js';
import { onlyOne, transcriptIn } from './listing.js';
import { PAYLOAD_DIRECTORY } from './payload.js';
import type { LoadedSession, NewLine, SessionStore } from './store.js';

/**
 * A store that ends with the process: for runs without persistence, for embedding, for tests. `directory` is
 * the parent of the spill directories, which are created, and of the transcript paths, which are not.
 */
export function createMemoryStore({ directory: parent }: { directory: string }): SessionStore {
  const directoryOf = (sessionId: string): string =>
    join(parent, requireSafeId(sessionId, 'session'));
  /** By session, then by agent ('' for the session's own), oldest append first. */
  const sessions = new Map<string, Map<string, NewLine[]>>();

  const lines = (sessionId: string, agentId = ''): readonly NewLine[] | undefined =>
    sessions.get(sessionId)?.get(agentId);
  const read = (sessionId: string, agentId?: string): LoadedSession | undefined => {
    const known = lines(sessionId, agentId);
    return known && sessionOf(sessionId, known as readonly object[] as readonly RawLine[]);
  };

  return {
    append(sessionId, added, agentId = '') {
      requireSafeId(sessionId, 'session');
      if (agentId !== '') requireSafeId(agentId, 'agent');
      const files = sessions.get(sessionId) ?? new Map<string, NewLine[]>();
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
