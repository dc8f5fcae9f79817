import { memoryStoreOf, projectKeyOf } from '../app.js';
import { messageOf, PortcullisError } from '../errors.js';
import type { HostedConfig } from '../server/host-session.js';
import { keyOfFile, linesOf } from './store-archive.js';
import type { SessionStore, SessionStoreEntry } from './types/index.js';

/** A session whose transcript lives in a program's own store; nothing of it is written to files. */
export async function withStore(config: HostedConfig, store: SessionStore): Promise<HostedConfig> {
  try {
    return await opened(config, store);
  } catch (thrown) {
    if (thrown instanceof PortcullisError) throw thrown;
    const why = `the session store cannot be read: ${messageOf(thrown)}`;
    throw new PortcullisError('session', why, { cause: thrown });
  }
}

async function opened(config: HostedConfig, store: SessionStore): Promise<HostedConfig> {
  const projectKey = projectKeyOf(config.cwd);
  const wanted =
    config.start.kind === 'resume'
      ? config.start.id
      : config.start.kind === 'continue'
        ? await newestOf(store, projectKey)
        : undefined;
  const lines =
    wanted === undefined ? undefined : linesOf(await store.load({ projectKey, sessionId: wanted }));
  const known = wanted === undefined || lines === undefined ? [] : [{ sessionId: wanted, lines }];
  return { ...config, store: memoryStoreOf(known), mirror: true };
}

async function newestOf(store: SessionStore, projectKey: string): Promise<string | undefined> {
  const sessions = (await store.listSessions?.(projectKey)) ?? [];
  return [...sessions].sort((a, b) => b.mtime - a.mtime)[0]?.sessionId;
}

/** Carries a transcript into a store, line by line and in order. */
export interface StoreWriter {
  write(filePath: unknown, entries: unknown): void;
  /** Resolves when everything so far is kept, or could not be. */
  flush(): Promise<void>;
}

export function createStoreWriter(
  store: SessionStore,
  projectKey: string,
  onLost: (error: string, key: { projectKey: string; sessionId: string }) => void,
): StoreWriter {
  let writing: Promise<void> = Promise.resolve();
  return {
    write(filePath, entries) {
      const key = typeof filePath === 'string' ? keyOfFile(filePath, projectKey) : undefined;
      if (key === undefined || !Array.isArray(entries)) return;
      writing = writing
        .then(() => store.append(key, entries as SessionStoreEntry[]))
        .catch((thrown: unknown) => onLost(messageOf(thrown), key));
    },
    flush: () => writing,
  };
}
