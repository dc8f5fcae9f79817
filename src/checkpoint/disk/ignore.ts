import { lstatSync, readFileSync } from 'node:fs';
import { type IgnoreRules, parseIgnoreRules } from '../../lib/patterns/ignore-rules.js';
import { findRepositoryRoot, isInside, join, relative } from '../../platform/fs/paths.js';
import { isRacyTime } from './tree.js';

/** Files that say what is left out of their directory; the later one wins. */
const IGNORE_FILES: readonly string[] = ['.gitignore', '.ignore'];
const GITS_LIST = '.git/info/exclude';
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

/** Rules by the directory that they hold for, from the top of the repository. */
type RuleFiles = Map<string, readonly RuleFile[]>;

/** `uncovered`: it was left out by the rules from before the look, and no longer is. */
export type Judgement = 'tracked' | 'left-out' | 'uncovered';

/**
 * What is left out of a tree: the rules of ignore files at and above a path, the deepest deciding.
 * Rules that change hide nothing that was made before the look that finds them changed.
 */
export class TreeIgnore {
  /** Where our own files are, from the root. */
  readonly excluded: ReadonlySet<string>;
  readonly #root: string;
  readonly #honoursFiles: boolean;
  readonly #isRepository: boolean;
  readonly #top: string;
  /** Names of the directories from the top to the root. */
  readonly #way: readonly string[];
  readonly #rules: RuleFiles = new Map();
  /** What was there before this look, where it is not what is there now. */
  readonly #before: RuleFiles = new Map();
  /** The first look has no rules from before it. */
  #isFirst = true;

  constructor(root: string, options: { honoursFiles: boolean; excluded: readonly string[] }) {
    this.#root = root;
    this.#honoursFiles = options.honoursFiles;
    const repository = findRepositoryRoot(root);
    this.#isRepository = repository !== undefined && isInside(root, repository);
    this.#top = this.#isRepository ? (repository ?? root) : root;
    this.#way = namesOf(relative(this.#top, root));
    const inside = options.excluded.filter((path) => path !== root && isInside(path, root));
    this.excluded = new Set(inside.map((path) => relative(root, path)));
  }

  isNever(path: string, name: string): boolean {
    return NEVER.has(name) || this.excluded.has(path);
  }

  /** What has been read so far are the rules from before the look that comes now. */
  startLook(isFirst: boolean): void {
    this.#isFirst = isFirst;
    this.#before.clear();
  }

  /** Reads the files above the root again. */
  refreshAbove(): void {
    for (let depth = 0; depth < this.#way.length; depth++) this.#read(this.#way.slice(0, depth));
  }

  /** Reads the ignore files of one directory again. */
  refresh(directory: string): void {
    this.#read([...this.#way, ...namesOf(directory)]);
  }

  /** Files that are not tracked themselves, and are not what they were before this look; from the root. */
  changedOutside(): string[] {
    const changed = [...this.#before].flatMap(([directory, before]) => {
      const now = this.#rules.get(directory) ?? [];
      const textIn = (files: readonly RuleFile[], path: string): string | undefined =>
        files.find((file) => file.path === path)?.text;
      const paths = new Set([...before, ...now].map(({ path }) => path));
      return [...paths].filter((path) => textIn(before, path) !== textIn(now, path));
    });
    const isTracked = (path: string): boolean =>
      isInside(path, this.#root) && !path.endsWith(GITS_LIST);
    return changed.filter((path) => !isTracked(path)).map((path) => relative(this.#root, path));
  }

  /** Of a path whose directory is not left out; `wasOut` says that its directory was left out by the rules from before this look. */
  judge(path: string, isDirectory: boolean, wasOut: boolean): Judgement {
    const names = path.split('/');
    const name = names.at(-1) ?? '';
    if (this.isNever(path, name)) return 'left-out';
    if (!this.#honoursFiles) return 'tracked';
    const isRuleFile = IGNORE_FILES.includes(name);
    const isOut = !isRuleFile && this.#isOut(names, isDirectory, false);
    if (wasOut) return isOut ? 'left-out' : 'uncovered';
    if (this.#before.size === 0 || isRuleFile) return isOut ? 'left-out' : 'tracked';
    // fail-closed: rules that came with what they leave out do not leave it out.
    if (!this.#isOut(names, isDirectory, true)) return 'tracked';
    return isOut ? 'left-out' : 'uncovered';
  }

  /** Of any path: whether it or a directory on the way to it is left out. */
  leavesOutWay(path: string, isDirectory: boolean): boolean {
    const names = path.split('/');
    return names.some((_, depth) => {
      const part = names.slice(0, depth + 1).join('/');
      return this.judge(part, depth < names.length - 1 || isDirectory, false) === 'left-out';
    });
  }

  #isOut(below: readonly string[], isDirectory: boolean, isBefore: boolean): boolean {
    const names = this.#way.length === 0 ? below : [...this.#way, ...below];
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const directory = names.slice(0, depth).join('/');
      const before = isBefore ? this.#before.get(directory) : undefined;
      const files = before ?? this.#rules.get(directory) ?? [];
      for (let at = files.length - 1; at >= 0; at--) {
        const verdict = files[at]?.rules.verdict(names.slice(depth), isDirectory);
        if (verdict !== undefined) return verdict;
      }
    }
    return false;
  }

  #read(names: readonly string[]): void {
    if (!this.#honoursFiles) return;
    const directory = names.join('/');
    const old = this.#rules.get(directory) ?? [];
    const isTop = this.#isRepository && directory === '';
    const files = [...(isTop ? [GITS_LIST] : []), ...IGNORE_FILES].flatMap(
      (name) => readRuleFile(join(this.#top, directory, name), old) ?? [],
    );
    if (files.length === 0) this.#rules.delete(directory);
    else this.#rules.set(directory, files);
    const isSame =
      old.length === files.length &&
      old.every(({ path, text }, at) => path === files[at]?.path && text === files[at]?.text);
    if (!this.#isFirst && !isSame && !this.#before.has(directory)) this.#before.set(directory, old);
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '');
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
