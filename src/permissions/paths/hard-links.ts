import type { DirectoryEntries, FileStat } from '../../platform/fs/fs.js';
import { dirname } from '../../platform/fs/paths.js';
import type { TouchedPath } from '../../tools/tool.js';
import { COPIES, type TreeBudget, treeBudget } from '../gate/budget.js';
import { type PathRule, pathRulesIn, patternsOf, restrictingPath } from '../rules/list.js';
import {
  namesOf,
  type PathPattern,
  type PatternState,
  patternState,
  stepInto,
} from '../rules/path-pattern.js';
import type { RestrictionMatch, Rule } from '../rules/rule.js';
import type { PathFileSystem } from './paths.js';

/** A file that a call touches, and that has other names besides the one it is called by. */
export interface ManyNamed extends TouchedPath {
  readonly file: FileStat;
}

interface LinkPlace {
  readonly disk: Pick<PathFileSystem, 'list' | 'lstat'>;
  /** Directories that rules may be relative to: working directories, the home. */
  readonly bases: readonly string[];
}

/**
 * A restriction holds for a file under each of its names (hard links), not only under the one that the
 * rule fits. Which names a file has no system tells, so the files that rules cover are gone through and
 * compared with it. Few files have several names, and nothing is looked for on behalf of the others.
 */
export async function restrictedTwin(
  rules: readonly Rule[],
  touched: readonly ManyNamed[],
  place: LinkPlace,
): Promise<RestrictionMatch | undefined> {
  const budget = treeBudget();
  let doubt: RestrictionMatch | undefined;
  for (const wanted of touched) {
    const found = await new Search(rules, { wanted, place, budget }).run();
    if (found?.sure === 'yes') return found;
    doubt ??= found;
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
  const budget = treeBudget();
  const keys = new Set<string>();
  let isWhole = true;
  for (const rules of lists) {
    const found = await new Search(rules, { wanted: keys, place, budget }).run();
    isWhole &&= found === undefined;
  }
  return (file) => (keys.has(keyOf(file)) ? 'yes' : isWhole ? 'no' : 'maybe');
}

function keyOf({ device, inode }: FileStat): string {
  return `${device} ${inode}`;
}

/** A directory, and the rules that may cover something in it. */
interface Place {
  readonly directory: string;
  readonly possible: readonly Possible[];
}

interface Possible {
  readonly rule: Rule;
  readonly state: PatternState;
}

type Entry = DirectoryEntries[number];

class Search {
  readonly #rules: readonly Rule[];
  /** One file, or the place for all files with several names that may not be read. */
  readonly #wanted: ManyNamed | Set<string>;
  readonly #disk: LinkPlace['disk'];
  readonly #budget: TreeBudget;
  readonly #queue: Place[];

  constructor(
    rules: readonly Rule[],
    how: {
      readonly wanted: ManyNamed | Set<string>;
      readonly place: LinkPlace;
      readonly budget: TreeBudget;
    },
  ) {
    const { wanted, place, budget } = how;
    this.#rules = rules;
    this.#wanted = wanted;
    this.#disk = place.disk;
    this.#budget = budget;
    const mine = pathRulesIn(rules).filter(
      ({ spec }) => spec.access === 'read' || accessOf(wanted) === 'write',
    );
    this.#queue = [...startsOf(mine, place.bases)];
  }

  async run(): Promise<RestrictionMatch | undefined> {
    let doubt: RestrictionMatch | undefined;
    for (let place = this.#queue.shift(); place !== undefined; place = this.#queue.shift()) {
      const found = await this.#lookInto(place);
      if (found?.sure === 'yes') return found;
      doubt ??= found;
      if (this.#isSpent()) return this.#unseen(place);
    }
    return doubt;
  }

  async #lookInto(place: Place): Promise<RestrictionMatch | undefined> {
    const entries = await this.#entries(place);
    // fail-closed: among files that cannot be looked at may be this one.
    if (entries === undefined) return this.#unseen(place);
    this.#budget.entries -= entries.length;
    let doubt: RestrictionMatch | undefined;
    for (const entry of entries) {
      const possible = place.possible.flatMap(({ rule, state }) => {
        const next = stepInto(state, entry.name);
        return next === undefined ? [] : [{ rule, state: next }];
      });
      if (possible.length === 0) continue;
      const path = `${place.directory === '/' ? '' : place.directory}/${entry.name}`;
      if (entry.kind === 'directory') this.#goInto({ directory: path, possible }, entry);
      else if (entry.kind === 'file') {
        const found = await this.#compare(path);
        if (found?.sure === 'yes') return found;
        doubt ??= found;
      }
      if (this.#isSpent()) break;
    }
    return doubt;
  }

  /** Copies of what lies elsewhere are not gone through for a name that may stand anywhere. */
  #goInto(place: Place, { name }: Entry): void {
    const possible = COPIES.has(name)
      ? place.possible.filter(({ state }) => !isLooking(state))
      : place.possible;
    if (possible.length > 0) this.#queue.push({ ...place, possible });
  }

  async #compare(path: string): Promise<RestrictionMatch | undefined> {
    const wanted = this.#wanted;
    const access = accessOf(wanted);
    const covered = { literal: path, real: path, resolved: [path] };
    const rule = restrictingPath(this.#rules, [{ access, spellings: covered }]);
    if (rule === undefined) return undefined;
    const stat = await this.#seen(path);
    // fail-closed: a file of a rule that cannot be looked at may be this one.
    if (stat === 'unseen') return this.#doubt(rule, path);
    if (stat === undefined) return undefined;
    if (wanted instanceof Set) {
      if (stat.links !== undefined) wanted.add(keyOf(stat));
      return undefined;
    }
    if (keyOf(stat) !== keyOf(wanted.file)) return undefined;
    const detail = `${wanted.spellings.literal} is another name of ${path}`;
    return { rule, sure: 'yes', detail };
  }

  /** Undefined: there is something that cannot be listed. */
  async #entries({ directory, possible }: Place): Promise<readonly Entry[] | undefined> {
    try {
      return await this.#disk.list(directory);
    } catch {
      const stat = await this.#seen(directory);
      if (stat === 'unseen') return undefined;
      if (stat?.kind !== 'directory') return [];
    }
    // Names that are known can be looked at in a directory that shows none.
    const names = possible.map(({ state }) => state.floats || state.wanted[state.at]);
    const known = names.filter((name) => typeof name === 'string');
    if (known.length < names.length) return undefined;
    const found: Entry[] = [];
    for (const name of new Set(known)) {
      const stat = await this.#seen(`${directory}/${name}`);
      if (stat === 'unseen') return undefined;
      if (stat !== undefined) found.push({ name, kind: stat.kind });
    }
    return found;
  }

  /** Undefined: nothing is there. */
  async #seen(path: string): Promise<FileStat | undefined | 'unseen'> {
    try {
      return await this.#disk.lstat(path);
    } catch {
      // Whoever asks takes it for what it may be.
      return 'unseen';
    }
  }

  #isSpent(): boolean {
    return this.#budget.entries < 0 || performance.now() > this.#budget.until;
  }

  #unseen({ directory, possible: [first] }: Place): RestrictionMatch | undefined {
    return first === undefined ? undefined : this.#doubt(first.rule, directory);
  }

  #doubt(rule: Rule, place: string): RestrictionMatch {
    const literal = this.#wanted instanceof Set ? 'a file' : this.#wanted.spellings.literal;
    const detail = `${literal} has other names, and not all of ${place} could be compared with it`;
    return { rule, sure: 'maybe', detail };
  }
}

