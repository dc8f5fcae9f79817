import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, relative, resolve, toPosix } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import { filesBelow } from './tree.js';

/** A script that a command names, by its path from the project's root, with the digest of its content. */
export interface Pins {
  readonly scripts: Readonly<Record<string, string>>;
  /** False: some script is there but could not be taken in. */
  readonly complete: boolean;
}

export interface PinPlace {
  /** The project's root. */
  readonly root: string;
  /** The directory whose `.claude` the declaration is in. */
  readonly level: string;
  /** The directory of the file that holds the declaration. */
  readonly directory: string;
}

/** The scripts of one look at a project. Each is read once, and no more than so much of all. */
export interface ScriptReader {
  /** Of the content of a file; undefined when none is there. */
  digestOf(file: string): Promise<string | undefined>;
  /** One text for all files of a directory of hooks that is too large to be read. */
  noteLarge(directory: string, mark: string): void;
  readonly seen: SeenScripts;
}

/** What scripts were, when somebody looked. */
export interface SeenScripts {
  /** Digests by absolute path; undefined where nothing was. */
  readonly files: ReadonlyMap<string, string | undefined>;
  /** Of directories that are too large to be read: which files there were, of what size and time. */
  readonly large: ReadonlyMap<string, string>;
}

type ScriptFiles = Pick<FileSystem, 'stat' | 'readBytes'>;

const MOST_BYTES = 8 * 1024 * 1024;
/** Of all scripts together; a limit, so that a start stays quick. */
const MOST_OF_ALL = 96 * 1024 * 1024;

export function openScripts(fs: ScriptFiles): ScriptReader {
  const files = new Map<string, string | undefined>();
  const large = new Map<string, string>();
  let room = MOST_OF_ALL;
  return {
    seen: { files, large },
    noteLarge: (directory, mark) => void large.set(directory, mark),
    async digestOf(file) {
      if (files.has(file)) return files.get(file);
      const { digest, size } = await read(fs, file, room);
      room -= size;
      files.set(file, digest);
      return digest;
    },
  };
}

const UNREADABLE = 'unreadable';

async function read(
  fs: ScriptFiles,
  file: string,
  room: number,
): Promise<{ readonly digest: string | undefined; readonly size: number }> {
  try {
    const stat = await fs.stat(file);
    if (stat?.kind !== 'file') return { digest: undefined, size: 0 };
    // fail-closed: what is not read is not known.
    if (stat.size > room) return { digest: UNREADABLE, size: 0 };
    const bytes = await fs.readBytes(file, { maxBytes: MOST_BYTES });
    return { digest: sha256(bytes), size: bytes.length };
  } catch {
    // fail-closed: it is there, and what it does cannot be known.
    return { digest: UNREADABLE, size: 0 };
  }
}

/**
 * The scripts under a `.claude` directory that commands name. They are part of what is trusted, as
 * such a command stands for its script. What a command reaches in other paths (programs of the
 * project, packages, further scripts) is not seen here.
 */
export async function scriptsOf(
  commands: readonly string[],
  place: PinPlace,
  reader: ScriptReader,
): Promise<Pins> {
  const named = candidates(commands, place);
  // fail-closed: a command that may name more files than are looked at is not known whole.
  if (named === undefined) return { scripts: {}, complete: false };
  return await digestsOf(named, place.root, reader);
}

/** Words of one declaration that may be names of files. */
const MOST_WORDS = 10_000;
/** The most that is read of one directory of hooks; a limit, so that a start stays quick. */
const MOST_HOOK_FILES = 2_000;
const MOST_HOOK_BYTES = 64 * 1024 * 1024;

type TreeSource = Parameters<typeof filesBelow>[0];

/** The directories of which a command hook of a level stands for everything. */
function hookDirectories({ level, root }: Omit<PinPlace, 'directory'>): readonly string[] {
  return [...new Set([level, root].map((base) => join(base, '.claude/hooks')))];
}

/**
 * Everything in `.claude/hooks`, of the level and of the root. A command hook stands for it, as no
 * command text tells what its script reads or starts. Logs are left out: they are what hooks write.
 */
export async function hookScripts(
  place: Omit<PinPlace, 'directory'>,
  fs: TreeSource,
  reader: ScriptReader,
): Promise<Pins> {
  let all: Pins = { scripts: {}, complete: true };
  for (const directory of hookDirectories(place)) {
    const found = await filesOfHooks(fs, directory);
    if (typeof found === 'string') {
      reader.noteLarge(directory, found);
      const name = toPosix(relative(place.root, directory));
      all = { scripts: { ...all.scripts, [name]: found }, complete: false };
      continue;
    }
    const { scripts, complete } = await digestsOf(found, place.root, reader);
    all = { scripts: { ...all.scripts, ...scripts }, complete: all.complete && complete };
  }
  return all;
}

