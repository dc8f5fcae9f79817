import { messageOf, PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord, own } from '../../lib/own.js';
import { join } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import type { RawTool } from '../server.js';
import { definingParts, wordsFingerprint } from '../tools/fingerprint.js';
import type { ListedTool } from '../tools/listing.js';
import { normaliseName, toolNames } from '../tools/names.js';
import {
  openPrivateFiles,
  type PrivateFiles,
  type Read,
  type StoredServer,
  type StoreFiles,
  storedId,
} from './private-files.js';

/** The definitions of a server's tools that somebody has agreed to. */
export interface ApprovedTools {
  /** Nobody can tell what else was approved: a tool without an approval must be asked about. */
  readonly damaged: boolean;
  /** Undefined: never approved, which is not the same as changed. */
  fingerprint(tool: string): string | undefined;
  /**
   * The approved tool that goes by the same full name: the tool itself, or another one that is spelled
   * alike once other characters are underscores. What rules and people allow, they allow by that name.
   */
  sameName(tool: string): string | undefined;
  /** The definition that was approved. Undefined when it cannot be told any more. */
  definition(tool: string): RawTool | undefined;
  /** Of what the server said about the use of its tools. Undefined: nobody has taken note of that yet. */
  wordsFingerprint(): string | undefined;
  /** What it said. Undefined when it cannot be told any more. */
  words(): string | undefined;
}

export interface ToolApprovals {
  /** What was approved when it was first read, or last recorded. */
  read(server: StoredServer): ApprovedTools;
  /**
   * Adds to what was approved, also by other programs in the meantime. Throws when it cannot be kept.
   * To have a damaged list forgotten, `forget` first.
   */
  record(server: StoredServer, tools: readonly ListedTool[]): Promise<void>;
  /** The same for what the server says about the use of its tools; empty when it says nothing. */
  recordWords(server: StoredServer, words: string): Promise<void>;
  /** All tools of the server count as new again. */
  forget(server: StoredServer): Promise<void>;
}

/** One file for all servers: opening files costs most. */
const APPROVALS = 'approvals-1.json';
/** What was approved, word for word; read when something has changed. */
const DEFINITIONS = 'definitions-1.json';

export function openToolApprovals(place: {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
}): ToolApprovals {
  const directory = join(place.stateDirectory, 'mcp-approvals');
  const files = openPrivateFiles({ ...place, directory });
  let queue: Promise<unknown> = Promise.resolve();
  let known: Content | undefined;
  const content = (): Content => contentOf(files);

  const change = async (edit: (servers: Map<string, Approved>) => void): Promise<void> => {
    // Read anew: another program may have added to it.
    const before = content();
    const servers = new Map(before.servers);
    edit(servers);
    const heads = [...servers].map(([id, { prints, isWhole, wordsPrint }]) => [
      id,
      [...prints.keys()],
      [...prints.values()],
      isWhole,
      ...(wordsPrint === undefined ? [] : [wordsPrint]),
    ]);
    const bodies = [...servers].map(([id, { definitions, words }]) => [
      id,
      [...definitions()],
      words() ?? null,
    ]);
    try {
      // fail-closed: what was lost stays lost, or the next session would take every tool for new.
      const body = JSON.stringify(bodies);
      const head = { servers: heads, lost: before.lost, sum: sha256(body) };
      await files.write(DEFINITIONS, body);
      await files.write(APPROVALS, JSON.stringify(head));
    } catch (thrown) {
      throw new PortcullisError('io', `the approval could not be stored: ${messageOf(thrown)}`, {
        remedy: `make ${place.stateDirectory} writable`,
        cause: thrown,
      });
    } finally {
      // Who asked in the meantime was told of the old state.
      known = undefined;
    }
  };
  /** One change at a time: two approvals at once must not undo each other. */
  const queued = (edit: (servers: Map<string, Approved>) => void): Promise<void> => {
    const changing = queue.then(() => change(edit));
    queue = changing.catch(() => undefined);
    return changing;
  };

  return {
    read(server) {
      known ??= content();
      const { servers, lost } = known;
      const approved = (isKept(server) ? servers.get(storedId(server)) : undefined) ?? NONE;
      const { prints } = approved;
      const names = byFullName(server, prints.keys());
      return {
        damaged: lost && !approved.isWhole && isKept(server),
        fingerprint: (tool) => prints.get(tool),
        sameName: (tool) =>
          prints.has(tool)
            ? tool
            : fullNames(server, tool)
                .map((name) => names.get(name))
                .find((one) => one !== undefined),
        definition(tool) {
          const found = approved.definitions().get(tool);
          return isRecord(found) && isRecord(own(found, 'inputSchema'))
            ? (found as unknown as RawTool)
            : undefined;
        },
        wordsFingerprint: () => approved.wordsPrint,
        words: approved.words,
      };
    },
    async record(server, tools) {
      if (!isKept(server)) return;
      await queued((servers) => {
        const before = servers.get(storedId(server)) ?? NONE;
        const prints = new Map(before.prints);
        const definitions = new Map(before.definitions());
        const names = byFullName(server, prints.keys());
        for (const tool of tools) {
          // The name belongs to one tool at a time, or a server could go back and forth between two.
          for (const name of fullNames(server, tool.name)) {
            const other = names.get(name);
            if (other === undefined || other === tool.name) continue;
            prints.delete(other);
            definitions.delete(other);
          }
          prints.set(tool.name, tool.fingerprint);
          definitions.set(tool.name, definingParts(tool.raw()));
        }
        servers.set(storedId(server), { ...before, prints, definitions: () => definitions });
      });
    },
    async recordWords(server, words) {
      if (!isKept(server)) return;
      await queued((servers) => {
        const before = servers.get(storedId(server)) ?? NONE;
        const wordsPrint = wordsFingerprint(words);
        servers.set(storedId(server), { ...before, wordsPrint, words: () => words });
      });
    },
    forget: (server) =>
      queued((servers) => void servers.set(storedId(server), { ...NONE, isWhole: true })),
  };
}

