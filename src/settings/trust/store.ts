import { messageOf, PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, separator } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import type { Declaration } from './types.js';

/** The accepted content of a folder, without command texts and values, which may be secret. */
export interface TrustRecord {
  /** The real path of the project's root. */
  readonly root: string;
  /** When a person accepted the folder; absent when only our own writes were bound. */
  readonly acceptedAt?: string;
  readonly declarations: readonly TrustedDeclaration[];
}

export type TrustedDeclaration = Pick<Declaration, 'kind' | 'name' | 'level' | 'digest'> & {
  /** Relative to the root. */
  readonly file: string;
};

export interface TrustStore {
  /** Undefined without a trustworthy record. */
  read(root: string): Promise<TrustRecord | undefined>;
  write(record: TrustRecord): Promise<void>;
  /** False when there was none. */
  remove(root: string): Promise<boolean>;
  list(): Promise<readonly TrustRecord[]>;
  /** Why nothing can be stored for this folder; undefined when it can. */
  refusal(root: string): Promise<string | undefined>;
}

interface TrustStorePlace {
  readonly fs: Pick<
    FileSystem,
    'stat' | 'readText' | 'list' | 'realPath' | 'writeAtomic' | 'makeDirectory' | 'remove'
  >;
  readonly stateDirectory: string;
}

/** One file per folder, so that concurrent programs do not overwrite each other. */
export function openTrustStore({ fs, stateDirectory }: TrustStorePlace): TrustStore {
  const directory = join(stateDirectory, 'trust');
  const fileOf = (root: string): string => join(directory, `${sha256(root)}.json`);

  async function read(file: string): Promise<TrustRecord | undefined> {
    const stat = await fs.stat(file);
    if (stat === undefined) return undefined;
    // fail-closed: a file that other users can write is not trusted.
    if (stat.kind !== 'file' || (separator === '/' && (stat.mode & 0o022) !== 0)) return undefined;
    return recordFrom(await fs.readText(file, { maxBytes: 32 * 1024 * 1024 }));
  }

  return {
    async read(root) {
      // fail-closed: a repository that contains the state directory could ship its own trust.
      if (await isHeldBy(root)) return undefined;
      try {
        const record = await read(fileOf(root));
        return record?.root === root ? record : undefined;
      } catch {
        // fail-closed: an unreadable record is no acceptance.
        return undefined;
      }
    },
    async write(record) {
      const file = fileOf(record.root);
      try {
        await fs.makeDirectory(stateDirectory, { mode: 0o700 });
        await fs.makeDirectory(directory, { mode: 0o700 });
        // An atomic write would keep a wrong mode, so the file is removed first.
        const stat = await fs.stat(file);
        if (stat !== undefined && (stat.mode & 0o077) !== 0) await fs.remove(file);
        const text = JSON.stringify({ version: 1, ...record }, null, 2);
        await fs.writeAtomic(file, `${text}\n`, { mode: 0o600 });
      } catch (thrown) {
        throw new PortcullisError('io', `trust could not be stored: ${messageOf(thrown)}`, {
          remedy: `make ${stateDirectory} writable, or start with --trust for one run`,
          cause: thrown,
        });
      }
    },
    async remove(root) {
      const there = (await fs.stat(fileOf(root))) !== undefined;
      await fs.remove(fileOf(root));
      return there;
    },
    async list() {
      if ((await fs.stat(directory)) === undefined) return [];
      const names = (await fs.list(directory)).filter(({ name }) => name.endsWith('.json'));
      const records = await Promise.all(
        // An unreadable record is not in force.
        names.map(({ name }) => read(join(directory, name)).catch(() => undefined)),
      );
      return records
        .filter((record) => record !== undefined)
        .sort((a, b) => (a.root < b.root ? -1 : 1));
    },
    async refusal(root) {
      return (await isHeldBy(root))
        ? `the folder holds this program's own state (${stateDirectory})`
        : undefined;
    },
  };

  async function isHeldBy(root: string): Promise<boolean> {
    return isInside(await fs.realPath(stateDirectory), root);
  }
}

function recordFrom(text: string): TrustRecord | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return undefined;
  const { version, root, acceptedAt, declarations } = parsed.value;
  if (version !== 1 || typeof root !== 'string' || !Array.isArray(declarations)) return undefined;
  return {
    root,
    ...(typeof acceptedAt === 'string' ? { acceptedAt } : {}),
    declarations: declarations.filter(isTrustedDeclaration),
  };
}

function isTrustedDeclaration(value: unknown): value is TrustedDeclaration {
  return (
    isRecord(value) &&
    ['kind', 'name', 'level', 'file', 'digest'].every((key) => typeof value[key] === 'string')
  );
}
