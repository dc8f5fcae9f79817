import { lstatSync, readFileSync } from 'node:fs';
import { type IgnoreRules, parseIgnoreRules } from '../../lib/ignore-rules.js';
import { findRepositoryRoot, isInside, join, relative } from '../../platform/fs/paths.js';
import { isRacyTime } from './known-tree.js';

/** Files that say what is left out of their directory; the later one wins. */
const IGNORE_FILES: readonly string[] = ['.gitignore', '.ignore'];
/** Never tracked, whatever any file says: git's own files, and what a package manager can bring back. */
const NEVER = new Set(['.git', 'node_modules']);
const LONGEST_FILE = 1024 * 1024;

interface RuleFile {
  readonly path: string;
  /** Undefined: it changed so lately that the next change may look the same. */
  readonly stamp: string | undefined;
  readonly text: string;
  readonly rules: IgnoreRules;
}

/** A file above the root, with the names from its directory to the root. */
interface RuleFileAbove {
  readonly file: RuleFile;
  readonly way: readonly string[];
}

/**
 * `uncovered`: it was left out by the rules from before the look, and no longer is.
 */
export type Judgement = 'tracked' | 'left-out' | 'uncovered';

/**
 * What is left out of a tree: the rules of ignore files at and above a path, the deepest deciding.
 * Rules that change hide nothing that was made before the look that finds them changed.
 */
export class TreeIgnore {
  readonly #root: string;
  readonly #honoursFiles: boolean;
  readonly #excluded: ReadonlySet<string>;
  /** By directory, from the root; empty lists are kept too. */
  readonly #inTree = new Map<string, readonly RuleFile[]>();
  /** Of the directories above the root, and git's own list; with the names from there to the root. */
  #above: readonly RuleFileAbove[] = [];
  /** What was there before this look, where it is not what is there now. */
  readonly #inTreeBefore = new Map<string, readonly RuleFile[]>();
  #aboveBefore: readonly RuleFileAbove[] | undefined;
  /** The first look has no rules from before it. */
  #isFirst = true;
  readonly #repository: string | undefined;

