import { messageOf, PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, separator } from '../../platform/fs/paths.js';
import { keyedSha256, sha256 } from '../../platform/hash.js';
import { randomBytes } from '../../platform/random.js';
import { writePrivate } from './private-files.js';

/**
 * What was said about one server of a project. `person`: somebody saw this very entry and agreed.
 * `settings`: a settings file names the server, and this is the entry that it had then.
 */
export interface Approval {
  readonly answer: 'approved' | 'declined';
  readonly by: 'person' | 'settings';
  /** `ServerDeclaration.contentHash`. */
  readonly hash: string;
  /** A mark of `AskedServer.filled`, which is not written down. */
  readonly values?: string;
}

/** Answers about the servers of a project, by their names. `project`: real path of its root. */
export interface McpApprovals {
  /** All answers at once, for a start that asks about every server. */
  read(project: string): Promise<ReadonlyMap<string, Approval>>;
  /** Whether the answer was about this very content. */
  isAbout(said: Approval, project: string, server: AskedServer): Promise<boolean>;
  /** Whether a person agreed to this very content. */
  isApproved(project: string, server: AskedServer): Promise<boolean>;
  approve(project: string, server: AskedServer, by?: Approval['by']): Promise<void>;
  /** Holds for the name, whatever its entry becomes. */
  decline(project: string, server: AskedServer): Promise<void>;
  /** Without a name: all answers of the project. How many there were. */
  forget(project: string, name?: string): Promise<number>;
}

export interface AskedServer {
  readonly name: string;
  readonly contentHash: string;
  /** What it starts or calls, where variables have a part in that. */
  readonly filled?: string | undefined;
}

interface McpApprovalPlace {
  readonly fs: Pick<
    FileSystem,
    'stat' | 'readText' | 'realPath' | 'writeAtomic' | 'makeDirectory' | 'remove'
  >;
  readonly stateDirectory: string;
}

const MAX_BYTES = 4 * 1024 * 1024;
const NOTHING_SAID: ReadonlyMap<string, Approval> = new Map();

/** One file for each project (0600), so that two programs do not overwrite each other's answers. */
export function openMcpApprovals({ fs, stateDirectory }: McpApprovalPlace): McpApprovals {
  const directory = join(stateDirectory, 'mcp-approvals');
  const fileOf = (project: string): string => join(directory, `${sha256(project)}.json`);
  const marks = openValueMarks({ fs, directory });
  let queue: Promise<unknown> = Promise.resolve();

  async function isHeld(project: string): Promise<boolean> {
    return isInside(await fs.realPath(stateDirectory), project);
  }

  async function read(project: string): Promise<ReadonlyMap<string, Approval>> {
    try {
      const file = fileOf(project);
      const stat = await fs.stat(file);
      if (stat?.kind !== 'file') return NOTHING_SAID;
      // fail-closed: a repository that holds the state could bring its own approvals along.
      if (await isHeld(project)) return NOTHING_SAID;
      // fail-closed: what others may write is not the owner's word.
      if (separator === '/' && (stat.mode & 0o022) !== 0) return NOTHING_SAID;
      return answersFrom(await fs.readText(file, { maxBytes: MAX_BYTES }), project);
    } catch {
      // fail-closed: an answer that cannot be read is no answer.
      return NOTHING_SAID;
    }
  }

  async function write(project: string, answers: ReadonlyMap<string, Approval>): Promise<void> {
    if (await isHeld(project)) {
      throw new PortcullisError('config', 'the answer cannot be kept', {
        remedy: `the folder holds this program's own state (${stateDirectory}); set PORTCULLIS_HOME`,
      });
    }
    const file = fileOf(project);
    try {
      const servers = [...answers].map(([name, answer]) => ({ name, ...answer }));
      const text = JSON.stringify({ version: 1, project, servers }, null, 2);
      const directories = [stateDirectory, directory];
      await writePrivate(fs, { directories, file, text: `${text}\n` });
    } catch (thrown) {
      throw notStored(stateDirectory, thrown);
    }
  }

  /** One change at a time: two answers at once must not undo each other. */
  function change<T>(project: string, edit: (said: Map<string, Approval>) => T): Promise<T> {
    const changing = queue.then(async () => {
      const said = new Map(await read(project));
      const result = edit(said);
      await write(project, said);
      return result;
    });
    queue = changing.catch(() => undefined);
    return changing;
  }

  async function isAbout(said: Approval, project: string, server: AskedServer): Promise<boolean> {
    if (said.hash !== server.contentHash) return false;
    if (server.filled === undefined) return true;
    // fail-closed: an answer that holds no values was about none.
    if (said.values === undefined) return false;
    return said.values === (await marks.mark(markedText(project, server)));
  }

  async function markOf(project: string, server: AskedServer): Promise<string | undefined> {
    if (server.filled === undefined) return undefined;
    if (await isHeld(project)) return undefined;
    try {
      await fs.makeDirectory(stateDirectory, { mode: 0o700 });
      return await marks.newMark(markedText(project, server));
    } catch (thrown) {
      throw notStored(stateDirectory, thrown);
    }
  }

  return {
    read,
    isAbout,
    async isApproved(project, server) {
      const said = (await read(project)).get(server.name);
      if (said?.answer !== 'approved' || said.by !== 'person') return false;
      return isAbout(said, project, server);
    },
    async approve(project, server, by = 'person') {
      const { name, contentHash: hash } = server;
      const values = await markOf(project, server);
      const answer: Approval = {
        answer: 'approved',
        by,
        hash,
        values,
      };
      await change(project, (said) => void said.set(name, answer));
    },
    decline: (project, { name, contentHash: hash }) =>
      change(project, (said) => void said.set(name, { answer: 'declined', by: 'person', hash })),
    async forget(project, name) {
      if ((await read(project)).size === 0) return 0;
      return await change(project, (said) => {
        const gone = name === undefined ? said.size : Number(said.has(name));
        if (name === undefined) said.clear();
        else said.delete(name);
        return gone;
      });
    },
  };
}

