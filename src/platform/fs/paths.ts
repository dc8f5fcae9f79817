/**
 * All path handling. Paths are native to the machine that runs the program: POSIX on Linux and
 * macOS; on Windows drive letters, UNC paths and both separators are understood, comparison ignores
 * case, and `toPosix` gives the form that rules and listings use. Everything here is lexical
 * (nothing follows symbolic links) except where a function says that it looks at the disk.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, normalize, relative, resolve, sep } from 'node:path';
import { PortcullisError } from '../../errors.js';

/** The part of an environment that decides where directories are. */
export type DirectoryEnvironment = Readonly<Record<string, string | undefined>>;

export {
  basename,
  delimiter as pathDelimiter,
  dirname,
  extname,
  isAbsolute,
  join,
  relative,
  resolve,
  sep as separator,
} from 'node:path';

/** Removes `.` and `..` and doubled or trailing separators. */
export function normalise(path: string): string {
  const clean = normalize(path);
  const isRoot = dirname(clean) === clean;
  return !isRoot && clean.endsWith(sep) ? clean.slice(0, -1) : clean;
}

/**
 * Whether `child` is `parent` or lies below it, by spelling alone. Resolve symbolic links first
 * where the answer guards something.
 */
export function isInside(child: string, parent: string): boolean {
  const steps = relative(parent, child);
  return steps !== '..' && !steps.startsWith(`..${sep}`) && !isAbsolute(steps);
}

/** Forward slashes, as in rules, globs and listings. A backslash in a POSIX name stays. */
export function toPosix(path: string): string {
  return sep === '\\' ? path.replaceAll('\\', '/') : path;
}

/** `~` and `~/x`; `~name` is left alone, as no user data base is consulted. */
export function expandHome(path: string, home: string): string {
  if (path === '~') return home;
  const inHome = path.startsWith('~/') || (sep === '\\' && path.startsWith('~\\'));
  return inHome ? join(home, path.slice(2)) : path;
}

/** The path from `base` when that is shorter and stays inside, else the path itself. For display. */
export function displayPath(path: string, base: string): string {
  if (!isInside(path, base)) return path;
  return relative(base, path) || '.';
}

/** Throws where nothing says what it is: an unset HOME and a user that the system does not know. */
export function homeDirectory(env: DirectoryEnvironment = process.env): string {
  if (env.HOME) return env.HOME;
  try {
    return homedir();
  } catch (thrown) {
    throw new PortcullisError('config', 'there is no home directory', {
      remedy: 'Set HOME, or both CLAUDE_CONFIG_DIR and PORTCULLIS_HOME.',
      cause: thrown,
    });
  }
}

/** Where the user's settings, agents, skills and the transcripts are: `CLAUDE_CONFIG_DIR` or `~/.claude`. */
export function configDirectory(env: DirectoryEnvironment = process.env): string {
  return directoryFrom(env.CLAUDE_CONFIG_DIR, '.claude', env);
}

/** Where the program keeps state of its own: `PORTCULLIS_HOME` or `~/.portcullis`. */
export function stateDirectory(env: DirectoryEnvironment = process.env): string {
  return directoryFrom(env.PORTCULLIS_HOME, '.portcullis', env);
}

/** Makes the state directory for its owner alone (0700) when it is missing, and returns it. */
export function makeStateDirectory(env: DirectoryEnvironment = process.env): string {
  const directory = stateDirectory(env);
  const made = mkdirSync(directory, { recursive: true, mode: 0o700 });
  // A strange umask may have taken away what the owner needs.
  if (made !== undefined) chmodSync(directory, 0o700);
  return directory;
}

const LONGEST_SLUG = 200;

/** The name of a project's folder of transcripts; the ecosystem's own, so viewers find it. */
export function projectSlug(cwd: string): string {
  const slug = cwd.replace(/[^A-Za-z0-9]/g, '-');
  if (slug.length <= LONGEST_SLUG) return slug;
  return `${slug.slice(0, LONGEST_SLUG)}-${pathHash(cwd)}`;
}

/**
 * Looks at the disk: the nearest directory upwards that holds `.git` (a worktree's is a file) and
 * whose files count as the project's. A repository of another user above the start directory does
 * not: a `.git` in a directory that many can write would make its owner's files this project's.
 */
export function findRepositoryRoot(start: string): string | undefined {
  const from = resolve(start);
  return upwards(from, (directory) => isOwnRepository(directory, from));
}

/** The same for any owner, as git itself does it. */
export function nearestRepository(start: string): string | undefined {
  return upwards(resolve(start), (directory) => existsSync(join(directory, '.git')));
}

function upwards(start: string, fits: (directory: string) => boolean): string | undefined {
  for (let directory = start; ; ) {
    if (fits(directory)) return directory;
    const parent = dirname(directory);
    if (parent === directory) return undefined;
    directory = parent;
  }
}

/**
 * Looks at the disk: whether a directory is the root of a repository that this user, the
 * administrator or the owner of the start directory has made.
 */
export function isOwnRepository(directory: string, start: string): boolean {
  const dotGit = join(directory, '.git');
  // Also false where the directory may not be searched: it holds no repository that could be used.
  if (!existsSync(dotGit)) return false;
  const me = process.getuid?.();
  if (me === undefined) return true;
  try {
    const owners = [lstatSync(dotGit).uid, statSync(directory).uid];
    const isKnown = (uid: number): boolean => uid === me || uid === 0;
    return owners.every(isKnown) || owners.every((uid) => isKnown(uid) || uid === ownerOf(start));
  } catch {
    // fail-closed: whose it is cannot be told.
    return false;
  }
}

function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

/**
 * Looks at the disk: where a repository's git data is. Follows the `gitdir:` line of the `.git` file
 * that worktrees and submodules have.
 */
export function gitDirectory(repositoryRoot: string): string | undefined {
  const dotGit = join(repositoryRoot, '.git');
  const stat = statSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isDirectory()) return dotGit;
  const target = /^gitdir:\s*(.+?)\s*$/m.exec(textOrUndefined(dotGit) ?? '')?.[1];
  return target === undefined ? undefined : resolve(repositoryRoot, target);
}

/** Looks at the disk: the branch checked out at or above `start`; undefined when detached or no repository. */
export function currentBranch(start: string): string | undefined {
  const root = findRepositoryRoot(start);
  const directory = root === undefined ? undefined : gitDirectory(root);
  if (directory === undefined) return undefined;
  const head = textOrUndefined(join(directory, 'HEAD'));
  // Git itself allows neither spaces nor control characters nor longer names.
  return /^ref:[ \t]*refs\/heads\/([^\s\u0000-\u001f\u007f]{1,250})\s*$/.exec(head ?? '')?.[1];
}

function directoryFrom(set: string | undefined, name: string, env: DirectoryEnvironment): string {
  if (set === undefined || set === '') return join(homeDirectory(env), name);
  return resolve(set.startsWith('~') ? expandHome(set, homeDirectory(env)) : set);
}

/** h = h * 31 + code in signed 32 bits, absolute, base 36: prescribed by the transcript layout. */
function pathHash(text: string): string {
  let hash = 0;
  for (let index = 0; index < text.length; index++) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  }
  return Math.abs(hash).toString(36);
}

/** What git keeps in one line. */
const SMALL_FILE_BYTES = 4096;

function textOrUndefined(path: string): string | undefined {
  try {
    // A repository may come from anyone: reading a pipe or a device here would never end.
    const stat = statSync(path);
    return stat.isFile() && stat.size <= SMALL_FILE_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    // The branch is a convenience; an unreadable repository has none to show.
    return undefined;
  }
}
