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

/** A tool definition that a person approved. */
export interface ApprovedTool {
  readonly fingerprint: string;
  /** Undefined when the stored definition is lost or does not match its checksum. */
  readonly definition: RawTool | undefined;
}

/** What was approved for one server. */
export interface ApprovedTools {
  /** The stored approvals are unreadable, so every tool without an approval must be asked about. */
  readonly damaged: boolean;
  /** Keyed by the server's tool name; a missing tool is new, not changed. */
  readonly tools: ReadonlyMap<string, ApprovedTool>;
  /** The approved server instructions; undefined when none were recorded yet. */
  readonly words: ApprovedWords | undefined;
}

export interface ApprovedWords {
  readonly fingerprint: string;
  /** Undefined when the stored text is lost or does not match its checksum. */
  readonly text: string | undefined;
}

export interface ToolApprovals {
  /** Approvals as of the first read or the last record in this process. */
  read(server: StoredServer): ApprovedTools;
  /**
   * Adds approvals to the current file content and throws when it cannot be written; a damaged list is
   * replaced only by `forget`.
   */
  record(server: StoredServer, tools: readonly ListedTool[]): Promise<void>;
  /** Records the approval of the server's instructions; an empty text means it has none. */
  recordWords(server: StoredServer, words: string): Promise<void>;
  /** Treats all tools of the server as new again. */
  forget(server: StoredServer): Promise<void>;
}

/** The fingerprints of all servers. */
const APPROVALS = 'approvals-1.json';
/** The full definitions, valid only while they match the checksum stored with the fingerprints. */
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
    // Reads the file again, because another program may have added to it.
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
      // fail-closed: the loss stays recorded, or the next session would treat every tool as new.
      await files.write(APPROVALS, JSON.stringify({ servers: heads, lost, sum: sha256(body) }));
    } catch (thrown) {
      throw new PortcullisError('io', `the approval could not be stored: ${messageOf(thrown)}`, {
        remedy: `make ${place.stateDirectory} writable`,
        cause: thrown,
      });
    } finally {
      // The cached content is outdated.
      known = undefined;
    }
  };
  /** Serialises changes, so that concurrent approvals do not overwrite each other. */
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
          // One full name belongs to one tool: otherwise a server could switch between two approved ones.
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
 * Finds the approved tool with the same full name, which may be another tool whose name differs only in
 * characters that become underscores. Rules and people allow tools by that full name.
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
 * Approvals of in-process (`sdk`) servers last for the session only: their entries do not identify a host,
 * and no command could reach them for approval.
 */
function isKept({ entry }: StoredServer): boolean {
  return entry?.type !== 'sdk';
}

interface Approved extends Omit<ApprovedTools, 'damaged'> {
  /** A person reset this server after the file was damaged, so its list is complete. */
  readonly isWhole: boolean;
}

const NONE: Approved = { tools: new Map(), isWhole: false, words: undefined };

interface Content {
  readonly servers: Map<string, Approved>;
  /** The file is damaged or was when it was last replaced. */
  readonly lost: boolean;
}

function contentOf(files: PrivateFiles): Content {
  const read = files.read(APPROVALS);
  if (read.kind === 'absent') return { servers: new Map(), lost: false };
  const parsed = read.kind === 'found' ? parseJson(read.text) : undefined;
  const head = parsed?.ok ? parsed.value : undefined;
  // fail-closed: in a partial list the missing tools would count as new.
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

/** The stored definitions and instructions of one server. */
interface Body {
  readonly definitions: ReadonlyMap<unknown, unknown>;
  readonly text: string | undefined;
}

const NO_BODY: Body = { definitions: new Map(), text: undefined };

/** Definitions by server id; empty when the checksum does not match. */
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
