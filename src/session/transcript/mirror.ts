import { redactSureDeep } from '../../lib/text/redact.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { agentFacts, cleanLine } from './payload.js';
import type { NewLine, SessionStore } from './store.js';

/** The same store, which also sends every line to the host with the same secrets removed. */
export function mirrored(store: SessionStore, emit: (news: SessionNews) => void): SessionStore {
  // Written out, because spreading an instance does not copy the methods of its class.
  return {
    append(sessionId, lines, agentId) {
      const grown = store.append(sessionId, lines, agentId);
      const path = store.transcriptPath(sessionId, agentId);
      if (lines.length > 0) emit({ type: 'transcript', path, lines: copied(lines, agentId) });
      return grown;
    },
    read: (sessionId, agentId) => store.read(sessionId, agentId),
    payload: (sessionId, toolUseResult) => store.payload(sessionId, toolUseResult),
    agents: (sessionId) => store.agents(sessionId),
    newest: () => store.newest(),
    find: (idOrTitle) => store.find(idOrTitle),
    transcriptPath: (sessionId, agentId) => store.transcriptPath(sessionId, agentId),
    release: (sessionId, agentId) => store.release(sessionId, agentId),
    spillDirectory: (sessionId) => store.spillDirectory(sessionId),
    close: () => store.close(),
  };
}

/** The lines for a host, plus an agent's metadata, which our store keeps in a separate file. */
function copied(lines: readonly NewLine[], agentId: string | undefined): readonly unknown[] {
  const copies: unknown[] = lines.map(cleanLine);
  const facts = agentId === undefined ? undefined : lines.map(agentFacts).find(Boolean);
  if (facts !== undefined) copies.push(redactSureDeep({ type: 'agent_metadata', ...facts }));
  return copies;
}
