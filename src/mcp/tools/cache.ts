import { parseJson } from '../../lib/json.js';
import { NameList } from '../../lib/name-list.js';
import { isRecord } from '../../lib/own.js';
import { sortedNames } from '../../lib/sorted-names.js';
import { join } from '../../platform/fs/paths.js';
import { readNow } from '../../platform/fs/read-now.js';
import { sha256 } from '../../platform/hash.js';
import {
  cacheId,
  MAX_STORED_BYTES,
  openPrivateFiles,
  type StoredServer,
  type StoreFiles,
  textOf,
} from '../approval/private-files.js';
import type { RawTool, ServerDeclaration } from '../server.js';
import { type BriefListing, type ListedTool, type ServerListing, sizeOf } from './listing.js';
import { toolNames } from './names.js';

/** What servers offered when they were last asked, so that a session can begin without asking. */
export interface ToolCache {
  /**
   * Undefined: nothing is known, or what is there cannot be used. Looks at no tool yet: what is in it
   * was checked before it was written, and a server under another name or entry is another one.
   */
  read(server: StoredServer): ServerListing | undefined;
  write(
    server: StoredServer & Pick<ServerDeclaration, 'key'>,
    listing: ServerListing,
  ): Promise<void>;
  forget(server: StoredServer): Promise<void>;
  /** Once all that was to be written is. */
  close(): Promise<void>;
}

export interface ToolCachePlace {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
  /** The names of a server's tools were told, but what else was remembered of them cannot be used. */
  onDamaged?(server: string): void;
}

/** Servers that are remembered; the one that was written longest ago goes first. */
const MOST_SERVERS = 200;

/**
 * An index of all servers in one file, a part for each, and the tools of each server in a file of its
 * own: a session reads the index, which holds names, and nothing else as long as nobody wants a tool.
 */
export function openToolCache({ fs, stateDirectory, onDamaged }: ToolCachePlace): ToolCache {
  const directory = join(stateDirectory, 'mcp-tools');
  const files = openPrivateFiles({ fs, stateDirectory, directory });
  let queue: Promise<unknown> = Promise.resolve();
  let known: ReadonlyMap<string, string> | undefined;
  const index = (): ReadonlyMap<string, string> => {
    const read = files.read(INDEX);
    return read.kind === 'found' ? partsOf(read.bytes) : new Map();
  };
  const change = async (edit: (parts: Map<string, string>) => void): Promise<void> => {
    // Read anew: another program may have added to it.
    const parts = new Map(index());
    edit(parts);
    for (const [oldest] of parts) {
      if (parts.size <= MOST_SERVERS) break;
      parts.delete(oldest);
      await files.remove(fileOf(oldest));
    }
    known = undefined;
    const text = [...parts].map(([id, part]) => `${id} ${part}${END}`).join('');
    await files.write(INDEX, text);
  };
  /** One change at a time: two servers at once must not forget each other, and the later word counts. */
  const queued = (work: () => Promise<void>): Promise<void> => {
    const changing = queue.then(work);
    queue = changing.catch(() => undefined);
    return changing;
  };
  return {
    read(server) {
      known ??= index();
      const id = cacheId(server);
      const part = known.get(id);
      return part === undefined
        ? undefined
        : listingFrom(part, { server: server.name, directory, id, onDamaged });
    },
    write(server, listing) {
      const id = cacheId(server);
      const body = bodyOf(listing.tools);
      return queued(async () => {
        await files.write(fileOf(id), body);
        await change((parts) => {
          parts.delete(id);
          parts.set(id, partOf(server, listing, sha256(body)));
        });
      });
    },
    forget(server) {
      const id = cacheId(server);
      return queued(async () => {
        await change((parts) => void parts.delete(id));
        await files.remove(fileOf(id));
      });
    },
    async close() {
      await queue;
    },
  };
}

const INDEX = 'index-4.txt';
/** Of what stands in the index about one server. Neither JSON nor a name holds a tab. */
const END = '\t\n';

function fileOf(id: string): string {
  return `${id}.jsonl`;
}

/** By id. */
function partsOf(bytes: Uint8Array): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const found = textOf(bytes).split(END);
  // What was cut off does not end as the others do.
  found.pop();
  for (const part of found) {
    const end = part.indexOf(' ');
    if (end > 0) parts.set(part.slice(0, end), part.slice(end + 1));
  }
  return parts;
}

/**
 * What is wanted at every start and, after a tab, the full names where names are enough to begin with,
 * as a `NameList` has them.
 */
function partOf(
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
    ...(isBrief ? { size: sizeOf(tools), count: tools.length } : {}),
    instructions,
    serverInfo,
    problems,
    hasResources,
    sum,
  };
  const { text } = NameList.of(isBrief ? sortedNames(full.map(({ name }) => name)) : []);
  return `${JSON.stringify(head)}\t${text}`;
}

/** Two lines: what is wanted of all tools once one is, and the definitions. */
function bodyOf(tools: readonly ListedTool[]): string {
  // Columns: read a thousand at a time, they cost less than rows.
  const columns = {
    names: tools.map(({ name }) => name),
    prints: tools.map(({ fingerprint }) => fingerprint),
    sizes: tools.map(({ size }) => size),
    always: tools.flatMap(({ alwaysLoad }, at) => (alwaysLoad ? [at] : [])),
  };
  return `${JSON.stringify(columns)}\n${JSON.stringify(tools.map((tool) => tool.raw()))}`;
}