/**
 * Nothing is kept of servers in the host's own process: their entries say nothing by which those of two
 * hosts could be told apart, and no command could reach one to approve it. What a session has agreed to
 * counts until its end, and a change within it asks.
 */
function isKept({ entry }: StoredServer): boolean {
  return entry?.type !== 'sdk';
}

/** The same, and this tool as it is now. */
export function alsoApproved(approved: ApprovedTools, tool: ListedTool): ApprovedTools {
  const isIt = (name: string): boolean => name === tool.name;
  return {
    ...approved,
    fingerprint: (name) => (isIt(name) ? tool.fingerprint : approved.fingerprint(name)),
    sameName: (name) => (isIt(name) ? name : approved.sameName(name)),
    definition: (name) => (isIt(name) ? tool.raw() : approved.definition(name)),
  };
}

function fullNames({ name }: StoredServer, tool: string): readonly string[] {
  const { name: short, long } = toolNames(normaliseName(name), tool);
  return long === undefined ? [short] : [short, long];
}

function byFullName(server: StoredServer, tools: Iterable<string>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const tool of tools) for (const name of fullNames(server, tool)) names.set(name, tool);
  return names;
}

/** What was approved of one server. */
interface Approved {
  readonly prints: ReadonlyMap<string, string>;
  definitions(): ReadonlyMap<string, unknown>;
  /** Somebody has begun anew with it, so that nothing of it is lost. */
  readonly isWhole: boolean;
  readonly wordsPrint: string | undefined;
  words(): string | undefined;
}

const NONE: Approved = {
  prints: new Map(),
  definitions: () => new Map(),
  isWhole: false,
  wordsPrint: undefined,
  words: () => undefined,
};

interface Content {
  readonly servers: ReadonlyMap<string, Approved>;
  /** There was something that cannot be read, now or once. */
  readonly lost: boolean;
}

function contentOf(files: PrivateFiles): Content {
  const read = files.read(APPROVALS);
  // fail-closed: half a list would make the missing tools new ones.
  const damaged: Content = { servers: new Map(), lost: true };
  if (read.kind === 'absent') return { servers: new Map(), lost: false };
  if (read.kind === 'damaged') return damaged;
  const parsed = parseJson(read.text);
  const head = parsed.ok ? parsed.value : undefined;
  if (!isRecord(head) || !Array.isArray(head.servers)) return damaged;
  let bodies: ReadonlyMap<string, Body> | undefined;
  const bodyOf = (id: string): Body => {
    bodies ??= bodiesIn(files.read(DEFINITIONS), head.sum);
    return bodies.get(id) ?? NO_BODY;
  };
  const servers = new Map<string, Approved>();
  for (const row of head.servers) {
    const [id, names, prints, isWhole, wordsPrint] = Array.isArray(row) ? row : [];
    const made = printsOf(names, prints);
    const isPrint = wordsPrint === undefined || typeof wordsPrint === 'string';
    if (typeof id !== 'string' || made === undefined || !isPrint) return damaged;
    servers.set(id, {
      prints: made,
      definitions: () => bodyOf(id).definitions,
      isWhole: isWhole === true,
      wordsPrint,
      words: () => bodyOf(id).words,
    });
  }
  return { servers, lost: head.lost === true };
}

/** What was approved of one server, word for word. */
interface Body {
  readonly definitions: ReadonlyMap<string, unknown>;
  readonly words: string | undefined;
}

const NO_BODY: Body = { definitions: new Map(), words: undefined };

/** By server. Empty when it is not what was written with the approvals. */
function bodiesIn(read: Read, sum: unknown): ReadonlyMap<string, Body> {
  const bodies = new Map<string, Body>();
  if (read.kind !== 'found' || sha256(read.text) !== sum) return bodies;
  const parsed = parseJson(read.text);
  for (const row of parsed.ok && Array.isArray(parsed.value) ? parsed.value : []) {
    const [id, definitions, words] = Array.isArray(row) ? row : [];
    if (typeof id !== 'string') continue;
    bodies.set(id, {
      definitions: new Map(pairs(definitions)),
      words: typeof words === 'string' ? words : undefined,
    });
  }
  return bodies;
}

function printsOf(names: unknown, prints: unknown): ReadonlyMap<string, string> | undefined {
  if (!Array.isArray(names) || !Array.isArray(prints) || names.length !== prints.length) {
    return undefined;
  }
  const made = new Map<string, string>();
  for (let index = 0; index < names.length; index++) {
    const name: unknown = names[index];
    const print: unknown = prints[index];
    if (typeof name !== 'string' || typeof print !== 'string') return undefined;
    made.set(name, print);
  }
  return made;
}

function pairs(value: unknown): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (pair): pair is [string, unknown] => Array.isArray(pair) && typeof pair[0] === 'string',
  );
}
