import { systemCodeOf } from '../../errors.js';
import { trimEnd } from '../../lib/text/trim-end.js';
import { COPIES, TooComplexError } from '../gate/budget.js';
import {
  coveringRule,
  type PathRule,
  pathRulesIn,
  patternsOf,
  restrictedNames,
} from '../rules/list.js';
import {
  mayEndPattern,
  namesOf,
  type PatternState,
  patternState,
  stepInto,
} from '../rules/path-pattern.js';
import type { Rule } from '../rules/rule.js';
import type { Recursion, TreeSkips } from '../shell/effects/recursion.js';
import type { PathJudge, PathSpellings } from './paths.js';
import { type Ignores, ignoresAbove, ignoresIn, isLeftOut, NO_IGNORES } from './tree-ignores.js';

/** A name that something in the tree goes by, and what is done to it under this name. */
export interface TreeName {
  readonly path: string;
  readonly access: 'read' | 'write';
  /** The name is one of the checkout that a working tree is of; nothing is touched there. */
  readonly standIn?: true;
}

export interface Tree extends Pick<Recursion, 'handsOn' | 'also'> {
  /** As the command names it; absent where a pattern stands for it. */
  readonly text?: string;
  /** Where it really is. */
  readonly directory: string;
  readonly names: readonly TreeName[];
  readonly follows: boolean;
  readonly depth: number;
  readonly skips: TreeSkips;
  /** Whether a file that a rule covers counts; where that cannot be told, it is unseen. */
  readonly isMeant?: ((path: string) => Promise<boolean>) | undefined;
  /** Files that git knows, from their real names: those are not looked at. */
  readonly known?: (path: string) => boolean;
}

export type TreeFinding =
  | {
      readonly kind: 'covered';
      readonly rule: Rule;
      readonly path: string;
      readonly access: 'read' | 'write';
      /** The directory that the rule covers it by. */
      readonly within?: string;
    }
  /** There is more than is looked at, or less than can be seen. */
  | { readonly kind: 'unseen'; readonly rule: Rule; readonly why: string };

type Found = TreeFinding | undefined;

const AT_ONCE = 32;

/** A name on the way down; the first of its parts are those of the start, which was asked for. */
interface Way extends TreeName {
  readonly asked: number;
}

/** A rule that may cover something below; `floats`: at any depth. */
interface Possible {
  readonly rule: Rule;
  readonly floats: boolean;
}

interface Place {
  readonly directory: string;
  /** What stands behind the start in its name. */
  readonly below: string;
  readonly ways: readonly Way[];
  readonly depth: number;
  readonly ignores: Ignores;
  /** A rule covers all of it, and any file in it is a file too many. */
  readonly covered?: { readonly rule: Rule; readonly within: string };
  /** It is taken as it is, with all that is in it. */
  readonly isWhole?: boolean;
}

const LONGEST_MS = 2_000;

export function untilTooLong(): number {
  return performance.now() + LONGEST_MS;
}

export interface TreeLook {
  readonly judge: Pick<PathJudge, 'disk' | 'trees' | 'spell' | 'budget'>;
  readonly home: string;
  /** When it takes too long: disks may be slow. */
  readonly until: number;
  /** Whether directories that this user cannot read may be readable for the command. */
  readonly elevated: boolean;
}

/** The first thing in a tree that a rule covers; undefined when there is none. */
export function searchTree(rules: readonly Rule[], tree: Tree, look: TreeLook): Promise<Found> {
  return new Walk(rules, tree, look).search();
}

class Walk {
  readonly #pathRules: readonly PathRule[];
  readonly #tree: Tree;
  readonly #look: TreeLook;
  readonly #seen = new Set<string>();
  readonly #goesByIgnores: boolean;
  readonly #mayBeCovered: (name: string) => boolean;
  #queue: Place[] = [];
  /** Something could not be seen, and what comes later may still be certain. */
  #doubt: Found;