/** What a listing is read from, once somebody wants more than names. */
interface ListingSource {
  readonly server: string;
  readonly directory: string;
  readonly id: string;
  readonly onDamaged: ToolCachePlace['onDamaged'];
}

/** What was written had been checked; its sum says that it is the same. */
function listingFrom(part: string, source: ListingSource): ServerListing | undefined {
  const headEnd = part.indexOf('\t');
  const parsed = parseJson(part.slice(0, headEnd));
  if (!parsed.ok || !isRecord(parsed.value) || headEnd === -1) return undefined;
  const { value: head } = parsed;
  if (typeof head.size === 'number' && typeof head.count === 'number') {
    const names = new NameList(part.slice(headEnd + 1), head.count);
    return new CachedListing(head, source, { brief: { names, size: head.size } });
  }
  const tools = toolsFrom(new CachedBody(source, head.sum));
  return tools === undefined ? undefined : new CachedListing(head, source, { tools });
}

/** A class, as every server has one at every start. */
class CachedListing implements ServerListing {
  readonly problems: readonly string[];
  readonly brief?: BriefListing;
  readonly instructions?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly hasResources?: boolean;
  readonly #source: ListingSource;
  readonly #sum: unknown;
  #tools: readonly ListedTool[] | undefined;

  constructor(
    { problems, instructions, serverInfo, hasResources, sum }: Readonly<Record<string, unknown>>,
    source: ListingSource,
    known: { readonly brief?: BriefListing; readonly tools?: readonly ListedTool[] },
  ) {
    this.problems = Array.isArray(problems) ? problems.map(String) : [];
    if (known.brief !== undefined) this.brief = known.brief;
    if (typeof instructions === 'string') this.instructions = instructions;
    if (isRecord(serverInfo))
      this.serverInfo = { name: String(serverInfo.name), version: String(serverInfo.version) };
    if (hasResources === true) this.hasResources = true;
    this.#source = source;
    this.#sum = sum;
    this.#tools = known.tools;
  }

  get tools(): readonly ListedTool[] {
    if (this.#tools === undefined) {
      const { server, onDamaged } = this.#source;
      this.#tools = toolsFrom(new CachedBody(this.#source, this.#sum));
      if (this.#tools === undefined) onDamaged?.(server);
      this.#tools ??= [];
    }
    return this.#tools;
  }
}

/** Undefined when the file is not as it was written. */
function toolsFrom(body: CachedBody): readonly ListedTool[] | undefined {
  const { names, prints, sizes, always } = body.columns() ?? {};
  if (!Array.isArray(names) || !Array.isArray(prints) || !Array.isArray(sizes)) return undefined;
  const isAlways = new Set(Array.isArray(always) ? always : []);
  const tools: ListedTool[] = [];
  for (let index = 0; index < names.length; index++) {
    const name: unknown = names[index];
    const print: unknown = prints[index];
    if (typeof name !== 'string' || typeof print !== 'string') return undefined;
    tools.push(
      new CachedTool(name, print, Number(sizes[index]), isAlways.has(index), { body, index }),
    );
  }
  return tools;
}

/** The file of one server, read when its first tool is wanted; its definitions are parsed when one is. */
class CachedBody {
  readonly #file: string;
  readonly #sum: unknown;
  #text: string | undefined;
  #raws: readonly unknown[] | undefined;

  constructor({ directory, id }: Pick<ListingSource, 'directory' | 'id'>, sum: unknown) {
    this.#file = join(directory, fileOf(id));
    this.#sum = sum;
  }

  columns(): Readonly<Record<string, unknown>> | undefined {
    const text = this.#read();
    const parsed = parseJson(text.slice(0, text.indexOf('\n')));
    return parsed.ok && isRecord(parsed.value) ? parsed.value : undefined;
  }

  raw(index: number): RawTool {
    if (this.#raws === undefined) {
      const text = this.#read();
      const parsed = parseJson(text.slice(text.indexOf('\n') + 1));
      this.#raws = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
    }
    const raw = this.#raws[index];
    if (!isRecord(raw)) throw new Error('the cache of its tools is damaged');
    return raw as unknown as RawTool;
  }

  /** Empty when it is not what was written with the index. */
  #read(): string {
    if (this.#text === undefined) {
      const bytes = readNow(this.#file, MAX_STORED_BYTES);
      const isSame = bytes !== undefined && sha256(bytes) === this.#sum;
      this.#text = isSame ? textOf(bytes) : '';
    }
    return this.#text;
  }
}

/** A class, as there may be thousands of them before the first request. */
class CachedTool implements ListedTool {
  readonly name: string;
  readonly fingerprint: string;
  readonly size: number;
  readonly alwaysLoad: boolean;
  readonly #place: { readonly body: CachedBody; readonly index: number };

  constructor(
    name: string,
    fingerprint: string,
    size: number,
    alwaysLoad: boolean,
    place: { readonly body: CachedBody; readonly index: number },
  ) {
    this.name = name;
    this.fingerprint = fingerprint;
    this.size = size;
    this.alwaysLoad = alwaysLoad;
    this.#place = place;
  }

  raw(): RawTool {
    return this.#place.body.raw(this.#place.index);
  }
}
