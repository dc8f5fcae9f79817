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
      // Columns: read a thousand at a time, they cost less than rows.
      const columns = {
        names: tools.map(({ name }) => name),
        prints: tools.map(({ fingerprint }) => fingerprint),
        sizes: tools.map(({ size }) => size),
        always: tools.flatMap(({ alwaysLoad }, index) => (alwaysLoad ? [index] : [])),
      };
      const head = { server: server.name, ...columns, instructions, serverInfo, problems };
      const raws = tools.map((tool) => tool.raw());
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
  const { names, prints, sizes, always, instructions, serverInfo, problems } = head;
  if (!Array.isArray(names) || !Array.isArray(prints) || !Array.isArray(sizes)) return undefined;
  const isAlways = new Set(Array.isArray(always) ? always : []);
  const raws = new CachedTools(body);
  const tools: ListedTool[] = [];
  for (let index = 0; index < names.length; index++) {
    const name: unknown = names[index];
    const print: unknown = prints[index];
    if (typeof name !== 'string' || typeof print !== 'string') return undefined;
    tools.push(
      new CachedTool(name, print, Number(sizes[index]), isAlways.has(index), { raws, index }),
    );
  }
  const info = isRecord(serverInfo)
    ? { name: String(serverInfo.name), version: String(serverInfo.version) }
    : undefined;
  return {
    tools,
    problems: Array.isArray(problems) ? problems.map(String) : [],
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(info === undefined ? {} : { serverInfo: info }),
  };
}

/** The definitions of one server, parsed when the first is wanted. */
class CachedTools {
  readonly #body: () => unknown;
  #raws: readonly unknown[] | undefined;

  constructor(body: () => unknown) {
    this.#body = body;
  }

  at(index: number): RawTool {
    if (this.#raws === undefined) {
      const value = this.#body();
      this.#raws = Array.isArray(value) ? value : [];
    }
    const raw = this.#raws[index];
    if (!isRecord(raw)) throw new Error('the cache of its tools is damaged');
    return raw as unknown as RawTool;
  }
}

/** A class, as there may be thousands of them before the first request. */
class CachedTool implements ListedTool {
  readonly name: string;
  readonly fingerprint: string;
  readonly size: number;
  readonly alwaysLoad: boolean;
  readonly #place: { readonly raws: CachedTools; readonly index: number };

  constructor(
    name: string,
    fingerprint: string,
    size: number,
    alwaysLoad: boolean,
    place: { readonly raws: CachedTools; readonly index: number },
  ) {
    this.name = name;
    this.fingerprint = fingerprint;
    this.size = size;
    this.alwaysLoad = alwaysLoad;
    this.#place = place;
  }

  raw(): RawTool {
    return this.#place.raws.at(this.#place.index);
  }
}
