import { isInside } from '../../platform/fs/paths.js';
import type { KnownDirectories } from './discovery.js';
import type { LoadContext } from './load-context.js';
import { enforcingResult, isAdmitted, type LoadResult, newResult } from './load-result.js';
import { directoriesTowards, isDirectory, toProjectPath } from './places.js';
import type { LoadCause, WaitingRule } from './types.js';

/** What the use of files brings that was not shown yet. */
export async function touchedIn(
  context: LoadContext,
  { seen, waiting }: LoadResult,
  { paths, signal }: { readonly paths: readonly string[]; readonly signal: AbortSignal },
): Promise<LoadResult> {
  const found = newResult(seen);
  for (const path of paths) {
    signal.throwIfAborted();
    // Listing a directory is not yet working in it.
    if (await isDirectory(context.fs, path)) continue;
    await takeTowards(context, path, { found, waiting, itself: false });
  }
  return found;
}

/** The same for what is enforced, whatever was shown before: restrictions do not fade. */
export async function enforcedForPaths(
  context: LoadContext,
  { waiting }: LoadResult,
  { paths, known }: { readonly paths: readonly string[]; readonly known?: KnownDirectories },
): Promise<LoadResult> {
  const found = enforcingResult();
  for (const path of paths) {
    const itself = await isDirectory(context.fs, path);
    await takeTowards(context, path, { found, waiting, itself, known });
  }
  return found;
}

/** These paths, also as the files see them. */
export function namesIn(
  { projects }: Pick<LoadContext, 'projects'>,
  paths: readonly string[],
): readonly string[] {
  const found = paths.flatMap((path) => projects.map((project) => toProjectPath(path, project)));
  return [...new Set([...paths, ...found])];
}

/** Loads the instruction files of the directories down to a path, and the rules whose patterns match it. */
async function takeTowards(
  { projects, discovery, loader }: LoadContext,
  path: string,
  into: {
    readonly found: LoadResult;
    readonly waiting: readonly WaitingRule[];
    readonly itself: boolean;
    readonly known?: KnownDirectories;
  },
): Promise<void> {
  const { found, waiting, itself, known } = into;
  for (const project of projects) {
    const target = toProjectPath(path, project);
    if (!isInside(target, project.root)) continue;
    const nested: LoadCause = { reason: 'nested_traversal', trigger: path };
    for (const directory of directoriesTowards(target, project, { itself })) {
      await discovery.nested(directory, nested, found, known);
    }
    for (const rule of [...waiting, ...found.waiting]) {
      const isKnown = found.seen.has(rule.real) && isAdmitted(found, rule.place, rule.real);
      if (isKnown || !rule.fits(target)) continue;
      const by: LoadCause = { reason: 'path_glob_match', trigger: path, when: rule };
      await loader.take(rule.place, by, found);
    }
  }
}
