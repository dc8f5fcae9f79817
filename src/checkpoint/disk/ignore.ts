import { lstatSync, readFileSync } from 'node:fs';
import { type IgnoreRules, parseIgnoreRules } from '../../lib/patterns/ignore-rules.js';
import { findRepositoryRoot, isInside, join, relative } from '../../platform/fs/paths.js';
import { isRacyTime } from './tree.js';

/** The ignore files of a directory; later ones win. */
const IGNORE_FILES: readonly string[] = ['.gitignore', '.ignore'];
const GITS_LIST = '.git/info/exclude';
/** Never tracked: git's own files and installed packages. */
const NEVER = new Set(['.git', 'node_modules']);
const LONGEST_FILE = 1024 * 1024;

interface RuleFile {
  readonly path: string;
  /** Undefined when the file changed so recently that another change may have the same stamp. */
  readonly stamp: string | undefined;
  readonly text: string;
  readonly rules: IgnoreRules;
}

/** Rules by directory, relative to the top of the repository. */
type RuleFiles = Map<string, readonly RuleFile[]>;

/** `uncovered`: ignored by the rules before this scan, but not by the present ones. */
export type Judgement = 'tracked' | 'left-out' | 'uncovered';

/**
 * Decides which paths of a tree are ignored, by the ignore files at and above a path; the deepest wins. A
 * rule change hides nothing that existed before the scan that detects it.
 */
export class TreeIgnore {
  /** The paths of our own files, relative to the root. */
  readonly excluded: ReadonlySet<string>;
  readonly #root: string;
  readonly #honoursFiles: boolean;
  readonly #isRepository: boolean;
  readonly #top: string;
  /** The directories between the repository's top and the root. */
  readonly #way: readonly string[];
  readonly #rules: RuleFiles = new Map();
  /** The rules before this scan where they have changed. */
  readonly #before: RuleFiles = new Map();
  /** On the first scan there are no earlier rules. */
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

  /** Makes the rules read so far the earlier rules of the next scan. */
  startLook(isFirst: boolean): void {
    this.#isFirst = isFirst;
    this.#before.clear();
  }

  /** Rereads the ignore files above the root. */
  refreshAbove(): void {
    for (let depth = 0; depth < this.#way.length; depth++) this.#read(this.#way.slice(0, depth));
  }

  /** Rereads the ignore files of one directory. */
  refresh(directory: string): void {
    this.#read([...this.#way, ...namesOf(directory)]);
  }

  /** Changed ignore files that are not tracked themselves, relative to the root. */
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

  /** Judges a path in a tracked directory; `wasOut` means that the earlier rules ignored its directory. */
  judge(path: string, isDirectory: boolean, wasOut: boolean): Judgement {
    const names = path.split('/');
    const name = names.at(-1) ?? '';
    if (this.isNever(path, name)) return 'left-out';
    if (!this.#honoursFiles) return 'tracked';
    const isRuleFile = IGNORE_FILES.includes(name);
    const isOut = !isRuleFile && this.#isOut(names, isDirectory, false);
    if (wasOut) return isOut ? 'left-out' : 'uncovered';
    if (this.#before.size === 0 || isRuleFile) return isOut ? 'left-out' : 'tracked';
    // fail-closed: a rule does not hide files that appeared together with it.
    if (!this.#isOut(names, isDirectory, true)) return 'tracked';
    return isOut ? 'left-out' : 'uncovered';
  }

  /** Whether the path or a directory above it is ignored. */
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

/** Undefined when the file does not exist; rereads it only when its stamp changed. */
function readRuleFile(path: string, known: readonly RuleFile[]): RuleFile | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // Git does not follow a linked ignore file either.
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
