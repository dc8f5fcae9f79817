import { dirname, nearestRepository, relative, resolve } from '../env/paths.js';
import { type IgnoreRules, parseIgnoreRules } from '../util/ignore-rules.js';
import type { PathFileSystem } from './paths.js';
import type { TreeSkips } from './shell/tree-use.js';

/** Rules of one ignore file, with where it stands. */
interface IgnoreFile {
  readonly directory: string;
  readonly rules: IgnoreRules;
  /** Whose: git's own, or of programs that search. */
  readonly of: 'git' | 'search';
}

/** The ignore files that count in a directory, the deepest first. */
export type Ignores = readonly IgnoreFile[];

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
  const found: IgnoreFile[] = [];
  for (let at = directory; at !== root && at !== dirname(at); ) {
    at = dirname(at);
    found.push(...(await ignoresIn(fs, at, [...NAMES.keys()])));
  }
  if (root === undefined) return found.filter(({ of }) => of === 'search');
  const shared = [resolve(root, '.git/info/exclude'), resolve(home, '.config/git/ignore')];
  for (const file of shared) found.push(...(await read(fs, { file, directory: root, of: 'git' })));
  return found;
}

/** Those of a directory itself, by the names that are in it. */
export async function ignoresIn(
  fs: PathFileSystem,
  directory: string,
  names: readonly string[],
): Promise<Ignores> {
  const found: IgnoreFile[] = [];
  for (const name of names) {
    const of = NAMES.get(name);
    if (of === undefined) continue;
    found.push(...(await read(fs, { file: resolve(directory, name), directory, of })));
  }
  return found;
}

async function read(
  fs: PathFileSystem,
  { file, directory, of }: { file: string; directory: string; of: IgnoreFile['of'] },
): Promise<Ignores> {
  try {
    const text = await fs.readText(file, { maxBytes: LONGEST_FILE });
    return [{ directory, of, rules: parseIgnoreRules(text) }];
  } catch {
    // Without it less is left out, and more is looked at.
    return [];
  }
}

/** Whether a program that goes by such files surely leaves this out; its directory is not left out. */
export function isLeftOut(
  entry: { readonly path: string; readonly name: string; readonly isDirectory: boolean },
  skips: TreeSkips,
  ignores: Ignores,
): boolean {
  const isHidden = skips.hidden === true && entry.name.startsWith('.');
  if ((!isHidden && skips.ignored === undefined) || skips.shown?.(entry.name) === true)
    return false;
  const verdicts = ignores.map(({ directory, rules, of }) => ({
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
