import { sha256 } from '../env/hash.js';
import { join } from '../env/paths.js';
import { readNow } from '../env/read-now.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import type { RawTool } from './server.js';
import type { ListedTool, ServerListing } from './tool-listing.js';
import {
  MAX_STORED_BYTES,
  openPrivateFiles,
  type StoredServer,
  type StoreFiles,
  storedId,
  textOf,
} from './tool-store.js';

/** What servers offered when they were last asked, so that a session can begin without asking. */
export interface ToolCache {
  /** Undefined: nothing is known, or what is there cannot be used. Parses no definition. */
  read(server: StoredServer): Promise<ServerListing | undefined>;
  write(server: StoredServer, listing: ServerListing): Promise<void>;
  forget(server: StoredServer): Promise<void>;
}

export interface ToolCachePlace {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
}

/** Servers that are remembered; the one that was written longest ago goes first. */
const MOST_SERVERS = 200;

/**
 * An index of all servers in one file, a line for each, and the definitions of each server in a file
 * of its own: a session reads the index and, as long as nobody wants a definition, nothing else.
 */
export function openToolCache({ fs, stateDirectory }: ToolCachePlace): ToolCache {
  const directory = join(stateDirectory, 'mcp-tools');
  const files = openPrivateFiles({ fs, stateDirectory, directory });
  let queue: Promise<unknown> = Promise.resolve();
  let known: Promise<ReadonlyMap<string, string>> | undefined;
  const index = async (): Promise<ReadonlyMap<string, string>> => {
    const read = await files.read(INDEX);
    return read.kind === 'found' ? linesOf(read.bytes) : new Map();
  };
  const change = async (edit: (lines: Map<string, string>) => void): Promise<void> => {
    // Read anew: another program may have added to it.
    const lines = new Map(await index());
    edit(lines);
    for (const [oldest] of lines) {
      if (lines.size <= MOST_SERVERS) break;
      lines.delete(oldest);
      await files.remove(`${oldest}.json`);
    }
    known = undefined;
    const text = [...lines].map(([id, line]) => `${id} ${line}\n`).join('');
    await files.write(INDEX, text);
  };
  /** One change at a time: two servers at once must not forget each other. */
  const queued = (edit: (lines: Map<string, string>) => void): Promise<void> => {
    const changing = queue.then(() => change(edit));
    queue = changing.catch(() => undefined);
    return changing;
  };
  return {
    async read(server) {
      known ??= index();
      const id = storedId(server);
      const head = parseJson((await known).get(id) ?? '');
      if (!head.ok || !isRecord(head.value)) return undefined;
      return listingFrom(head.value, () => bodyOf(join(directory, `${id}.json`), head.value));
    },
    async write(server, { tools, instructions, serverInfo, problems }) {
      const id = storedId(server);
      const body = JSON.stringify(tools.map((tool) => tool.raw()));
      // Columns: read a thousand at a time, they cost less than rows.
      const head = {
        server: server.name,
        names: tools.map(({ name }) => name),
        prints: tools.map(({ fingerprint }) => fingerprint),
        sizes: tools.map(({ size }) => size),
        always: tools.flatMap(({ alwaysLoad }, at) => (alwaysLoad ? [at] : [])),
        instructions,
        serverInfo,
        problems,
        sum: sha256(body),
      };
      await files.write(`${id}.json`, body);
      await queued((lines) => {
        lines.delete(id);
        lines.set(id, JSON.stringify(head));
      });
    },
    async forget(server) {
      const id = storedId(server);
      await queued((lines) => void lines.delete(id));
      await files.remove(`${id}.json`);
    },
  };
}

const INDEX = 'index-1.txt';

/** By id. A line that is not whole is found out when it is parsed. */
function linesOf(bytes: Uint8Array): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  for (const line of textOf(bytes).split('\n')) {
    const end = line.indexOf(' ');
    if (end > 0) lines.set(line.slice(0, end), line.slice(end + 1));
  }
  return lines;
}

/** Undefined when it is not what was written with the index. */
function bodyOf(path: string, head: unknown): unknown {
  const bytes = readNow(path, MAX_STORED_BYTES);
  if (bytes === undefined || !isRecord(head) || sha256(bytes) !== head.sum) return undefined;
  const value = parseJson(textOf(bytes));
  return value.ok ? value.value : undefined;
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
