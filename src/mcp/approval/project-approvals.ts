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

/** One file for each project (0600), so that two programs do not overwrite each other's answers. */
export function openMcpApprovals({ fs, stateDirectory }: McpApprovalPlace): McpApprovals {
  const directory = join(stateDirectory, 'mcp-approvals');
  const keyFile = join(directory, 'values.key');
  const fileOf = (project: string): string => join(directory, `${sha256(project)}.json`);
  let queue: Promise<unknown> = Promise.resolve();

  async function isHeld(project: string): Promise<boolean> {
    return isInside(await fs.realPath(stateDirectory), project);
  }

  /** The text of a file that no other user can have written. fail-closed: what cannot be read is no answer. */
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
    // fail-closed: a repository that holds the state could bring its own approvals along.
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

  /**
   * A mark by which a value is known again that is not to be written down. The key stands in a file of its own: who finds the
   * marks alone cannot try values against them. fail-closed: with a key that others know or chose, a mark means nothing.
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
      // Another program may have made one at the same time.
      key = (await readKey()) ?? made;
    }
    // The same value of another server has another mark.
    const text = JSON.stringify([project, name, filled]);
    return key === undefined ? undefined : keyedSha256(key, text);
  }

  return {
    read,
    async isAbout(said, project, server) {
      if (said.hash !== server.contentHash) return false;
      if (server.filled === undefined) return true;
      // fail-closed: an answer that holds no values was about none.
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
