import { lstatSync, readFileSync } from 'node:fs';
import { type IgnoreRules, parseIgnoreRules } from '../util/ignore-rules.js';
import { findRepositoryRoot, isInside, join, relative } from './paths.js';
import { RACY_MS } from './tree-node.js';

/** Files that say what is left out of their directory; the later one wins. */
export const IGNORE_FILES: readonly string[] = ['.gitignore', '.ignore'];
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

/** What is left out of a tree: the rules of ignore files at and above a path, the deepest deciding. */
export class TreeIgnore {
  readonly #root: string;
  readonly #honoursFiles: boolean;
  readonly #excluded: ReadonlySet<string>;
  /** By directory, from the root; empty lists are kept too. */
  readonly #inTree = new Map<string, readonly RuleFile[]>();
  /** Of the directories above the root, and git's own list; with the names from there to the root. */
  #above: readonly { readonly file: RuleFile; readonly way: readonly string[] }[] = [];
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

  /** Reads the files above the root again; true when they are not what they were. */
  refreshAbove(): boolean {
    const repository = this.#repository;
    if (repository === undefined || !isInside(this.#root, repository)) return false;
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
    const old = this.#above.map(({ file }) => file);
    this.#above = places.flatMap(({ path, way }) => {
      const file = readRuleFile(path, old);
      return file === undefined ? [] : [{ file, way }];
    });
    return !areSame(
      old,
      this.#above.map(({ file }) => file),
    );
  }

  /** Reads the ignore files of one directory again; true when they are not what they were. */
  refresh(directory: string): boolean {
    if (!this.#honoursFiles) return false;
    const old = this.#inTree.get(directory) ?? [];
    const files = IGNORE_FILES.flatMap(
      (name) => readRuleFile(join(this.#root, directory, name), old) ?? [],
    );
    if (files.length === 0) this.#inTree.delete(directory);
    else this.#inTree.set(directory, files);
    return !areSame(old, files);
  }

  hasRules(directory: string): boolean {
    return this.#inTree.has(directory);
  }

  /** Of a path whose directory is not left out. */
  leavesOut(path: string, isDirectory: boolean): boolean {
    const names = path.split('/');
    const name = names.at(-1) ?? '';
    if (this.isNever(path, name)) return true;
    if (!this.#honoursFiles || IGNORE_FILES.includes(name)) return false;
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const files = this.#inTree.get(names.slice(0, depth).join('/'));
      for (let at = (files?.length ?? 0) - 1; at >= 0; at--) {
        const verdict = files?.[at]?.rules.verdict(names.slice(depth), isDirectory);
        if (verdict !== undefined) return verdict;
      }
    }
    for (let at = this.#above.length - 1; at >= 0; at--) {
      const above = this.#above[at];
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
      return this.leavesOut(part, depth < names.length - 1 || isDirectory);
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
    const isRacy = Date.now() - stat.ctimeMs < RACY_MS;
    const rules = old?.text === text ? old.rules : parseIgnoreRules(text);
    return { path, stamp: isRacy ? undefined : stamp, text, rules };
  } catch {
    return undefined;
  }
}

/** Directory of an ignore file, or undefined for another path. */
export function ignoreFileDirectory(path: string): string | undefined {
  const slash = path.lastIndexOf('/');
  if (!IGNORE_FILES.includes(path.slice(slash + 1))) return undefined;
  return slash === -1 ? '' : path.slice(0, slash);
}
