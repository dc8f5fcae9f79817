import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join, relative, resolve, toPosix } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import { filesBelow } from './tree.js';

/** Digests of scripts, by their paths from the project's root. */
export interface Pins {
  readonly scripts: Readonly<Record<string, string>>;
  /** False: some script is there but could not be read. */
  readonly complete: boolean;
}

/** The level of a project that a declaration belongs to. */
interface Level {
  /** The project's root. */
  readonly root: string;
  /** The directory whose `.claude` the declaration is in. */
  readonly level: string;
}

export interface PinPlace extends Level {
  /** The directory of the file that holds the declaration. */
  readonly directory: string;
}

/**
 * Digests of scripts by absolute path; undefined where nothing was. A directory of hooks that is too
 * large to be read has one for the names, sizes and times of its files.
 */
export type SeenScripts = ReadonlyMap<string, string | undefined>;

type ScriptFiles = Pick<FileSystem, 'stat' | 'readBytes' | 'list' | 'realPath'>;

const UNREADABLE = 'unreadable';
const MOST_BYTES = 8 * 1024 * 1024;
/** Of all scripts together; a limit, so that a start stays quick. */
const MOST_OF_ALL = 96 * 1024 * 1024;
/** The most that is read of one directory of hooks. */
const MOST_HOOK_FILES = 2_000;
const MOST_HOOK_BYTES = 64 * 1024 * 1024;
/** Words of one declaration that may be names of files. */
const MOST_WORDS = 10_000;

/** Reads the scripts of a project, each once, and no more than so much of all. */
export class ScriptReader {
  readonly seen = new Map<string, string | undefined>();
  readonly #fs: ScriptFiles;
  #room = MOST_OF_ALL;

  constructor(fs: ScriptFiles) {
    this.#fs = fs;
  }

  /** Reads a file as one of those that commands stand for. */
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
   * The scripts under a `.claude` directory that commands name. They are part of what is trusted, as
   * such a command stands for its script. What a command reaches in other paths (programs of the
   * project, packages, further scripts) is not seen here.
   */
  async named(commands: readonly string[], place: PinPlace): Promise<Pins> {
    const files = candidates(commands, place);
    // fail-closed: a command that may name more files than are looked at is not known whole.
    if (files === undefined) return { scripts: {}, complete: false };
    return await this.pins(files, place.root);
  }

  /**
   * Everything in `.claude/hooks`, of the level and of the root. A command hook stands for it, as no
   * command text tells what its script reads or starts. Logs are left out: they are what hooks write.
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
      // fail-closed: what is not read is not known, so trust in it is not kept.
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
      // fail-closed: what is not read is not known.
      if (stat.size > this.#room) return UNREADABLE;
      const bytes = await this.#fs.readBytes(file, { maxBytes: MOST_BYTES });
      this.#room -= bytes.length;
      return sha256(bytes);
    } catch {
      // fail-closed: it is there, and what it does cannot be known.
      return UNREADABLE;
    }
  }
}

/**
 * The first file among those that a command hook stands for that is not as it was when the hook was
 * accepted; undefined when all are. They are read, so that no time of a file has to be believed.
 */
export async function changedScript(
  commands: readonly string[],
  place: PinPlace,
  { fs, accepted }: { readonly fs: ScriptFiles; readonly accepted: SeenScripts },
): Promise<string | undefined> {
  const now = new ScriptReader(fs);
  const named = candidates(commands, place);
  // fail-closed: a command that may name more files than are looked at is not known whole.
  if (named === undefined) return place.directory;
  await now.pins(named, place.root);
  await now.hooks(place);
  // What has gone may have been what a guard looked things up in.
  const directories = hookDirectories(place).filter((directory) => !now.seen.has(directory));
  for (const file of accepted.keys()) {
    const isHook = directories.some((directory) => isInside(file, directory));
    if (isHook && !isLog(file)) await now.read(file);
  }
  // fail-closed: a script that was never looked at is a changed one, too.
  return [...now.seen].find(([file, digest]) => digest !== accepted.get(file))?.[0];
}

/** The directories of which a command hook of a level stands for everything. */
function hookDirectories({ level, root }: Level): readonly string[] {
  return [...new Set([level, root].map((base) => join(base, '.claude/hooks')))];
}

function isLog(file: string): boolean {
  return file.toLowerCase().endsWith('.log');
}

/** The files under `.claude` that commands may name; undefined when there are more than are looked at. */
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
