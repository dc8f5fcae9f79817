import type { FileSystem } from '../../platform/fs/fs.js';
import { isInside, join } from '../../platform/fs/paths.js';
import type { EnforcedRules } from '../enforced/enforced.js';
import type { LoadContext } from './load-context.js';
import { type LoadResult, newResult } from './load-result.js';
import {
  FOREIGN_FOLDERS,
  isDirectory,
  isForeign,
  type ProjectPlace,
  toProjectPath,
} from './places.js';
import type { NestedFindings } from './report.js';

/** Restrictions in folders below. */
export interface BelowRules extends EnforcedRules {
  /** Which of the paths are directories, also as the files see them. */
  readonly directories: readonly string[];
  /** There are more folders than were looked at. */
  readonly cut: boolean;
}

/** A report is for people: in a project of more folders than this it says that it is not complete. */
const MOST_REPORTED = 5_000;
/** The same for calls that take in a whole directory. */
const MOST_BELOW = 20_000;

/** What each folder below would bring when a file in it is used. */
export async function waitingBelow(
  { fs, projects: [project], discovery }: LoadContext,
  seen: ReadonlySet<string>,
): Promise<NestedFindings> {
  const { directories, cut } = await nestedDirectories(fs, project, MOST_REPORTED);
  const found: { folder: string; result: LoadResult }[] = [];
  const known = new Set(seen);
  for (const folder of directories) {
    const result = newResult(known);
    await discovery.nested(folder, { reason: 'nested_traversal' }, result);
    for (const real of result.seen) known.add(real);
    found.push({ folder, result });
  }
  return { found, cut };
}

/** What the folders in these directories bring, for the sake of what it enforces. */
export async function takeBelow(
  { fs, projects, discovery }: LoadContext,
  paths: readonly string[],
  into: LoadResult,
): Promise<Pick<BelowRules, 'directories' | 'cut'>> {
  const directories: string[] = [];
  let cut = false;
  for (const path of new Set(paths)) {
    if (!(await isDirectory(fs, path))) continue;
    directories.push(path, ...projects.map((project) => toProjectPath(path, project)));
    for (const project of projects) {
      const root = toProjectPath(path, project);
      if (!isInside(root, project.root) || isForeign(root, project)) continue;
      const below = await nestedDirectories(fs, { root, cwd: project.cwd }, MOST_BELOW);
      cut ||= below.cut;
      for (const folder of below.directories) {
        await discovery.nested(folder, { reason: 'nested_traversal', trigger: folder }, into);
      }
    }
  }
  return { directories, cut };
}

const NAMES: ReadonlySet<string> = new Set([
  'CLAUDE.md',
  'CLAUDE.local.md',
  'AGENTS.md',
  '.claude',
]);

/** Folders with instructions that wait for a file in them to be used, outer first. Links are not followed. */
async function nestedDirectories(
  fs: Pick<FileSystem, 'list'>,
  { root, cwd }: Pick<ProjectPlace, 'root' | 'cwd'>,
  most: number,
): Promise<{ readonly directories: readonly string[]; readonly cut: boolean }> {
  const directories: string[] = [];
  const open = [root];
  for (let at = 0; at < open.length; at++) {
    if (at >= most) return { directories, cut: true };
    const path = open[at] ?? root;
    // What cannot be listed cannot be worked in either.
    const entries = await fs.list(path).catch(() => []);
    const hasInstructions = entries.some(({ name }) => NAMES.has(name));
    if (hasInstructions && !isInside(cwd, path)) directories.push(path);
    for (const { name, kind } of entries) {
      const isOpen = kind === 'directory' && name !== '.claude' && !FOREIGN_FOLDERS.has(name);
      if (isOpen) open.push(join(path, name));
    }
  }
  return { directories, cut: false };
}