function notStored(stateDirectory: string, cause: unknown): PortcullisError {
  return new PortcullisError('io', `the answer could not be stored: ${messageOf(cause)}`, {
    remedy: `make ${stateDirectory} writable`,
    cause,
  });
}

/** The same value of another server has another mark. */
function markedText(project: string, { name, filled }: AskedServer): string {
  return JSON.stringify([project, name, filled]);
}

function answersFrom(text: string, project: string): ReadonlyMap<string, Approval> {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return NOTHING_SAID;
  const { version, project: owner, servers } = parsed.value;
  if (version !== 1 || owner !== project || !Array.isArray(servers)) return NOTHING_SAID;
  return new Map(servers.flatMap((one: unknown) => answerFrom(one)));
}

function answerFrom(one: unknown): readonly (readonly [string, Approval])[] {
  if (!isRecord(one)) return [];
  const { name, answer, by, hash, values } = one;
  if (typeof name !== 'string' || typeof hash !== 'string') return [];
  // fail-closed: anything but a clear yes is a no.
  const said = answer === 'approved' && (by === 'person' || by === 'settings');
  const read: Approval = {
    answer: said ? 'approved' : 'declined',
    by: by === 'settings' ? by : 'person',
    hash,
    ...(typeof values === 'string' ? { values } : {}),
  };
  return [[name, read]];
}

/** Marks by which a value is known again that is not to be written down. */
interface ValueMarks {
  /** Undefined where no mark can have been made. */
  mark(text: string): Promise<string | undefined>;
  /** Makes the key first, if there is none. Rejects where it cannot be kept. */
  newMark(text: string): Promise<string>;
}

const KEY = /^[0-9a-f]{64}$/;

/** The key stands in a file of its own (0600): who finds the marks alone cannot try values against them. */
function openValueMarks(place: {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'writeAtomic' | 'makeDirectory' | 'remove'>;
  readonly directory: string;
}): ValueMarks {
  const { fs, directory } = place;
  const file = join(directory, 'values.key');

  async function key(): Promise<string | undefined> {
    try {
      const stat = await fs.stat(file);
      // fail-closed: with a key that others know or chose, a mark means nothing.
      if (stat?.kind !== 'file' || (separator === '/' && (stat.mode & 0o077) !== 0)) {
        return undefined;
      }
      const text = (await fs.readText(file, { maxBytes: 1024 })).trim();
      return KEY.test(text) ? text : undefined;
    } catch {
      // fail-closed: without the key no value is known again.
      return undefined;
    }
  }

  async function newKey(): Promise<string> {
    const made = randomBytes(32).toString('hex');
    await writePrivate(fs, { directories: [directory], file, text: `${made}\n` });
    // Another program may have made one at the same time.
    return (await key()) ?? made;
  }

  return {
    async mark(text) {
      const known = await key();
      return known === undefined ? undefined : keyedSha256(known, text);
    },
    async newMark(text) {
      return keyedSha256((await key()) ?? (await newKey()), text);
    },
  };
}