  constructor(root: string, options: { honoursFiles: boolean; excluded: readonly string[] }) {
    this.#root = root;
    this.#honoursFiles = options.honoursFiles;
    this.#repository = options.honoursFiles ? findRepositoryRoot(root) : undefined;
    this.#excluded = new Set(
      options.excluded
        .filter((path) => path !== root && isInside(path, root))
        .map((path) => relative(root, path)),
    );
  }

  isNever(path: string, name: string): boolean {
    return NEVER.has(name) || (this.#excluded.size > 0 && this.#excluded.has(path));
  }

  get excluded(): ReadonlySet<string> {
    return this.#excluded;
  }

  /** What has been read so far are the rules from before the look that comes now. */
  startLook(isFirst: boolean): void {
    this.#isFirst = isFirst;
    this.#inTreeBefore.clear();
    this.#aboveBefore = undefined;
  }

  /** Reads the files above the root again. */
  refreshAbove(): void {
    const repository = this.#repository;
    if (repository === undefined || !isInside(this.#root, repository)) return;
    const names = relative(repository, this.#root)
      .split('/')
      .filter((name) => name !== '');
    const places = [{ path: join(repository, '.git/info/exclude'), way: names }];
    for (let depth = 0; depth < names.length; depth++) {
      const directory = join(repository, ...names.slice(0, depth));
      for (const name of IGNORE_FILES) {
        places.push({ path: join(directory, name), way: names.slice(depth) });
      }
    }
    const before = this.#above;
    const old = before.map(({ file }) => file);
    this.#above = places.flatMap(({ path, way }) => {
      const file = readRuleFile(path, old);
      return file === undefined ? [] : [{ file, way }];
    });
    const now = this.#above.map(({ file }) => file);
    if (!this.#isFirst && !areSame(old, now)) this.#aboveBefore ??= before;
  }

  /** Files that are not tracked themselves, and are not what they were before this look; from the root. */
  changedAbove(): string[] {
    if (this.#aboveBefore === undefined) return [];
    const textsOf = (files: readonly RuleFileAbove[]): Map<string, string> =>
      new Map(files.map(({ file }) => [file.path, file.text]));
    const before = textsOf(this.#aboveBefore);
    const now = textsOf(this.#above);
    return [...new Set([...before.keys(), ...now.keys()])]
      .filter((path) => before.get(path) !== now.get(path))
      .map((path) => relative(this.#root, path));
  }

  /** Reads the ignore files of one directory again. */
  refresh(directory: string): void {
    if (!this.#honoursFiles) return;
    const old = this.#inTree.get(directory) ?? [];
    const files = IGNORE_FILES.flatMap(
      (name) => readRuleFile(join(this.#root, directory, name), old) ?? [],
    );
    if (files.length === 0) this.#inTree.delete(directory);
    else this.#inTree.set(directory, files);
    if (!this.#isFirst && !areSame(old, files) && !this.#inTreeBefore.has(directory)) {
      this.#inTreeBefore.set(directory, old);
    }
  }

  /** Of a path whose directory is not left out; `wasOut` says that its directory was left out by the rules from before this look. */
  judge(path: string, isDirectory: boolean, wasOut: boolean): Judgement {
    const names = path.split('/');
    const name = names.at(-1) ?? '';
    if (this.isNever(path, name)) return 'left-out';
    if (!this.#honoursFiles) return 'tracked';
    const isOut = !IGNORE_FILES.includes(name) && this.#isOut(names, isDirectory, false);
    if (wasOut) return isOut ? 'left-out' : 'uncovered';
    const hasChanged = this.#inTreeBefore.size > 0 || this.#aboveBefore !== undefined;
    if (!hasChanged || IGNORE_FILES.includes(name)) return isOut ? 'left-out' : 'tracked';
    // fail-closed: rules that came with what they leave out do not leave it out.
    if (!this.#isOut(names, isDirectory, true)) return 'tracked';
    return isOut ? 'left-out' : 'uncovered';
  }

  #isOut(names: readonly string[], isDirectory: boolean, isBefore: boolean): boolean {
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const directory = names.slice(0, depth).join('/');
      const before = isBefore ? this.#inTreeBefore.get(directory) : undefined;
      const files = before ?? this.#inTree.get(directory);
      for (let at = (files?.length ?? 0) - 1; at >= 0; at--) {
        const verdict = files?.[at]?.rules.verdict(names.slice(depth), isDirectory);
        if (verdict !== undefined) return verdict;
      }
    }
    const allAbove = isBefore ? (this.#aboveBefore ?? this.#above) : this.#above;
    for (let at = allAbove.length - 1; at >= 0; at--) {
      const above = allAbove[at];
      const verdict = above?.file.rules.verdict([...above.way, ...names], isDirectory);
      if (verdict !== undefined) return verdict;
    }
    return false;
  }

  /** Of any path: whether it or a directory on the way to it is left out. */
  leavesOutWay(path: string, isDirectory: boolean): boolean {
    const names = path.split('/');
    return names.some((_, depth) => {
      const part = names.slice(0, depth + 1).join('/');
      return this.judge(part, depth < names.length - 1 || isDirectory, false) === 'left-out';
    });
  }
}

function areSame(old: readonly RuleFile[], now: readonly RuleFile[]): boolean {
  return (
    old.length === now.length &&
    old.every(({ path, text }, at) => path === now[at]?.path && text === now[at]?.text)
  );
}

/** Undefined: there is none. The text is read again only when the file is another or has changed. */
function readRuleFile(path: string, known: readonly RuleFile[]): RuleFile | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // A link may lead anywhere, and git does not follow it either.
    if (stat === undefined || !stat.isFile()) return undefined;
    const stamp = `${stat.ino} ${stat.ctimeMs} ${stat.size}`;
    const old = known.find((file) => file.path === path);
    if (old?.stamp === stamp) return old;
    const text = stat.size > LONGEST_FILE ? '' : readFileSync(path, 'utf8');
    const isRacy = isRacyTime(stat.ctimeMs, Date.now());
    const rules = old?.text === text ? old.rules : parseIgnoreRules(text);
    return { path, stamp: isRacy ? undefined : stamp, text, rules };
  } catch {
    return undefined;
  }
}
