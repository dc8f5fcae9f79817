import { systemCodeOf } from '../../errors.js';
import { type IgnoreRules, parseIgnoreRules } from '../../lib/patterns/ignore-rules.js';
import { dirname, nearestRepository, relative, resolve } from '../../platform/fs/paths.js';
import type { TreeSkips } from '../shell/effects/recursion.js';
import type { PathFileSystem } from './paths.js';

/** Rules of one ignore file, with where it stands. */
interface IgnoreFile {
  readonly directory: string;
  readonly rules: IgnoreRules;
  /** Whose: git's own, or of programs that search. */
  readonly of: 'git' | 'search';
}

/** The ignore files that count in a directory. */
export interface Ignores {
  /** The deepest first. */
  readonly files: readonly IgnoreFile[];
  /** Whether it lies in a repository: only there git's own count. */
  readonly inRepository: boolean;
}

export const NO_IGNORES: Ignores = { files: [], inRepository: false };

const NAMES: ReadonlyMap<string, IgnoreFile['of']> = new Map([
  ['.gitignore', 'git'],
  ['.ignore', 'search'],
  ['.rgignore', 'search'],
]);
const LONGEST_FILE = 1024 * 1024;

/** Those above a directory, up to its repository; none counts for git where there is no repository. */
export async function ignoresAbove(
  fs: PathFileSystem,
  directory: string,
  home: string,
): Promise<Ignores> {
  const root = nearestRepository(directory);
  const files: IgnoreFile[] = [];
  for (let at = directory; at !== root && at !== dirname(at); ) {
    at = dirname(at);
    files.push(...(await filesIn(fs, at, [...NAMES.keys()])));
  }
  if (root === undefined) return { files: files.filter(ofSearches), inRepository: false };
  const shared = [resolve(root, '.git/info/exclude'), resolve(home, '.config/git/ignore')];
  for (const file of shared) files.push(...(await read(fs, { file, directory: root, of: 'git' })));
  return { files, inRepository: true };
}

/** Those that count one directory further down, by the names that are in it. */
export async function ignoresIn(
  fs: PathFileSystem,
  { directory, names }: { readonly directory: string; readonly names: readonly string[] },
  above: Ignores,
): Promise<Ignores> {
  const isRoot = names.includes('.git');
  const own = await filesIn(fs, directory, names);
  if (!isRoot && own.length === 0) return above;
  const inRepository = isRoot || above.inRepository;
  // What git ignores in one repository says nothing about another inside it.
  const counts = (file: IgnoreFile): boolean => ofSearches(file) || file.directory === directory;
  const outer = isRoot ? above.files.filter(counts) : above.files;
  return { files: [...(inRepository ? own : own.filter(ofSearches)), ...outer], inRepository };
}

function ofSearches({ of }: IgnoreFile): boolean {
  return of === 'search';
}

async function filesIn(
  fs: PathFileSystem,
  directory: string,
  names: readonly string[],
): Promise<readonly IgnoreFile[]> {
  const found: IgnoreFile[] = [];
  for (const name of names) {
    const of = NAMES.get(name);
    if (of === undefined) continue;
    found.push(...(await read(fs, { file: resolve(directory, name), directory, of })));
  }
  return found;
}

/** fail-closed: what is not known may take anything in again. */
const TAKES_ALL_IN: IgnoreRules = { isWhole: false, verdict: () => false };

async function read(
  fs: PathFileSystem,
  { file, directory, of }: { file: string; directory: string; of: IgnoreFile['of'] },
): Promise<readonly IgnoreFile[]> {
  try {
    const rules = parseIgnoreRules(await fs.readText(file, { maxBytes: LONGEST_FILE }));
    return [{ directory, of, rules: rules.isWhole ? rules : TAKES_ALL_IN }];
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    const isAbsent = code === 'ENOENT' || code === 'ENOTDIR';
    return isAbsent ? [] : [{ directory, of, rules: TAKES_ALL_IN }];
  }
}

/** Whether a program that goes by such files surely leaves this out; its directory is not left out. */
export function isLeftOut(
  entry: { readonly path: string; readonly name: string; readonly isDirectory: boolean },
  skips: TreeSkips,
  { files }: Ignores,
): boolean {
  const isHidden = skips.hidden === true && entry.name.startsWith('.');
  if ((!isHidden && skips.ignored === undefined) || skips.shown?.(entry.name) === true)
    return false;
  const verdicts = files.map(({ directory, rules, of }) => ({
    of,
    out: rules.verdict(relative(directory, entry.path).split('/'), entry.isDirectory),
  }));
  const search = verdicts.filter(({ of }) => of === 'search');
  // fail-closed: one file that takes it in again is enough, whichever would decide.
  if (skips.ignored !== 'git' && search.some(({ out }) => out === false)) return false;
  const git = verdicts.find(({ of, out }) => of === 'git' && out !== undefined)?.out;
  if (isHidden) return git !== false;
  return git === true;
}
