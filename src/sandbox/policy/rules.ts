import {
  ANY_DEPTH,
  matchesPath,
  type PathPattern,
  type PatternBase,
  parsePathPattern,
  type Segment,
} from '../../permissions/rules/path-pattern.js';
import type { Rule } from '../../permissions/rules/rules.js';
import { isInside, join, relative, resolve } from '../../platform/fs/paths.js';
import type { Finder } from './find.js';

/** What a path rule covers: one path with everything below, or the results of a search. */
export type Spot =
  | { readonly kind: 'place'; readonly path: string }
  | {
      readonly kind: 'search';
      readonly start: string;
      /** Unlimited when absent. */
      readonly depth?: number;
      /** The text of its rule. */
      readonly spec: string;
      matches(path: string): boolean;
    };

/** The spots of a restriction; an ambiguous rule covers both readings. */
export function restrictedSpots(rule: Rule, base: Omit<PatternBase, 'root'>): readonly Spot[] {
  const spec = specOf(rule);
  if (spec === undefined || rule.spec.kind !== 'path') return [];
  const place = { ...base, root: rule.origin.value.root };
  const first = spotOf(spec, place, rule.spec.pattern);
  const { also } = rule.spec;
  return also === undefined ? [first] : [first, spotOf(`/${spec}`, place, also)];
}

/** The tree that a grant opens; undefined when it is not a whole tree. */
export function grantedTree(rule: Rule): string | undefined {
  if (rule.spec.kind !== 'path') return undefined;
  const { folded, place, segments } = rule.spec.pattern;
  // The files that wildcards match are unknown before the command runs.
  const isPlain = withoutTail(segments).every((name) => typeof name === 'string');
  return isPlain && !folded ? place : undefined;
}

/** Parses a path from a settings file, including wildcards. */
export function spotOfPath(path: string, base: Omit<PatternBase, 'root'>): Spot {
  const spec = `/${path}`;
  const place = { ...base, root: base.cwd };
  return spotOf(spec, place, parsePathPattern(spec, place, { use: 'restrict' }));
}

/** Maps spots to worktrees of the checkout, because a restriction also covers copies. */
export function spotsInTrees(
  spots: readonly Spot[],
  checkout: string,
  trees: readonly string[],
): readonly Spot[] {
  return trees.flatMap((tree) => {
    const there = (path: string): string => join(tree, relative(checkout, path));
    return spots.flatMap((spot): readonly Spot[] => {
      if (spot.kind === 'place') {
        return isInside(spot.path, checkout) ? [{ ...spot, path: there(spot.path) }] : [];
      }
      const { start, matches } = spot;
      // A search that starts above the checkout passes through it.
      if (!isInside(start, checkout) && !isInside(checkout, start)) return [];
      return [
        {
          ...spot,
          start: isInside(start, checkout) ? there(start) : tree,
          matches: (path) => matches(join(checkout, relative(tree, path))),
        },
      ];
    });
  });
}

/** The paths that the spots cover at present. */
export async function resolveSpots(
  spots: readonly Spot[],
  finder: Finder,
): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const spot of spots) {
    if (spot.kind === 'place') {
      paths.push(spot.path);
      continue;
    }
    const found = await finder.find({
      start: spot.start,
      depth: spot.depth,
      wanted: `all that ${spot.spec} names`,
      entersAll: true,
      take: (path) => spot.matches(path),
    });
    for (const path of found) paths.push(path);
  }
  return paths;
}

function specOf({ text }: Rule): string | undefined {
  return /^[^(]*\((.*)\)\s*$/s.exec(text)?.[1]?.trim();
}

function spotOf(spec: string, base: PatternBase, pattern: PathPattern): Spot {
  // Restrictions fold case, so the exact names come from parsing it as a grant.
  const exact = parsePathPattern(spec, base, { use: 'grant' });
  const anchor = resolve('/', ...exact.anchor);
  const names = withoutTail(pattern.segments);
  const isFloating = names[0] === ANY_DEPTH;
  const plain = isFloating ? 0 : plainCount(names);
  const start = join(anchor, ...plainNames(exact.segments, plain));
  if (!isFloating && plain === names.length) return { kind: 'place', path: start };
  const rest = names.slice(plain);
  const depth = rest.includes(ANY_DEPTH) ? undefined : rest.length;
  return { kind: 'search', start, depth, spec, matches: (path) => matchesPath(pattern, path) };
}

/** `dir/**` and `dir/*` cover the whole directory. */
function withoutTail(segments: readonly Segment[]): readonly Segment[] {
  const last = segments.at(-1);
  const isAll =
    last === ANY_DEPTH || (Array.isArray(last) && last.length === 1 && last[0]?.kind === 'star');
  return isAll && segments.length > 1 ? withoutTail(segments.slice(0, -1)) : segments;
}

function plainCount(names: readonly Segment[]): number {
  const at = names.findIndex((name) => typeof name !== 'string');
  return at === -1 ? names.length : at;
}

function plainNames(segments: readonly Segment[], count: number): readonly string[] {
  return segments.slice(0, count).filter((name) => typeof name === 'string');
}
