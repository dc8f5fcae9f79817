import type { FileSystem } from '../env/fs.js';
import { sha256 } from '../env/hash.js';
import { isInside, join, relative, resolve, toPosix } from '../env/paths.js';
import { filesBelow } from './trust-tree.js';

/** A script that a command names, by its path from the project's root, with the digest of its content. */
export interface Pins {
  readonly scripts: Readonly<Record<string, string>>;
  /** False: some script is there but could not be taken in. */
  readonly complete: boolean;
}

export interface PinPlace {
  readonly fs: Pick<FileSystem, 'stat' | 'readBytes'>;
  /** The project's root. */
  readonly root: string;
  /** The directory whose `.claude` the declaration is in. */
  readonly level: string;
  /** The directory of the file that holds the declaration. */
  readonly directory: string;
}

const MOST_BYTES = 8 * 1024 * 1024;

/**
 * The scripts under a `.claude` directory that commands name. They are part of what is trusted, as
 * such a command stands for its script. What a command reaches in other ways (programs of the
 * project, packages, further scripts) is not seen here.
 */
export async function scriptsOf(commands: readonly string[], place: PinPlace): Promise<Pins> {
  return await digestsOf(candidates(commands, place), place);
}

/** The most that is read of one directory of hooks; a limit, so that a start stays quick. */
const MOST_HOOK_FILES = 2_000;
const MOST_HOOK_BYTES = 64 * 1024 * 1024;

/**
 * Everything in `.claude/hooks`, of the level and of the root. A command hook stands for it, as no
 * command text tells what its script reads or starts. Logs are left out: they are what hooks write.
 */
export async function hookScripts(
  place: Omit<PinPlace, 'fs' | 'directory'> & { readonly fs: PinPlace['fs'] & TreeSource },
): Promise<Pins> {
  const directories = new Set([place.level, place.root].map((base) => join(base, '.claude/hooks')));
  const files: string[] = [];
  let cut = false;
  for (const directory of directories) {
    const tree = await filesBelow(place.fs, directory, { skipped: new Set(['.git']) });
    files.push(...tree.files.filter((file) => !file.toLowerCase().endsWith('.log')));
    cut ||= tree.cut;
  }
  let bytes = 0;
  for (const file of files) bytes += (await place.fs.stat(file).catch(() => undefined))?.size ?? 0;
  // fail-closed: what is not read is not known, so trust in it is not kept.
  if (cut || files.length > MOST_HOOK_FILES || bytes > MOST_HOOK_BYTES) {
    return { scripts: {}, complete: false };
  }
  return await digestsOf(files, place);
}

type TreeSource = Parameters<typeof filesBelow>[0];

/** The content of files, by their path from the project's root. */
export async function digestsOf(
  files: readonly string[],
  place: Pick<PinPlace, 'fs' | 'root'>,
): Promise<Pins> {
  const scripts: Record<string, string> = {};
  let complete = true;
  for (const file of files) {
    const name = toPosix(relative(place.root, file));
    if (Object.hasOwn(scripts, name)) continue;
    const content = await digestOf(place.fs, file);
    if (content === undefined) continue;
    scripts[name] = content;
    if (content === UNREADABLE) complete = false;
  }
  return { scripts, complete };
}

const UNREADABLE = 'unreadable';

function candidates(commands: readonly string[], place: PinPlace): readonly string[] {
  const bases = [...new Set([place.level, place.root, place.directory])];
  return commands
    .flatMap((command) => command.replace(/\\(.)/g, '$1').split(/[\s'"`;|&()<>=,{}[\]]+/))
    .concat(
      commands.flatMap((command) => command.match(/\$\{?\w+\}?["']?\/[^\s'"`;|&()<>]+/g) ?? []),
    )
    .filter((word) => word.includes('/') || word.includes('.'))
    .flatMap((word) => {
      const path = word.replace(/^["']?\$\{?\w+\}?["']?\/?/, './');
      return bases.map((base) => resolve(base, path));
    })
    .filter((path) => isUnderClaude(path, place));
}

function isUnderClaude(path: string, place: PinPlace): boolean {
  return [place.level, place.root].some((base) => isInside(path, join(base, '.claude')));
}

/** Undefined when no file is there. */
async function digestOf(fs: PinPlace['fs'], file: string): Promise<string | undefined> {
  try {
    const stat = await fs.stat(file);
    if (stat?.kind !== 'file') return undefined;
    return sha256(await fs.readBytes(file, { maxBytes: MOST_BYTES }));
  } catch {
    // fail-closed: it is there, and what it does cannot be known.
    return UNREADABLE;
  }
}
