import { isRecord } from '../util/own.js';
import type { RawTool } from './server.js';
import type { ListedTool, ServerListing } from './tool-listing.js';
import { openServerFiles, type StoredServer, type StoreFiles } from './tool-store.js';

/** What servers offered when they were last asked, so that a session can begin without asking. */
export interface ToolCache {
  /** Undefined: nothing is known, or what is there cannot be used. Parses no definition. */
  read(server: StoredServer): Promise<ServerListing | undefined>;
  write(server: StoredServer, listing: ServerListing): Promise<void>;
  forget(server: StoredServer): Promise<void>;
}

export function openToolCache(place: {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
}): ToolCache {
  const files = openServerFiles({ ...place, folder: 'mcp-tools' });
  return {
    async read(server) {
      const read = await files.read(server);
      return read.kind === 'found' ? listingFrom(read.file.head, read.file.body) : undefined;
    },
    async write(server, { tools, instructions, serverInfo, problems }) {
      const index = tools.map(({ name, fingerprint, size, alwaysLoad }) => [
        name,
        fingerprint,
        size,
        alwaysLoad ? 1 : 0,
      ]);
      const head = { server: server.name, tools: index, instructions, serverInfo, problems };
      const raws = tools.map(({ raw }) => raw());
      await files.write(server, head, raws);
    },
    forget: (server) => files.remove(server),
  };
}

/** What was written had been checked; its sum says that it is the same. */
function listingFrom(
  head: Readonly<Record<string, unknown>>,
  body: () => unknown,
): ServerListing | undefined {
  if (!Array.isArray(head.tools)) return undefined;
  let raws: readonly unknown[] | undefined;
  const rawAt = (index: number): RawTool => {
    if (raws === undefined) {
      const value = body();
      raws = Array.isArray(value) ? value : [];
    }
    const raw = raws[index];
    if (!isRecord(raw)) throw new Error('the cache of its tools is damaged');
    return raw as unknown as RawTool;
  };
  const tools: ListedTool[] = [];
  for (const [index, entry] of head.tools.entries()) {
    const [name, fingerprint, size, alwaysLoad] = Array.isArray(entry) ? entry : [];
    if (typeof name !== 'string' || typeof fingerprint !== 'string') return undefined;
    tools.push({
      name,
      fingerprint,
      size: Number(size),
      alwaysLoad: alwaysLoad === 1,
      raw: () => rawAt(index),
    });
  }
  const { instructions, serverInfo } = head;
  const info = isRecord(serverInfo)
    ? { name: String(serverInfo.name), version: String(serverInfo.version) }
    : undefined;
  return {
    tools,
    problems: Array.isArray(head.problems) ? head.problems.map(String) : [],
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(info === undefined ? {} : { serverInfo: info }),
  };
}