  constructor(rules: readonly Rule[], tree: Tree, look: TreeLook) {
    this.#pathRules = pathRulesIn(rules);
    this.#tree = tree;
    this.#look = look;
    this.#mayBeCovered = mayEndPattern(this.#pathRules.flatMap(({ spec }) => patternsOf(spec)));
    this.#goesByIgnores = tree.skips.hidden === true || tree.skips.ignored !== undefined;
  }

  async search(): Promise<Found> {
    const { directory, names } = this.#tree;
    const ways = names.map(wayOf);
    if (!this.#isWorthALook(ways)) return undefined;
    const { judge, home } = this.#look;
    const ignores = this.#goesByIgnores
      ? await ignoresAbove(judge.disk, directory, home)
      : NO_IGNORES;
    const name = lastName(this.#tree.text ?? directory);
    const isWhole = this.#tree.skips.neverIn?.(name, this.#tree.text) === true;
    const start = { ways, directory, below: '', depth: 0, ignores, isWhole };
    const found = this.#judge(start, { isDirectory: true, startName: name });
    if (found !== undefined) return found;
    while (this.#queue.length > 0) {
      const places = this.#queue.splice(0, AT_ONCE);
      const listed = await Promise.all(places.map((place) => this.#list(place)));
      for (const [at, place] of places.entries()) {
        const entries = listed[at];
        if (entries === 'unseen') {
          this.#doubt ??= this.#unseen('a directory cannot be read');
          continue;
        }
        const finding =
          entries === 'file' ? coveredFile(place) : await this.#entries(place, entries ?? []);
        if (finding !== undefined) return finding;
      }
      if (performance.now() > this.#look.until) {
        return this.#unseen(`looking through ${directory} takes too long`);
      }
    }
    return this.#doubt;
  }

  /** Whether a rule may cover something in there, or a link lead from there to where one does. */
  #isWorthALook(ways: readonly Way[], name = ''): boolean {
    if (this.#tree.also !== undefined || ways.some((way) => this.#possible(way).length > 0)) {
      return true;
    }
    const { trees } = this.#look.judge;
    const follows = this.#tree.follows || this.#tree.handsOn === true;
    const mayLead = (follows && !COPIES.has(name)) || ways.some(({ path }) => trees.leadsTo(path));
    return mayLead && this.#relevant(ways).length > 0;
  }

  /** Where a working tree or a place behind a link begins, its content goes by the names of the rules too. */
  #inCheckout(ways: readonly Way[]): readonly Way[] {
    const known = new Set(ways.map(({ path }) => path));
    return ways.flatMap(({ path, access }) =>
      this.#look.judge.trees
        .standsFor(path)
        .filter((name) => !known.has(name))
        .map((name) => wayOf({ path: name, access, standIn: true })),
    );
  }

  #relevant(names: readonly TreeName[]): readonly PathRule[] {
    const writes = names.some(({ access }) => access === 'write');
    return this.#pathRules.filter(({ spec }) => spec.access === 'read' || writes);
  }

  /** The rules that may cover something below a name. */
  #possible({ path, access, asked }: Way): readonly Possible[] {
    const names = namesOf(path, false);
    return this.#relevant([{ path, access }]).flatMap(({ rule, spec }) =>
      patternsOf(spec).flatMap((pattern) => {
        let state: PatternState | undefined = patternState(pattern);
        for (const [at, name] of names.entries()) {
          if (state === undefined) return [];
          // What is asked for by name is read; removing copies is what they are for.
          const isPassed = at >= asked || access === 'write';
          if (isPassed && state.floats && COPIES.has(name)) return [];
          state = stepInto(state, name);
        }
        return state === undefined ? [] : [{ rule, floats: state.floats }];
      }),
    );
  }

  async #list(place: Place): Promise<Entries | 'file' | 'unseen' | undefined> {
    try {
      return await this.#look.judge.disk.list(place.directory);
    } catch (thrown) {
      if (thrown instanceof TooComplexError) throw thrown;
      const code = systemCodeOf(thrown);
      if (code === 'ENOTDIR') return 'file';
      // A name that is not a text was not read as it is, so it only seems not to be there.
      if (code === 'ENOENT') return place.directory.includes('\ufffd') ? 'unseen' : undefined;
      // What this user cannot read, a command of this user cannot either; but it may be moved or opened.
      const writes = place.ways.some(({ access }) => access === 'write');
      return code === 'EACCES' && !this.#look.elevated && !writes ? undefined : 'unseen';
    }
  }

  async #entries(place: Place, entries: Entries): Promise<Found> {
    const { judge, until } = this.#look;
    const names = this.#goesByIgnores ? entries.map(({ name }) => name) : [];
    const inside = { directory: place.directory, names };
    const ignores = await ignoresIn(judge.disk, inside, place.ignores);
    const here = ignores === place.ignores ? place : { ...place, ignores };
    for (const { name, kind } of entries) {
      if (performance.now() > until) return undefined;
      const finding = await this.#entry(here, name, kind);
      if (finding !== undefined) return finding;
    }
    return undefined;
  }

  async #entry(place: Place, name: string, kind: Kind): Promise<Found> {
    const { skips, follows, known, handsOn = false } = this.#tree;
    const isDirectory = kind === 'directory';
    const isFollowed = kind === 'symlink' && (follows || handsOn);
    const path = below(place.directory, name);
    // Nearly all files end here.
    const mayCount = this.#mayBeCovered(name) || this.#look.judge.trees.leadsTo(path);
    if (!isDirectory && !isFollowed && place.covered === undefined && !mayCount) return undefined;
    const shown = `${place.below}/${name}`;
    const isSkipped = isDirectory ? skips.directory : skips.file;
    if (place.isWhole !== true && isSkipped?.(name, this.#shown(shown)) === true) return undefined;
    if (isLeftOut({ path, name, isDirectory }, skips, place.ignores)) return undefined;
    if (!isDirectory && known?.(path) === true) return undefined;
    const ways = place.ways.map((way) => ({ ...way, path: below(way.path, name) }));
    const isWhole = place.isWhole === true || skips.neverIn?.(name, this.#shown(shown)) === true;
    const finding = this.#judge(
      { ...place, ways, directory: path, below: shown, depth: place.depth + 1, isWhole },
      { isDirectory, name },
    );
    if (finding !== undefined && kind === 'file' && !(await this.#isMeant(path))) return undefined;
    if (finding !== undefined || !isFollowed) return finding;
    return await this.#follow({ ...place, below: shown, isWhole }, { path, ways });
  }

  /** As the command writes it; systems differ in what they make of a slash at the end of the start. */
  #shown(shown: string): string | undefined {
    const { text } = this.#tree;
    return text === undefined || text.endsWith('/') ? undefined : text + shown;
  }

  async #isMeant(file: string): Promise<boolean> {
    try {
      return (await this.#tree.isMeant?.(file)) !== false;
    } catch {
      // fail-closed: what cannot be looked at may be meant.
      this.#doubt ??= this.#unseen(`${file} cannot be looked at`);
      return false;
    }
  }

  /** What a link leads to goes by its real names too. */
  async #follow(
    place: Place,
    { path, ways }: { readonly path: string; readonly ways: readonly Way[] },
  ): Promise<Found> {
    const spelled = await this.#spelled(path);
    if (spelled === 'nowhere') return undefined;
    if (spelled === 'unseen') return this.#unseen(`the link ${path} cannot be followed`);
    const { real } = spelled;
    // What was left out here may count where it is taken as a whole.
    const seenAs = place.isWhole === true ? below(real, '') : real;
    if (this.#seen.has(seenAs)) return undefined;
    this.#seen.add(seenAs);
    const { access } = this.#tree.names[0] ?? { access: 'read' };
    const others = restrictedNames(spelled).map((one) => ({ path: one, access }));
    const all = [...ways, ...others].map(wayOf);
    const rule = coveringRule(this.#pathRules, touched(all), this.#look.judge.budget);
    if (rule !== undefined) return { kind: 'covered', rule, path, access };
    const depth = place.depth + 1;
    const goesOn = this.#tree.follows && (depth < this.#tree.depth || place.isWhole === true);
    if (goesOn && this.#isWorthALook(all)) {
      this.#queue.push({ ...place, directory: real, ways: all, depth, covered: undefined });
    }
    return undefined;
  }

  /** A link that leads in a circle leads nowhere, for every program. */
  async #spelled(path: string): Promise<PathSpellings | 'nowhere' | 'unseen'> {
    try {
      return await this.#look.judge.spell(path);
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      return code === 'ELOOP' || code === 'ENOENT' ? 'nowhere' : 'unseen';
    }
  }

  /** Whether a rule covers it; where that may be so further down, it is looked at later. */
  #judge(place: Place, { isDirectory, name, startName }: Entry): Found {
    const [first] = place.ways;
    const others = this.#inCheckout(place.ways);
    const renamed = this.#renamed(place, name ?? startName ?? '');
    const all = [...place.ways, ...others, ...renamed];
    const { budget } = this.#look.judge;
    const rule = place.covered?.rule ?? coveringRule(this.#pathRules, touched(all), budget);
    const isCovered = (one: Way): boolean =>
      coveringRule(this.#pathRules, touched([one]), budget) !== undefined;
    const way = (rule === undefined ? undefined : all.find(isCovered)) ?? first;
    const { access } = way ?? { access: 'read' as const };
    const path = (way?.standIn === true ? first : way)?.path ?? place.directory;
    const within = place.covered?.within;
    const isChanged = !isDirectory || this.#isChangedItself(access, place, name ?? startName ?? '');
    if (rule !== undefined && isChanged) {
      return { kind: 'covered', rule, path, access, within };
    }
    if (!isDirectory || (place.depth >= this.#tree.depth && place.isWhole !== true))
      return undefined;
    const ways = [...place.ways, ...others];
    if (rule !== undefined && (rule.spec.kind !== 'path' || rule.spec.isMeant === undefined)) {
      this.#queue.push({ ...place, ways, covered: { rule, within: within ?? path } });
    } else if (this.#isWorthALook(ways, name)) {
      this.#queue.push({ ...place, ways });
    }
    return undefined;
  }

  /** Reading takes files; a change takes directories too, unless only some files are meant. */
  #isChangedItself(access: 'read' | 'write', place: Place, name: string): boolean {
    const { file, itself } = this.#tree.skips;
    if (access !== 'write') return false;
    if (place.isWhole === true) return itself !== undefined || file === undefined;
    return itself?.(name, this.#shown(place.below)) ?? file === undefined;
  }

  /** The other names under which it is written. */
  #renamed({ ways: [way], below: behind }: Place, name: string): readonly Way[] {
    if (way === undefined || this.#tree.also === undefined) return [];
    const text = this.#shown(behind) ?? way.path;
    return this.#tree
      .also({ path: way.path, name, text })
      .map((path) => wayOf({ path, access: 'write' }));
  }

  #unseen(why: string): Found {
    const { names } = this.#tree;
    const possible = names.flatMap((name) => this.#possible(wayOf(name)));
    const found = possible.find(({ floats }) => floats) ?? possible[0];
    const { rule } = found ?? this.#relevant(names)[0] ?? {};
    return rule === undefined ? undefined : { kind: 'unseen', rule, why };
  }
}

interface Entry {
  readonly isDirectory: boolean;
  readonly name?: string;
  readonly startName?: string;
}

function wayOf(name: TreeName): Way {
  return { ...name, asked: namesOf(name.path, false).length };
}

/** The name by which find tests its start: of `a/b/` it is `b`, of `.` the dot. */
function lastName(text: string): string {
  return trimEnd(text, '/').split('/').at(-1) || '/';
}

type Entries = Awaited<ReturnType<PathJudge['disk']['list']>>;
type Kind = Entries[number]['kind'];

/** Where a tree was expected to begin there is a file. */
function coveredFile({ ways: [way], covered }: Place): Found {
  if (covered === undefined || way === undefined) return undefined;
  return { kind: 'covered', rule: covered.rule, path: way.path, access: way.access };
}

function below(directory: string, name: string): string {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

function touched(names: readonly TreeName[]): Parameters<typeof coveringRule>[1] {
  return names.map(({ path, access }) => ({
    access,
    spellings: { literal: path, real: path, resolved: [path] },
  }));
}