function accessOf(wanted: ManyNamed | Set<string>): TouchedPath['access'] {
  return wanted instanceof Set ? 'read' : wanted.access;
}

/** It still waits for a name that may come at any depth; what it covers already is gone through. */
function isLooking({ floats, wanted, at }: PatternState): boolean {
  return floats && wanted.length > at + 1;
}

/** The directories that the patterns are relative to, as the disk spells them. */
function startsOf(rules: readonly PathRule[], bases: readonly string[]): Iterable<Place> {
  const directories = new Set(bases.flatMap(upwards));
  const starts = new Map<string, Possible[]>();
  for (const { rule, spec } of rules) {
    for (const pattern of patternsOf(spec)) {
      const { segments, folded } = pattern;
      const possible = { rule, state: patternState({ anchor: [], segments, folded }) };
      for (const directory of directories) {
        if (isAnchor(directory, pattern))
          starts.set(directory, [...(starts.get(directory) ?? []), possible]);
      }
    }
  }
  return [...starts].map(([directory, possible]) => ({ directory, possible }));
}

function isAnchor(directory: string, { anchor, folded }: PathPattern): boolean {
  const names = namesOf(directory, folded);
  return names.length === anchor.length && names.every((name, at) => name === anchor[at]);
}

function upwards(directory: string): readonly string[] {
  const above = dirname(directory);
  return above === directory ? [directory] : [directory, ...upwards(above)];
}
