import type { FileStat } from '../../platform/fs/fs.js';
import { dirname } from '../../platform/fs/paths.js';
import type { TouchedPath } from '../../tools/tool.js';
import { pathRulesIn, patternsOf } from '../rules/list.js';
import {
  namesOf,
  type PathPattern,
  type PatternState,
  patternState,
  stepInto,
} from '../rules/path-pattern.js';
import type { RestrictionMatch, Rule } from '../rules/rule.js';
import type { ManyNamed, PathFileSystem, PathJudge } from './paths.js';
import { searchTree, type Tree, type TreeFinding, untilTooLong } from './tree-walk.js';

interface LinkPlace {
  readonly judge: PathJudge;
  /** Directories that rules may be relative to: working directories, the home. */
  readonly bases: readonly string[];
}

/**
 * A restriction holds for a file under each of its names, not only under the one that the rule fits. Which names a
 * file has no system tells, so the files that rules cover are gone through and compared with it.
 */
export async function restrictedTwin(
  rules: readonly Rule[],
  touched: readonly ManyNamed[],
  place: LinkPlace,
): Promise<RestrictionMatch | undefined> {
  const until = untilTooLong();
  let doubt: RestrictionMatch | undefined;
  for (const { access, file, spellings } of touched) {
    const { literal } = spellings;
    const isTwin = (stat: FileStat): boolean => isSameFile(stat, file);
    const found = await searchCovered(rules, place, { access, until, isTwin });
    if (found?.kind === 'covered') {
      const detail = `${literal} is another name of ${found.path}`;
      return { rule: found.rule, sure: 'yes', detail };
    }
    if (found === undefined) continue;
    const detail = `${literal} has other names, and not all files of the rule could be compared with it`;
    doubt ??= { rule: found.rule, sure: 'maybe', detail };
  }
  return doubt;
}

/**
 * Whether a file that has several names has one that rules keep from being read. The files that rules
 * cover are gone through once, for all that a search may find. `maybe`: not all of them could be seen.
 */
export async function readRestrictedTwins(
  lists: readonly (readonly Rule[])[],
  place: LinkPlace,
): Promise<(file: FileStat) => 'yes' | 'maybe' | 'no'> {
  const until = untilTooLong();
  const twins: FileStat[] = [];
  const isTwin = (stat: FileStat): boolean => {
    if (stat.links !== undefined) twins.push(stat);
    return false;
  };
  let isWhole = true;
  for (const rules of lists) {
    const found = await searchCovered(rules, place, { access: 'read', until, isTwin });
    isWhole &&= found === undefined;
  }
  const keys = new Set(twins.map(keyOf));
  return (file) => (keys.has(keyOf(file)) ? 'yes' : isWhole ? 'no' : 'maybe');
}

function keyOf({ device, inode }: FileStat): string {
  return `${device} ${inode}`;
}

export function isSameFile(one: FileStat, other: FileStat): boolean {
  return keyOf(one) === keyOf(other);
}

interface TwinSearch {
  readonly access: TouchedPath['access'];
  readonly until: number;
  isTwin(file: FileStat): boolean;
}

/** Goes through the files that rules cover, from the directories that their patterns are relative to. */
async function searchCovered(
  rules: readonly Rule[],
  { judge, bases }: LinkPlace,
  { access, until, isTwin }: TwinSearch,
): Promise<TreeFinding | undefined> {
  const mine = pathRulesIn(rules).filter(
    ({ spec }) => spec.access === 'read' || access === 'write',
  );
  let doubt: TreeFinding | undefined;
  for (const directory of new Set(bases.flatMap(upwards))) {
    const here = mine.filter(({ spec }) =>
      patternsOf(spec).some((one) => isAnchor(directory, one)),
    );
    if (here.length === 0) continue;
    const rulesHere = here.map(({ rule }) => rule);
    const found = await searchTwin(rulesHere, { directory }, { judge, access, until, isTwin });
    if (found?.kind === 'covered') return found;
    doubt ??= found;
  }
  return doubt;
}

/** Goes through the files below a directory that rules cover. */
export async function searchTwin(
  rules: readonly Rule[],
  tree: Pick<Tree, 'directory' | 'text'> & Partial<Pick<Tree, 'depth' | 'skips'>>,
  { judge, access, until, isTwin }: TwinSearch & Pick<LinkPlace, 'judge'>,
): Promise<TreeFinding | undefined> {
  const patterns = pathRulesIn(rules).flatMap(({ spec }) => patternsOf(spec));
  const disk = { ...judge.disk, list: listing(judge.disk, patterns) };
  const { trees } = judge;
  return await searchTree(
    rules,
    {
      depth: Number.POSITIVE_INFINITY,
      ...tree,
      names: [{ path: tree.directory, access }],
      follows: false,
      // Directories have one name.
      skips: { ...tree.skips, itself: () => false },
      isMeant: async (path) => {
        const stat = await judge.disk.lstat(path);
        return stat !== undefined && isTwin(stat);
      },
    },
    // fail-closed: among files that this user cannot look at may be this one.
    {
      judge: { disk, trees, budget: judge.budget, spell: (path) => judge.spell(path) },
      home: '',
      until,
      elevated: true,
    },
  );
}

/** Names that are known can be looked at in a directory that shows none. */
function listing(disk: PathFileSystem, patterns: readonly PathPattern[]): PathFileSystem['list'] {
  return async (directory) => {
    try {
      // A link to a file is no name of it.
      return (await disk.list(directory)).filter(({ kind }) => kind !== 'symlink');
    } catch (thrown) {
      const names = patterns.flatMap((pattern) => nextName(pattern, directory) ?? []);
      if (names.includes(ANY)) throw thrown;
      const found = [];
      for (const name of new Set(names)) {
        const stat = await disk.lstat(`${directory}/${name}`);
        if (stat !== undefined) found.push({ name, kind: stat.kind });
      }
      return found;
    }
  };
}

/** No name of a file. */
const ANY = '/';

/** The only name in a directory that a pattern fits, or `ANY`; undefined where it fits nothing in there. */
function nextName(pattern: PathPattern, directory: string): string | undefined {
  let state: PatternState | undefined = patternState(pattern);
  for (const name of namesOf(directory, false)) {
    state = state && stepInto(state, name);
  }
  if (state === undefined) return undefined;
  const next = state.floats ? undefined : state.wanted[state.at];
  return typeof next === 'string' ? next : ANY;
}

function isAnchor(directory: string, { anchor, folded }: PathPattern): boolean {
  const names = namesOf(directory, folded);
  return names.length === anchor.length && names.every((name, at) => name === anchor[at]);
}

function upwards(directory: string): readonly string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...upwards(above)];
}
