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
  type StoredServer,
  type StoreFiles,
  storedId,
} from './private-files.js';

/** A definition that somebody has agreed to. */
export interface ApprovedTool {
  readonly fingerprint: string;
  /** Undefined when it cannot be told any more. */
  readonly definition: RawTool | undefined;
}

/** What was approved of a server. */
export interface ApprovedTools {
  /** Nobody can tell what else was approved: a tool without an approval must be asked about. */
  readonly damaged: boolean;
  /** By name on the server. One that is not in it was never approved, which is not the same as changed. */
  readonly tools: ReadonlyMap<string, ApprovedTool>;
  /** What it said about the use of its tools. Undefined: nobody has taken note of that yet. */
  readonly words: ApprovedWords | undefined;
}

export interface ApprovedWords {
  readonly fingerprint: string;
  /** Undefined when it cannot be told any more. */
  readonly text: string | undefined;
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

/** One file for all servers. */
const APPROVALS = 'approvals-1.json';
/** What was approved, word for word; good as long as it is what was written with the approvals. */
const DEFINITIONS = 'definitions-1.json';

export function openToolApprovals(place: {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
}): ToolApprovals {
  const directory = join(place.stateDirectory, 'mcp-approvals');
  const files = openPrivateFiles({ ...place, directory });
  let queue: Promise<unknown> = Promise.resolve();
  let known: Content | undefined;

  const change = async (server: StoredServer, edit: (before: Approved) => Approved) => {
    // Read anew: another program may have added to it.
    const { servers, lost } = contentOf(files);
    servers.set(storedId(server), edit(servers.get(storedId(server)) ?? NONE));
    const heads = [...servers].map(([id, { tools, isWhole, words }]) => {
      const prints = [...tools.values()].map(({ fingerprint }) => fingerprint);
      return [id, [...tools.keys()], prints, isWhole, ...(words ? [words.fingerprint] : [])];
    });
    const bodies = [...servers].map(([id, { tools, words }]) => [
      id,
      [...tools].flatMap(([name, { definition }]) => (definition ? [[name, definition]] : [])),
      words?.text ?? null,
    ]);
    try {
      const body = JSON.stringify(bodies);
      await files.write(DEFINITIONS, body);
      // fail-closed: what was lost stays lost, or the next session would take every tool for new.
      await files.write(APPROVALS, JSON.stringify({ servers: heads, lost, sum: sha256(body) }));
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
  const queued = (server: StoredServer, edit: (before: Approved) => Approved): Promise<void> => {
    const changing = queue.then(() => change(server, edit));
    queue = changing.catch(() => undefined);
    return changing;
  };

  return {
    read(server) {
      if (!isKept(server)) return { damaged: false, tools: new Map(), words: undefined };
      known ??= contentOf(files);
      const { tools, words, isWhole } = known.servers.get(storedId(server)) ?? NONE;
      return { damaged: known.lost && !isWhole, tools, words };
    },
    async record(server, tools) {
      if (!isKept(server)) return;
      await queued(server, (before) => {
        const approved = new Map(before.tools);
        for (const { name, fingerprint, raw } of tools) {
          // The name belongs to one tool at a time, or a server could go back and forth between two.
          const other = approvedName(server, approved, name);
          if (other !== undefined) approved.delete(other);
          const definition = definingParts(raw) as unknown as RawTool;
          approved.set(name, { fingerprint, definition });
        }
        return { ...before, tools: approved };
      });
    },
    async recordWords(server, text) {
      if (!isKept(server)) return;
      const words = { fingerprint: wordsFingerprint(text), text };
      await queued(server, (before) => ({ ...before, words }));
    },
    forget: (server) => queued(server, () => ({ ...NONE, isWhole: true })),
  };
}

/**
 * The approved tool that goes by the same full name: the tool itself, or another one that is spelled alike once other
 * characters are underscores. What rules and people allow, they allow by that name.
 */
export function approvedName(
  { name }: Pick<StoredServer, 'name'>,
  tools: ReadonlyMap<string, unknown>,
  tool: string,
): string | undefined {
  if (tools.has(tool)) return tool;
  const names = fullNames(name, tool);
  return [...tools.keys()].find((one) => fullNames(name, one).some((full) => names.includes(full)));
}

function fullNames(server: string, tool: string): readonly string[] {
  const { name, long = name } = toolNames(normaliseName(server), tool);
  return [name, long];
}

/**
 * Nothing is kept of servers in the host's own process: their entries say nothing by which those of two
 * hosts could be told apart, and no command could reach one to approve it. What a session has agreed to
 * counts until its end, and a change within it asks.
 */
function isKept({ entry }: StoredServer): boolean {
  return entry?.type !== 'sdk';
}

/** What was approved of one server. */
interface Approved extends Omit<ApprovedTools, 'damaged'> {
  /** Somebody has begun anew with it, so that nothing of it is lost. */
  readonly isWhole: boolean;
}

const NONE: Approved = { tools: new Map(), isWhole: false, words: undefined };

interface Content {
  readonly servers: Map<string, Approved>;
  /** There was something that cannot be read, now or once. */
  readonly lost: boolean;
}

function contentOf(files: PrivateFiles): Content {
  const read = files.read(APPROVALS);
  if (read.kind === 'absent') return { servers: new Map(), lost: false };
  const parsed = read.kind === 'found' ? parseJson(read.text) : undefined;
  const head = parsed?.ok ? parsed.value : undefined;
  // fail-closed: half a list would make the missing tools new ones.
  const damaged: Content = { servers: new Map(), lost: true };
  if (!isRecord(head) || !Array.isArray(head.servers)) return damaged;
  const bodies = bodiesIn(files, head.sum);
  const servers = new Map<string, Approved>();
  for (const row of head.servers) {
    const [id, names, prints, isWhole, print] = Array.isArray(row) ? row : [];
    const isPrint = print === undefined || typeof print === 'string';
    if (typeof id !== 'string' || !isTexts(names) || !isTexts(prints) || !isPrint) return damaged;
    if (names.length !== prints.length) return damaged;
    const { definitions, text } = bodies.get(id) ?? NO_BODY;
    const tools = names.map((name, at): [string, ApprovedTool] => {
      const found = definitions.get(name);
      const isSound = isRecord(found) && isRecord(own(found, 'inputSchema'));
      const definition = isSound ? (found as unknown as RawTool) : undefined;
      return [name, { fingerprint: prints[at] ?? '', definition }];
    });
    const words = print === undefined ? undefined : { fingerprint: print, text };
    servers.set(id, { tools: new Map(tools), isWhole: isWhole === true, words });
  }
  return { servers, lost: head.lost === true };
}

/** What was approved of one server, word for word. */
interface Body {
  readonly definitions: ReadonlyMap<unknown, unknown>;
  readonly text: string | undefined;
}

const NO_BODY: Body = { definitions: new Map(), text: undefined };

/** By server. Empty when it is not what was written with the approvals. */
function bodiesIn(files: PrivateFiles, sum: unknown): ReadonlyMap<unknown, Body> {
  const read = files.read(DEFINITIONS);
  if (read.kind !== 'found' || sha256(read.text) !== sum) return new Map();
  const parsed = parseJson(read.text);
  const rows = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  return new Map(
    rows.filter(Array.isArray).map(([id, definitions, text]): [unknown, Body] => {
      const pairs: readonly unknown[] = Array.isArray(definitions) ? definitions : [];
      const known = new Map(pairs.filter(Array.isArray).map(([name, one]) => [name, one]));
      return [id, { definitions: known, text: typeof text === 'string' ? text : undefined }];
    }),
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
