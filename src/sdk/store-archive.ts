import type { RawLine, TranscriptArchive } from '../app.js';
import { PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';
import type { SessionKey, SessionStore, SessionStoreEntry } from './types/index.js';

/** A session store, looked through like the files. */
export function archiveOf(store: SessionStore, ofDirectory: string): TranscriptArchive {
  const keyOf = (project: string | undefined, sessionId: string, agentId?: string): SessionKey => ({
    projectKey: project ?? ofDirectory,
    sessionId,
    subpath: agentId === undefined ? undefined : agentSubpath(agentId),
  });
  const load = async (key: SessionKey): Promise<readonly RawLine[] | undefined> =>
    linesOf(await store.load(key));
  return {
    async find(sessionId, project) {
      const key = keyOf(project, sessionId);
      const found = await load(key);
      return found === undefined ? undefined : { project: key.projectKey, sessionId };
    },
    async list(project) {
      if (store.listSessions === undefined) {
        throw new PortcullisError('usage', 'this session store cannot list its sessions', {
          remedy: 'give it a method listSessions',
        });
      }
      const found = await store.listSessions(project ?? ofDirectory);
      return found
        .map(({ sessionId, mtime }) => ({
          project: project ?? ofDirectory,
          sessionId,
          modifiedAt: mtime,
        }))
        .sort((a, b) => b.modifiedAt - a.modifiedAt);
    },
    readSummary: async ({ project, sessionId }) => (await load(keyOf(project, sessionId))) ?? [],
    lines: ({ project, sessionId }, agentId) => load(keyOf(project, sessionId, agentId)),
    async append({ project, sessionId }, lines, agentId) {
      await store.append(keyOf(project, sessionId, agentId), lines as SessionStoreEntry[]);
    },
    async remove({ project, sessionId }, agentId) {
      if (store.delete === undefined) {
        throw new PortcullisError('usage', 'this session store cannot delete sessions', {
          remedy: 'give it a method delete',
        });
      }
      await store.delete(keyOf(project, sessionId, agentId));
    },
    async agents({ project, sessionId }) {
      const subkeys = await store.listSubkeys?.({ projectKey: project, sessionId });
      return (subkeys ?? []).flatMap((subpath) => /agent-([^/]+)$/.exec(subpath)?.[1] ?? []);
    },
  };
}

function agentSubpath(agentId: string): string {
  return `subagents/agent-${agentId}`;
}

/** Which transcript a file of the ecosystem's layout is; undefined when it is none. */
export function keyOfFile(path: string, projectKey: string): SessionKey | undefined {
  const posix = path.replaceAll('\\', '/');
  const agent = /([^/]+)\/(subagents\/agent-[^/]+)\.jsonl$/.exec(posix);
  if (agent !== null) {
    return { projectKey, sessionId: agent[1] ?? '', subpath: agent[2] ?? '' };
  }
  const sessionId = /([^/]+)\.jsonl$/.exec(posix)?.[1];
  return sessionId === undefined ? undefined : { projectKey, sessionId };
}

/** What a store gave for a transcript, if that is what it is; undefined where it has none. */
export function linesOf(loaded: unknown): readonly RawLine[] | undefined {
  if (loaded === null || loaded === undefined) return undefined;
  if (!Array.isArray(loaded)) throw broken('what it gave is not a list of lines');
  const at = loaded.findIndex((line) => !isLine(line));
  // fail-closed: a conversation with a hole would go on as another one.
  if (at !== -1) throw broken(`line ${at + 1} is no line of a transcript`);
  return loaded;
}

function broken(why: string): PortcullisError {
  return new PortcullisError('session', `the session store cannot be read: ${why}`);
}

/** Lines of a kind that is not known may have any shape. */
function isLine(line: unknown): boolean {
  if (!isRecord(line)) return false;
  if (line.type !== 'user' && line.type !== 'assistant') return true;
  const content = isRecord(line.message) ? line.message.content : undefined;
  return typeof content === 'string' || (Array.isArray(content) && content.every(isRecord));
}
