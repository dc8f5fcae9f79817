import { messageOf, PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, separator } from '../../platform/fs/paths.js';
import { keyedSha256, sha256 } from '../../platform/hash.js';
import { randomBytes } from '../../platform/random.js';
import { writePrivate } from './private-files.js';

/**
 * The stored answer about one server of a project. `person`: a person saw this entry and agreed; `settings`:
 * a settings file names the server, and `hash` is the entry it had at that time.
 */
export interface Approval {
  readonly answer: 'approved' | 'declined';
  readonly by: 'person' | 'settings';
  readonly hash: string;
  /** A keyed hash of `AskedServer.filled`, so that the expanded values are not stored. */
  readonly values?: string;
}

/** Answers about a project's servers by server name; `project` is the real path of its root. */
export interface McpApprovals {
  /** Reads all answers in one go for a start that checks every server. */
  read(project: string): Promise<ReadonlyMap<string, Approval>>;
  /** Whether the answer was given for exactly this entry and these expanded values. */
  isAbout(said: Approval, project: string, server: AskedServer): Promise<boolean>;
  approve(project: string, server: AskedServer, by?: Approval['by']): Promise<void>;
  /** A decline applies to the name, even after the entry changes. */
  decline(project: string, server: AskedServer): Promise<void>;
  /** Removes one answer, or all without a name; returns how many were removed. */
  forget(project: string, name?: string): Promise<number>;
}

export interface AskedServer {
  readonly name: string;
  readonly contentHash: string;
  /** The command, arguments or address after expansion; undefined when they contain no variables. */
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

/** Keeps one file per project (0600), so that two programs do not overwrite each other's answers. */
export function openMcpApprovals({ fs, stateDirectory }: McpApprovalPlace): McpApprovals {
  const directory = join(stateDirectory, 'mcp-approvals');
  const keyFile = join(directory, 'values.key');
  const fileOf = (project: string): string => join(directory, `${sha256(project)}.json`);
  let queue: Promise<unknown> = Promise.resolve();

  async function isHeld(project: string): Promise<boolean> {
    return isInside(await fs.realPath(stateDirectory), project);
  }

  /** Reads a file that no other user can have written. fail-closed: an unreadable file counts as no answer. */
  async function ownText(file: string, othersMay: number): Promise<string | undefined> {
    try {
      const stat = await fs.stat(file);
      if (stat?.kind !== 'file' || (separator === '/' && (stat.mode & othersMay) !== 0))
        return undefined;
      return await fs.readText(file, { maxBytes: MAX_BYTES });
    } catch {
      return undefined;
    }
  }

  async function read(project: string): Promise<ReadonlyMap<string, Approval>> {
    const text = await ownText(fileOf(project), 0o022);
    // fail-closed: a repository that contains the state directory could ship its own approvals.
    const isGood = text !== undefined && !(await isHeld(project).catch(() => true));
    return isGood ? answersFrom(text, project) : new Map();
  }

  async function write(project: string, answers: ReadonlyMap<string, Approval>): Promise<void> {
    if (await isHeld(project)) {
      throw new PortcullisError('config', 'the answer cannot be kept', {
        remedy: `the folder holds this program's own state (${stateDirectory}); set PORTCULLIS_HOME`,
      });
    }
    const servers = [...answers].map(([name, answer]) => ({ name, ...answer }));
    await store(fileOf(project), JSON.stringify({ version: 1, project, servers }, null, 2));
  }

  async function store(file: string, text: string): Promise<void> {
    try {
      const directories = [stateDirectory, directory];
      await writePrivate(fs, { directories, file, text: `${text}\n` });
    } catch (cause) {
      throw new PortcullisError('io', `the answer could not be stored: ${messageOf(cause)}`, {
        remedy: `make ${stateDirectory} writable`,
        cause,
      });
    }
  }

  /** Serialises changes, so that concurrent answers do not overwrite each other. */
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

  /**
   * A keyed hash that recognises a value without storing it. The key has its own file, so a leaked hash
   * cannot be tested against guesses. fail-closed: a key that others can read or write is ignored.
   */
  async function markOf(
    project: string,
    { name, filled }: AskedServer,
    isNew = false,
  ): Promise<string | undefined> {
    const readKey = async (): Promise<string | undefined> => {
      const text = (await ownText(keyFile, 0o077))?.trim();
      return text !== undefined && KEY.test(text) ? text : undefined;
    };
    let key = await readKey();
    if (key === undefined && isNew && !(await isHeld(project))) {
      const made = randomBytes(32).toString('hex');
      await store(keyFile, made);
      // Another program may have created the key at the same time.
      key = (await readKey()) ?? made;
    }
    // The hash covers the server, so equal values of two servers differ.
    const text = JSON.stringify([project, name, filled]);
    return key === undefined ? undefined : keyedSha256(key, text);
  }

  return {
    read,
    async isAbout(said, project, server) {
      if (said.hash !== server.contentHash) return false;
      if (server.filled === undefined) return true;
      // fail-closed: an answer without stored values did not cover any.
      return said.values !== undefined && said.values === (await markOf(project, server));
    },
    async approve(project, server, by = 'person') {
      const { name, contentHash: hash, filled } = server;
      const values = filled === undefined ? undefined : await markOf(project, server, true);
      await change(project, (said) => {
        said.set(name, { answer: 'approved', by, hash, values });
      });
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

const KEY = /^[0-9a-f]{64}$/;

function answersFrom(text: string, project: string): ReadonlyMap<string, Approval> {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return new Map();
  const { version, project: owner, servers } = parsed.value;
  if (version !== 1 || owner !== project || !Array.isArray(servers)) return new Map();
  return new Map(servers.flatMap((one: unknown) => answerFrom(one)));
}

function answerFrom(one: unknown): readonly (readonly [string, Approval])[] {
  if (!isRecord(one)) return [];
  const { name, answer, by, hash, values } = one;
  if (typeof name !== 'string' || typeof hash !== 'string') return [];
  // fail-closed: anything but a clear approval is read as a decline.
  const said = answer === 'approved' && (by === 'person' || by === 'settings');
  const read: Approval = {
    answer: said ? 'approved' : 'declined',
    by: by === 'settings' ? by : 'person',
    hash,
    ...(typeof values === 'string' ? { values } : {}),
  };
  return [[name, read]];
}
