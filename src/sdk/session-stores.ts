import { openTranscripts, processEnvironment } from '../app.js';
import type { SessionKey, SessionStore, SessionStoreEntry } from './types/index.js';

/** Sessions that end with the process. */
export class InMemorySessionStore implements SessionStore {
  readonly #transcripts = new Map<string, { key: SessionKey; entries: SessionStoreEntry[] }>();
  readonly #changed = new Map<string, number>();
  #lastChange = 0;

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const name = nameOf(key);
    const known = this.#transcripts.get(name) ?? { key, entries: [] };
    known.entries.push(...entries);
    this.#transcripts.set(name, known);
    // Never the same twice, so that the order of changes can be told.
    this.#lastChange = Math.max(Date.now(), this.#lastChange + 1);
    this.#changed.set(nameOf({ ...key, subpath: '' }), this.#lastChange);
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const known = this.#transcripts.get(nameOf(key));
    return known === undefined ? null : [...known.entries];
  }

  async listSessions(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>> {
    return [...this.#transcripts.values()]
      .filter(({ key }) => key.projectKey === projectKey && (key.subpath ?? '') === '')
      .map(({ key }) => ({
        sessionId: key.sessionId,
        mtime: this.#changed.get(nameOf({ ...key, subpath: '' })) ?? 0,
      }));
  }

  async delete(key: SessionKey): Promise<void> {
    for (const [name, known] of this.#transcripts) {
      const isOfSession =
        known.key.projectKey === key.projectKey && known.key.sessionId === key.sessionId;
      if (!isOfSession) continue;
      if (key.subpath === undefined || known.key.subpath === key.subpath) {
        this.#transcripts.delete(name);
      }
    }
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    return [...this.#transcripts.values()].flatMap(({ key: known }) =>
      known.projectKey === key.projectKey &&
      known.sessionId === key.sessionId &&
      known.subpath !== undefined &&
      known.subpath !== ''
        ? [known.subpath]
        : [],
    );
  }

  getEntries(key: SessionKey): SessionStoreEntry[] {
    return [...(this.#transcripts.get(nameOf(key))?.entries ?? [])];
  }

  get size(): number {
    return [...this.#transcripts.values()].filter(({ key }) => (key.subpath ?? '') === '').length;
  }

  clear(): void {
    this.#transcripts.clear();
    this.#changed.clear();
  }
}

/** Sessions in files of the ecosystem's layout, below a directory of the program's own choice. */
export class FileSessionStore implements SessionStore {
  readonly #archive;

  /** Absent: the user's own, `CLAUDE_CONFIG_DIR` or `~/.claude`. */
  constructor(configDirectory?: string) {
    const env = processEnvironment();
    const CLAUDE_CONFIG_DIR = configDirectory ?? env.CLAUDE_CONFIG_DIR;
    this.#archive = openTranscripts({ ...env, CLAUDE_CONFIG_DIR });
  }

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    await this.#archive.append(placeOf(key), entries, agentOf(key));
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const lines = await this.#archive.lines(placeOf(key), agentOf(key));
    return lines === undefined ? null : (lines as SessionStoreEntry[]);
  }

  async listSessions(projectKey: string): Promise<Array<{ sessionId: string; mtime: number }>> {
    const items = await this.#archive.list(projectKey);
    return items.map(({ sessionId, modifiedAt }) => ({ sessionId, mtime: modifiedAt }));
  }

  async delete(key: SessionKey): Promise<void> {
    await this.#archive.remove(placeOf(key), agentOf(key));
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const agents = await this.#archive.agents(placeOf(key));
    return agents.map((agentId) => `subagents/agent-${agentId}`);
  }
}

function nameOf({ projectKey, sessionId, subpath = '' }: SessionKey): string {
  return JSON.stringify([projectKey, sessionId, subpath]);
}

function placeOf({ projectKey, sessionId }: SessionKey): { project: string; sessionId: string } {
  return { project: projectKey, sessionId };
}

/** fail-closed: only transcripts of agents have a subpath; anything else names no file. */
function agentOf({ subpath }: SessionKey): string | undefined {
  if (subpath === undefined || subpath === '') return undefined;
  return /^subagents\/agent-([^/]+)$/.exec(subpath)?.[1] ?? '';
}
