import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { join } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import { openPrivateFiles, type StoredServer, type StoreFiles } from '../approval/private-files.js';
import type { RawTool } from '../server.js';
import { listed, type ServerListing } from './listing.js';

/** Caches each server's last tool list, so that a session can start without the servers. */
export interface ToolCache {
  /** Undefined without a usable list for exactly this entry. */
  read(server: StoredServer): ServerListing | undefined;
  write(server: StoredServer, listing: ServerListing): Promise<void>;
  /** Resolves when all writes are done. */
  close(): Promise<void>;
}

/** Uses one file per server name and declaring file, so a changed entry replaces the old list. */
export function openToolCache(place: {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
}): ToolCache {
  const files = openPrivateFiles({ ...place, directory: join(place.stateDirectory, 'mcp-tools') });
  let queue: Promise<unknown> = Promise.resolve();
  return {
    read(server) {
      const found = files.read(fileOf(server));
      const parsed = found.kind === 'found' ? parseJson(found.text) : undefined;
      if (!parsed?.ok || !isRecord(parsed.value)) return undefined;
      return parsed.value.contentHash === server.contentHash
        ? listingFrom(parsed.value)
        : undefined;
    },
    write(server, { tools, ...about }) {
      const raws = tools.map(({ raw }) => raw);
      const always = tools.filter(({ alwaysLoad }) => alwaysLoad).map(({ name }) => name);
      const { contentHash } = server;
      const text = JSON.stringify({ ...about, contentHash, always, tools: raws });
      // Writes run in order, so the last one wins.
      const writing = queue.then(() => files.write(fileOf(server), text));
      queue = writing.catch(() => undefined);
      return writing;
    },
    async close() {
      await queue;
    },
  };
}

function fileOf({ name, origin }: StoredServer): string {
  return `${sha256(JSON.stringify([name, origin.file ?? '']))}.json`;
}

/** Tools were checked before they were written. */
function listingFrom(value: Readonly<Record<string, unknown>>): ServerListing | undefined {
  const { tools, always, problems, instructions, serverInfo, hasResources } = value;
  if (!Array.isArray(tools) || !Array.isArray(always) || !Array.isArray(problems)) return undefined;
  if (!tools.every(isRawTool)) return undefined;
  const isAlways = new Set<unknown>(always);
  return {
    tools: tools.map((raw) => ({ ...listed(raw), alwaysLoad: isAlways.has(raw.name) })),
    problems: problems.map(String),
    instructions: typeof instructions === 'string' ? instructions : undefined,
    serverInfo: isRecord(serverInfo)
      ? { name: String(serverInfo.name), version: String(serverInfo.version) }
      : undefined,
    hasResources: hasResources === true ? true : undefined,
  };
}

function isRawTool(value: unknown): value is RawTool {
  return isRecord(value) && typeof value.name === 'string' && isRecord(value.inputSchema);
}