/** The files of a directory of hooks; a text that changes with them where they are too many to be read. */
async function filesOfHooks(
  fs: TreeSource,
  directory: string,
): Promise<readonly string[] | string> {
  const tree = await filesBelow(fs, directory, { skipped: new Set(['.git']) });
  const files = tree.files.filter((file) => !isLog(file));
  const stats = new Map<string, FileStat | undefined>();
  let bytes = 0;
  for (const file of files) {
    const stat = await fs.stat(file).catch(() => undefined);
    stats.set(file, stat);
    bytes += stat?.size ?? 0;
  }
  const isWhole = !tree.cut && tree.unreadable.length === 0;
  if (isWhole && files.length <= MOST_HOOK_FILES && bytes <= MOST_HOOK_BYTES) return files;
  // fail-closed: what is not read is not known, so trust in it is not kept.
  const marks = [...stats].map(([file, stat]) => [
    file,
    stat?.size,
    stat?.mtimeMs,
    stat?.ctimeMs,
    stat?.inode,
  ]);
  return sha256(JSON.stringify([tree.cut, tree.unreadable, marks]));
}

/** The content of files, by their path from the project's root. */
export async function digestsOf(
  files: readonly string[],
  root: string,
  reader: Pick<ScriptReader, 'digestOf'>,
): Promise<Pins> {
  const scripts: Record<string, string> = {};
  let complete = true;
  for (const file of files) {
    const name = toPosix(relative(root, file));
    if (Object.hasOwn(scripts, name)) continue;
    const content = await reader.digestOf(file);
    if (content === undefined) continue;
    scripts[name] = content;
    if (content === UNREADABLE) complete = false;
  }
  return { scripts, complete };
}

/**
 * The first file among those that a command hook stands for that is not as it was when the hook was
 * accepted; undefined when all are. They are read, so that no time of a file has to be believed.
 */
export async function changedScript(
  commands: readonly string[],
  place: PinPlace,
  { fs, accepted }: { readonly fs: TreeSource & ScriptFiles; readonly accepted: SeenScripts },
): Promise<string | undefined> {
  const now = openScripts(fs);
  const named = candidates(commands, place);
  // fail-closed: a command that may name more files than are looked at is not known whole.
  if (named === undefined) return place.directory;
  await digestsOf(named, place.root, now);
  await hookScripts(place, fs, now);
  const { files, large } = now.seen;
  // What has gone may have been what a guard looked things up in.
  const directories = hookDirectories(place).filter((directory) => !large.has(directory));
  for (const file of accepted.files.keys()) {
    const isHook = directories.some((directory) => isInside(file, directory)) && !isLog(file);
    if (isHook) await now.digestOf(file);
  }
  // fail-closed: a script that nobody has looked at is a changed one, too.
  const changed = [...files].find(([file, digest]) => digest !== accepted.files.get(file));
  const other = [...large].find(([directory, mark]) => mark !== accepted.large.get(directory));
  return changed?.[0] ?? other?.[0];
}

function isLog(file: string): boolean {
  return file.toLowerCase().endsWith('.log');
}

/** Undefined when there are more than are looked at. */
function candidates(commands: readonly string[], place: PinPlace): readonly string[] | undefined {
  const bases = [...new Set([place.level, place.root, place.directory])];
  const words = commands
    .flatMap((command) => command.replace(/\\(.)/g, '$1').split(/[\s'"`;|&()<>=,{}[\]]+/))
    .concat(
      commands.flatMap((command) => command.match(/\$\{?\w+\}?["']?\/[^\s'"`;|&()<>]+/g) ?? []),
    )
    .filter((word) => word.includes('/') || word.includes('.'));
  const each = new Set(words);
  if (each.size > MOST_WORDS) return undefined;
  const paths = [...each]
    .flatMap((word) => {
      const path = word.replace(/^["']?\$\{?\w+\}?["']?\/?/, './');
      return bases.map((base) => resolve(base, path));
    })
    .filter((path) => isUnderClaude(path, place));
  return [...new Set(paths)];
}

function isUnderClaude(path: string, place: PinPlace): boolean {
  return [place.level, place.root].some((base) => isInside(path, join(base, '.claude')));
}
