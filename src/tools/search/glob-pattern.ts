import { systemCodeOf } from '../../errors.js';
import { expandAll } from '../../lib/patterns/braces.js';
import { ANY_DEPTH, namePatternOf, namesFit } from '../../lib/patterns/name-pattern.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import { nextTurn } from '../../platform/turns.js';

/**
 * File name patterns: `*`, `?`, `[a-z]`, `[!a-z]`, `**` as a whole segment, `{a,b}`, `\\` before a
 * character that stands for itself. `*` also matches names that begin with a dot. Matching takes
 * time in proportion to pattern and path, whatever the pattern.
 */
export interface GlobPattern {
  /** Leading segments without wildcards: where the search starts. */
  readonly base: readonly string[];
  /** How deep below the base a match can be. */
  readonly depth: number;
  /** Takes the segments of a path below the base. */
  matches(segments: readonly string[]): boolean;
}

/** One pattern for each combination of braces. Throws nothing: an unclosed bracket is itself. */
export function parseGlob(pattern: string): GlobPattern[] {
  return expandAll([pattern]).map(parseOne);
}

/** Whether a pattern names this segment itself, as in `node_modules/x/*`. */
export function namesSegment(pattern: string, segment: string): boolean {
  return expandAll([pattern]).some((one) => one.split('/').includes(segment));
}

function parseOne(pattern: string): GlobPattern {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.');
  const firstWild = segments.findIndex((segment) => /[*?[\\]/.test(segment));
  // The last segment is matched even when it is plain, so that it is looked up as a file.
  const baseLength = Math.min(firstWild === -1 ? segments.length : firstWild, segments.length - 1);
  const steps = segments
    .slice(Math.max(0, baseLength))
    .map((name) => namePatternOf(name) ?? namePatternOf(withoutSets(name)) ?? []);
  return {
    base: segments.slice(0, Math.max(0, baseLength)),
    depth: steps.includes(ANY_DEPTH) ? Number.POSITIVE_INFINITY : steps.length,
    matches: (names) => namesFit(steps, names),
  };
}

/** With every bracket standing for itself. */
function withoutSets(name: string): string {
  return name.replace(/(\\.)|\[/gs, (_, escaped) => escaped ?? '\\[');
}

export interface Walk {
  readonly root: string;
  /** Names of directories not to enter. */
  readonly skip: ReadonlySet<string>;
  readonly isOver: () => boolean;
}

interface Walked {
  readonly paths: readonly string[];
  readonly timedOut: boolean;
}

/** Directories read between two turns of the event loop. */
const DIRECTORIES_AT_ONCE = 64;

/**
 * Files below the root that match any of the patterns. Links to directories are not entered, so
 * there are no loops and nothing outside the root is listed.
 */
export async function walk(
  fs: FileSystem,
  patterns: readonly GlobPattern[],
  options: Walk,
): Promise<Walked> {
  const paths = new Set<string>();
  let read = 0;
  for (const group of groupByBase(patterns)) {
    const start = { directory: join(options.root, ...group.base), below: [] as string[] };
    const open = [start];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (options.isOver()) return { paths: [...paths], timedOut: true };
      if (++read % DIRECTORIES_AT_ONCE === 0) await nextTurn();
      for (const entry of await listOrNothing(fs, next.directory)) {
        const below = [...next.below, entry.name];
        const path = join(next.directory, entry.name);
        if (entry.kind === 'directory') {
          const enter = below.length < group.depth && !options.skip.has(entry.name);
          if (enter) open.push({ directory: path, below });
        } else if (group.patterns.some((pattern) => pattern.matches(below))) {
          paths.add(path);
        }
      }
    }
  }
  return { paths: [...paths], timedOut: false };
}

interface Group {
  readonly base: readonly string[];
  readonly patterns: GlobPattern[];
  depth: number;
}

/** Alternatives that start in the same place share one walk. */
function groupByBase(patterns: readonly GlobPattern[]): Iterable<Group> {
  const groups = new Map<string, Group>();
  for (const pattern of patterns) {
    const key = pattern.base.join('/');
    const group = groups.get(key) ?? { base: pattern.base, patterns: [], depth: 0 };
    group.patterns.push(pattern);
    group.depth = Math.max(group.depth, pattern.depth);
    groups.set(key, group);
  }
  return groups.values();
}

async function listOrNothing(fs: FileSystem, directory: string): ReturnType<FileSystem['list']> {
  try {
    return await fs.list(directory);
  } catch (thrown) {
    // The search skips directories that cannot be entered or are gone.
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'EPERM') return [];
    throw thrown;
  }
}
