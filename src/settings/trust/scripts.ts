import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, relative, resolve, toPosix } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import { filesBelow } from './tree.js';

/** Digests of scripts by their path relative to the root. */
export interface Pins {
  readonly scripts: Readonly<Record<string, string>>;
  /** False when an existing script was unreadable. */
  readonly complete: boolean;
}

interface Level {
  readonly root: string;
  /** The directory whose `.claude` contains the declaration. */
  readonly level: string;
}

export interface PinPlace extends Level {
  /** The directory of the declaring file. */
  readonly directory: string;
}

/**
 * Digests by absolute path; undefined where no file existed. A hook directory too large to read has one
 * digest of names, sizes and times.
 */
export type SeenScripts = ReadonlyMap<string, string | undefined>;

type ScriptFiles = Pick<FileSystem, 'stat' | 'readBytes' | 'list' | 'realPath'>;

const UNREADABLE = 'unreadable';
const MOST_BYTES = 8 * 1024 * 1024;
/** Over all scripts, so that the start stays fast. */
const MOST_OF_ALL = 96 * 1024 * 1024;
/** Limits per hook directory. */
const MOST_HOOK_FILES = 2_000;
const MOST_HOOK_BYTES = 64 * 1024 * 1024;
/** Words per declaration that may be file names. */
const MOST_WORDS = 10_000;

/** Reads a project's scripts once each, within limits. */
export class ScriptReader {
  readonly seen = new Map<string, string | undefined>();
  readonly #fs: ScriptFiles;
  #room = MOST_OF_ALL;

  constructor(fs: ScriptFiles) {
    this.#fs = fs;
  }

  /** Digests a file that a command refers to. */
  async read(file: string): Promise<string | undefined> {
    if (!this.seen.has(file)) this.seen.set(file, await this.#digest(file));
    return this.seen.get(file);
  }

  async pins(files: readonly string[], root: string): Promise<Pins> {
    const scripts: Record<string, string> = {};
    for (const file of files) {
      const digest = await this.read(file);
      if (digest !== undefined) scripts[toPosix(relative(root, file))] = digest;
    }
    return { scripts, complete: !Object.values(scripts).includes(UNREADABLE) };
  }

  /**
   * The scripts below `.claude` that commands name, which belong to the trusted content. Other files that a
   * command reaches are not covered.
   */
  async named(commands: readonly string[], place: PinPlace): Promise<Pins> {
    const files = candidates(commands, place);
    // fail-closed: a command with too many possible files is not fully known.
    if (files === undefined) return { scripts: {}, complete: false };
    return await this.pins(files, place.root);
  }

  /**
   * All files in `.claude/hooks` of the level and root, because a command's text does not show what its
   * script reads or starts. Excludes logs, which hooks write.
   */
  async hooks(place: Level): Promise<Pins> {
    const all: Record<string, string> = {};
    let complete = true;
    for (const directory of hookDirectories(place)) {
      const tree = await filesBelow(this.#fs, directory, { skipped: new Set(['.git']) });
      const files = tree.files.filter((file) => !isLog(file));
      const stats = await Promise.all(
        files.map(async (file) => ({
          file,
          stat: await this.#fs.stat(file).catch(() => undefined),
        })),
      );
      const bytes = stats.reduce((sum, { stat }) => sum + (stat?.size ?? 0), 0);
      const isWhole = !tree.cut && tree.unreadable.length === 0;
      if (isWhole && files.length <= MOST_HOOK_FILES && bytes <= MOST_HOOK_BYTES) {
        const pins = await this.pins(files, place.root);
        Object.assign(all, pins.scripts);
        complete &&= pins.complete;
        continue;
      }
      // fail-closed: trust in partly unread content is not stored.
      complete = false;
      const marks = stats.map(({ file, stat }) => [
        file,
        stat?.size,
        stat?.mtimeMs,
        stat?.ctimeMs,
        stat?.inode,
      ]);
      const mark = sha256(JSON.stringify([tree.cut, tree.unreadable, marks]));
      this.seen.set(directory, mark);
      all[toPosix(relative(place.root, directory))] = mark;
    }
    return { scripts: all, complete };
  }

  async #digest(file: string): Promise<string | undefined> {
    try {
      const stat = await this.#fs.stat(file);
      if (stat?.kind !== 'file') return undefined;
      // fail-closed: unread content is unknown.
      if (stat.size > this.#room) return UNREADABLE;
      const bytes = await this.#fs.readBytes(file, { maxBytes: MOST_BYTES });
      this.#room -= bytes.length;
      return sha256(bytes);
    } catch {
      // fail-closed: the file exists with unknown content.
      return UNREADABLE;
    }
  }
}

/**
 * The first file behind a command hook that changed since acceptance; undefined when none did. Reads the
 * content, because file times can be forged.
 */
export async function changedScript(
  commands: readonly string[],
  place: PinPlace,
  { fs, accepted }: { readonly fs: ScriptFiles; readonly accepted: SeenScripts },
): Promise<string | undefined> {
  const now = new ScriptReader(fs);
  const named = candidates(commands, place);
  // fail-closed: a command with too many possible files is not fully known.
  if (named === undefined) return place.directory;
  await now.pins(named, place.root);
  await now.hooks(place);
  // A removed file may have been a guard's data.
  const directories = hookDirectories(place).filter((directory) => !now.seen.has(directory));
  for (const file of accepted.keys()) {
    const isHook = directories.some((directory) => isInside(file, directory));
    if (isHook && !isLog(file)) await now.read(file);
  }
  // fail-closed: an unexamined script counts as changed.
  return [...now.seen].find(([file, digest]) => digest !== accepted.get(file))?.[0];
}

/** The hook directories that a command hook of a level depends on. */
function hookDirectories({ level, root }: Level): readonly string[] {
  return [...new Set([level, root].map((base) => join(base, '.claude/hooks')))];
}

function isLog(file: string): boolean {
  return file.toLowerCase().endsWith('.log');
}

/** The files below `.claude` that commands may name; undefined above the limit. */
function candidates(
  commands: readonly string[],
  { root, level, directory }: PinPlace,
): readonly string[] | undefined {
  const bases = [...new Set([level, root, directory])];
  const words = commands.flatMap((command) => [
    ...command.replace(/\\(.)/g, '$1').split(/[\s'"`;|&()<>=,{}[\]]+/),
    ...(command.match(/\$\{?\w+\}?["']?\/[^\s'"`;|&()<>]+/g) ?? []),
  ]);
  const each = new Set(words.filter((word) => word.includes('/') || word.includes('.')));
  if (each.size > MOST_WORDS) return undefined;
  const paths = [...each].flatMap((word) => {
    const path = word.replace(/^["']?\$\{?\w+\}?["']?\/?/, './');
    return bases.map((base) => resolve(base, path));
  });
  const isOfProject = (path: string): boolean =>
    [level, root].some((base) => isInside(path, join(base, '.claude')));
  return [...new Set(paths)].filter(isOfProject);
}
