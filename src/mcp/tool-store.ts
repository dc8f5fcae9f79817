import type { FileSystem } from '../env/fs.js';
import { sha256 } from '../env/hash.js';
import { join, separator } from '../env/paths.js';
import { systemCodeOf } from '../errors.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import type { ServerDeclaration } from './server.js';

export type StoreFiles = Pick<
  FileSystem,
  'stat' | 'readBytes' | 'writeAtomic' | 'makeDirectory' | 'remove'
>;

/** Which server a file is about. */
export type StoredServer = Pick<ServerDeclaration, 'name' | 'contentHash' | 'origin'>;

/** A file in two parts: a short head that is read at once, and a body that is parsed when it is wanted. */
export interface StoredFile {
  readonly head: Readonly<Record<string, unknown>>;
  /** Undefined when it is not what was written. */
  body(): unknown;
}

/** `damaged`: something is there that is not ours or not whole. */
export type Read =
  | { readonly kind: 'found'; readonly file: StoredFile }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged' };

const MAX_BYTES = 32 * 1024 * 1024;
const VERSION = 1;

/** Files for each server, for their owner alone (0600), in a directory of the state directory. */
export interface ServerFiles {
  read(server: StoredServer): Promise<Read>;
  write(
    server: StoredServer,
    head: Readonly<Record<string, unknown>>,
    body: unknown,
  ): Promise<void>;
  remove(server: StoredServer): Promise<void>;
}

export function openServerFiles(place: {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
  readonly folder: string;
}): ServerFiles {
  const { fs, stateDirectory } = place;
  const directory = join(stateDirectory, place.folder);
  const fileOf = (id: string): string => join(directory, `${id}.json`);
  let ours: Promise<boolean | undefined> | undefined;
  return {
    async read(server) {
      try {
        // Asked once and not for every file: nobody else can put one there.
        ours ??= isOurs(fs, directory);
        const found = await ours;
        if (found !== true) return { kind: found === undefined ? 'absent' : 'damaged' };
        const id = idOf(server);
        return parsed(await fs.readBytes(fileOf(id), { maxBytes: MAX_BYTES }), id);
      } catch (thrown) {
        // fail-closed: what cannot be read says nothing, and nobody can tell that it was nothing.
        return { kind: systemCodeOf(thrown) === 'ENOENT' ? 'absent' : 'damaged' };
      }
    },
    async write(server, head, body) {
      const id = idOf(server);
      const text = JSON.stringify(body);
      const sum = sha256(text);
      const length = Buffer.byteLength(text);
      const first = JSON.stringify({ ...head, version: VERSION, id, sum, length });
      await fs.makeDirectory(stateDirectory, { mode: 0o700 });
      await fs.makeDirectory(directory, { mode: 0o700 });
      ours = undefined;
      const file = fileOf(id);
      // A file with a wrong mode would keep it.
      const stat = await fs.stat(file);
      if (stat !== undefined && (stat.mode & 0o077) !== 0) await fs.remove(file);
      await fs.writeAtomic(file, `${first}\n${text}\n`, { mode: 0o600 });
    },
    remove: (server) => fs.remove(fileOf(idOf(server))),
  };
}

/** Undefined when there is no such directory. */
async function isOurs(fs: StoreFiles, directory: string): Promise<boolean | undefined> {
  const stat = await fs.stat(directory);
  if (stat === undefined) return undefined;
  // fail-closed: what others may write is not ours.
  const isOpen = separator === '/' && (stat.mode & 0o022) !== 0;
  return stat.kind === 'directory' && stat.foreign !== true && !isOpen;
}

const ids = new WeakMap<StoredServer, string>();

/** The same words in another file start another program: relative paths lead elsewhere. */
function idOf(server: StoredServer): string {
  const known = ids.get(server);
  if (known !== undefined) return known;
  const { name, contentHash, origin } = server;
  const id = sha256(JSON.stringify([name, contentHash, origin.file ?? '']));
  ids.set(server, id);
  return id;
}

const LINE_END = 0x0a;

/** Bytes, not text: at the start of a session thousands of definitions are read and none is needed. */
function parsed(bytes: Uint8Array, id: string): Read {
  const end = bytes.indexOf(LINE_END);
  const head = parseJson(decode(bytes.subarray(0, Math.max(0, end))));
  if (end === -1 || !head.ok || !isRecord(head.value)) return { kind: 'damaged' };
  const { version, id: written, sum, length } = head.value;
  const body = bytes.subarray(end + 1, -1);
  if (version !== VERSION || written !== id || length !== body.length) return { kind: 'damaged' };
  return {
    kind: 'found',
    file: {
      head: head.value,
      body() {
        if (sha256(body) !== sum) return undefined;
        const value = parseJson(decode(body));
        return value.ok ? value.value : undefined;
      },
    },
  };
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
