import type { SessionNews } from '../protocol/session-events.js';
import { cleanLine } from './payload.js';
import type { SessionStore } from './store.js';

/** The same store, with every line told to the host as well, whose copy is to hold no more secrets than ours. */
export function mirrored(store: SessionStore, emit: (news: SessionNews) => void): SessionStore {
  // One by one: the methods of a class are not copied by spreading an instance of it.
  return {
    append(sessionId, lines, agentId) {
      const grown = store.append(sessionId, lines, agentId);
      const path = store.transcriptPath(sessionId, agentId);
      if (lines.length > 0) emit({ type: 'transcript', path, lines: lines.map(cleanLine) });
      return grown;
    },
    read: (sessionId, agentId) => store.read(sessionId, agentId),
    payload: (sessionId, toolUseResult) => store.payload(sessionId, toolUseResult),
    agents: (sessionId) => store.agents(sessionId),
    newest: () => store.newest(),
    find: (idOrTitle) => store.find(idOrTitle),
    transcriptPath: (sessionId, agentId) => store.transcriptPath(sessionId, agentId),
    prepare: (sessionId, agentId) => store.prepare(sessionId, agentId),
    release: (sessionId, agentId) => store.release(sessionId, agentId),
    flush: (of) => store.flush(of),
    spillDirectory: (sessionId) => store.spillDirectory(sessionId),
    close: () => store.close(),
  };
}
