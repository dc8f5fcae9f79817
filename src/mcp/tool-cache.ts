import { sha256 } from '../env/hash.js';
import { join } from '../env/paths.js';
import { readNow } from '../env/read-now.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import { sortedNames } from '../util/sorted-names.js';
import type { RawTool, ServerDeclaration } from './server.js';
import { type ListedTool, type ServerListing, sizeOf } from './tool-listing.js';
import { toolNames } from './tool-names.js';
import {
  cacheId,
  MAX_STORED_BYTES,
  openPrivateFiles,
  type StoredServer,
  type StoreFiles,
  textOf,
} from './tool-store.js';

/** What servers offered when they were last asked, so that a session can begin without asking. */
export interface ToolCache {
  /** Undefined: nothing is known, or what is there cannot be used. Looks at no tool yet. */
  read(server: StoredServer): Promise<ServerListing | undefined>;
  write(
    server: StoredServer & Pick<ServerDeclaration, 'key'>,
    listing: ServerListing,
  ): Promise<void>;
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
      const id = cacheId(server);
      const line = (await known).get(id);
      return line === undefined ? undefined : listingFrom(line, join(directory, `${id}.json`));
    },
    async write(server, listing) {
      const id = cacheId(server);
      const body = JSON.stringify(listing.tools.map((tool) => tool.raw()));
      await files.write(`${id}.json`, body);
      await queued((lines) => {
        lines.delete(id);
        lines.set(id, lineOf(server, listing, sha256(body)));
      });
    },
    async forget(server) {
      const id = cacheId(server);
      await queued((lines) => void lines.delete(id));
      await files.remove(`${id}.json`);
    },
  };
}

const INDEX = 'index-2.txt';

/** By id. A line that is not whole is found out when it is parsed. */
function linesOf(bytes: Uint8Array): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  for (const line of textOf(bytes).split('\n')) {
    const end = line.indexOf(' ');
    if (end > 0) lines.set(line.slice(0, end), line.slice(end + 1));
  }
  return lines;
}

/**
 * Three parts: what is wanted at every start, the full names where names are enough to begin with, and
 * what is wanted with the first tool. JSON holds no tab, so tabs part them.
 */
function lineOf(
  server: Pick<ServerDeclaration, 'name' | 'key'>,
  { tools, instructions, serverInfo, problems, hasResources }: ServerListing,
  sum: string,
): string {
  const full = tools.map(({ name }) => toolNames(server.key, name));
  // What is sent whole, and what has two names, must be looked at one by one.
  const isBrief =
    !tools.some(({ alwaysLoad }) => alwaysLoad) && full.every(({ long }) => long === undefined);
  const head = {
    server: server.name,
    ...(isBrief ? { size: sizeOf(tools) } : {}),
    instructions,
    serverInfo,
    problems,
    hasResources,
    sum,
  };
  // Columns: read a thousand at a time, they cost less than rows.
  const columns = {
    names: tools.map(({ name }) => name),
    prints: tools.map(({ fingerprint }) => fingerprint),
    sizes: tools.map(({ size }) => size),
    always: tools.flatMap(({ alwaysLoad }, at) => (alwaysLoad ? [at] : [])),
  };
  const names = isBrief ? sortedNames(full.map(({ name }) => name)).join(' ') : '';
  return [JSON.stringify(head), names, JSON.stringify(columns)].join('\t');
}

/** Undefined when it is not what was written with the index. */
function bodyOf(path: string, sum: unknown): unknown {
  const bytes = readNow(path, MAX_STORED_BYTES);
  if (bytes === undefined || sha256(bytes) !== sum) return undefined;
  const value = parseJson(textOf(bytes));
  return value.ok ? value.value : undefined;
}

/** What was written had been checked; its sum says that it is the same. */
function listingFrom(line: string, bodyFile: string): ServerListing | undefined {
  const [start = '', names = '', columns] = line.split('\t');
  const parsed = parseJson(start);
  if (!parsed.ok || !isRecord(parsed.value) || columns === undefined) return undefined;
  // A line that was cut off ends otherwise.
  if (!columns.endsWith('}')) return undefined;
  const { size, instructions, serverInfo, problems, sum, hasResources } = parsed.value;
  const info = isRecord(serverInfo)
    ? { name: String(serverInfo.name), version: String(serverInfo.version) }
    : undefined;
  const raws = new CachedTools(() => bodyOf(bodyFile, sum));
  let tools: readonly ListedTool[] | undefined;
  if (typeof size !== 'number') {
    tools = toolsFrom(columns, raws);
    if (tools === undefined) return undefined;
  }
  return {
    get tools() {
      tools ??= toolsFrom(columns, raws) ?? [];
      return tools;
    },
    problems: Array.isArray(problems) ? problems.map(String) : [],
    ...(typeof size === 'number'
      ? { brief: { names: names === '' ? [] : names.split(' '), size } }
      : {}),
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(info === undefined ? {} : { serverInfo: info }),
    ...(hasResources === true ? { hasResources } : {}),
  };
}

/** Undefined when the columns are not as they were written. */
function toolsFrom(text: string, raws: CachedTools): readonly ListedTool[] | undefined {
  const parsed = parseJson(text);
  const { names, prints, sizes, always } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  if (!Array.isArray(names) || !Array.isArray(prints) || !Array.isArray(sizes)) return undefined;
  const isAlways = new Set(Array.isArray(always) ? always : []);
  const tools: ListedTool[] = [];
  for (let index = 0; index < names.length; index++) {
    const name: unknown = names[index];
    const print: unknown = prints[index];
    if (typeof name !== 'string' || typeof print !== 'string') return undefined;
    tools.push(
      new CachedTool(name, print, Number(sizes[index]), isAlways.has(index), { raws, index }),
    );
  }
  return tools;
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
