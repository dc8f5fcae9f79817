import { systemCodeOf } from '../errors.js';
import { trimEnd } from '../lib/trim-end.js';
import { basename, dirname, isInside, resolve } from '../platform/fs/paths.js';
import type { PathJudge } from './paths.js';
import type { WrittenWalk } from './shell/written-walks.js';
import type { TreeBudget } from './tree-walk.js';

export interface WalkPlace {
  readonly judge: PathJudge;
  readonly budget: TreeBudget;
  /** Whether directories that this user cannot read may be readable for the command. */
  readonly elevated: boolean;
  /** Where the session is. */
  readonly cwd: string;
  isHeld(path: string): boolean;
}

/** Where a walk begins. */
export interface WalkStart {
  /** Where the command runs. */
  readonly from: string;
  /** As the command names it; undefined where that is decided at run time. */
  readonly text: string | undefined;
  readonly path: string;
  /** Other names under which what is found is written. */
  readonly onto: readonly string[];
}

/** `doubt`: why nobody can tell. */
export type WalkFinding = { readonly path: string; readonly doubt?: string } | undefined;

interface Step {
  /** Where it really is. */
  readonly directory: string;
  /** What stands behind the start in its name. */
  readonly below: string;
  readonly depth: number;
  /** All in it is reached. */
  readonly isWhole: boolean;
}

/** Copies of what others made: programs keep many protected names in there, and none of them counts. */
const COPIES = 'node_modules';

/** The first protected thing that a walk comes across and changes; what is on the disk decides. */
export async function protectedOnWalk(
  walk: WrittenWalk,
  start: WalkStart,
  place: WalkPlace,
): Promise<WalkFinding> {
  return await new Way(walk, start, place).search();
}

class Way {
  readonly #walk: WrittenWalk;
  readonly #start: WalkStart;
  readonly #place: WalkPlace;
  readonly #queue: Step[] = [];
  readonly #seen = new Set<string>();
  #bases: readonly string[] = [];

  constructor(walk: WrittenWalk, start: WalkStart, place: WalkPlace) {
    this.#walk = walk;
    this.#start = start;
    this.#place = place;
  }

  async search(): Promise<WalkFinding> {
    const { judge, budget } = this.#place;
    const { path } = this.#start;
    const { literal, resolved, real } = await judge.spell(path);
    this.#bases = [...new Set([literal, ...resolved])];
    const look = await judge.disk.lstat(real).catch(() => 'unseen' as const);
    // fail-closed: where nobody can look there may be anything.
    if (look === 'unseen') return { path, doubt: 'it cannot be looked at' };
    const kind = look?.kind;
    if (kind === undefined || this.#isAmongCopies()) return undefined;
    const isDirectory = kind === 'directory';
    const first: Step = { directory: real, below: '', depth: 0, isWhole: false };
    const name = this.#start.text === undefined ? basename(path) : lastName(this.#start.text);
    const found = this.#look({ ...first, name, isDirectory });
    if (found !== undefined) return found;
    for (let step = this.#queue.shift(); step !== undefined; step = this.#queue.shift()) {
      const entries = await this.#list(step);
      if (entries === undefined) return { path: step.directory, doubt: 'it cannot be read' };
      budget.entries -= entries.length;
      // fail-closed: what is not looked at may be protected.
      if (budget.entries < 0 || performance.now() > budget.until) {
        return { path, doubt: 'there is more in it than can be looked at' };
      }
      for (const entry of entries) {
        const here = await this.#entry(step, entry);
        if (here !== undefined) return here;
      }
    }
    return undefined;
  }

  /** What is copied out of there is one no longer. */
  #isAmongCopies(): boolean {
    if (this.#start.onto.length > 0) return false;
    return this.#bases.every((base) => base.split(/[/\\]/).includes(COPIES));
  }

  async #entry(
    step: Step,
    { name, kind }: { readonly name: string; readonly kind: string },
  ): Promise<WalkFinding> {
    const entry = {
      directory: `${step.directory === '/' ? '' : step.directory}/${name}`,
      below: `${step.below}/${name}`,
      depth: step.depth + 1,
      isWhole: step.isWhole,
      name,
    };
    if (kind !== 'symlink') {
      const found = this.#look({ ...entry, isDirectory: kind === 'directory' });
      // A pipe would be waited for.
      return kind === 'file' ? await this.#ifHolding(found, entry.directory) : found;
    }
    const found = this.#look({ ...entry, isDirectory: false });
    const { follows, isWhole } = this.#walk;
    return found !== undefined || !(follows || isWhole) ? found : await this.#follow(entry);
  }

  /** A search lists the files that have what it looks for. */
  async #ifHolding(found: WalkFinding, file: string): Promise<WalkFinding> {
    const { holding } = this.#walk;
    if (found === undefined || holding === undefined) return found;
    // fail-closed: what cannot be read may have it.
    return this.#place.judge.disk.readText(file).then(
      (text) => (text.toLowerCase().includes(holding) ? found : undefined),
      () => found,
    );
  }

  /** A program that is given a link writes where it leads, and some walks go on there. */
  async #follow(entry: Step & { readonly name: string }): Promise<WalkFinding> {
    const { judge, isHeld, elevated } = this.#place;
    const real = await judge.disk.realPath(entry.directory).catch(() => undefined);
    if (real === undefined) {
      // fail-closed: for a command with more rights it may lead on; for others it leads nowhere.
      return elevated ? { path: entry.directory, doubt: 'it cannot be looked at' } : undefined;
    }
    // What leads nowhere is no file yet, and what is made there has another name.
    if (this.#seen.has(real)) return undefined;
    const kind = (await judge.disk.lstat(real).catch(() => undefined))?.kind;
    const isDirectory = kind === 'directory';
    if (this.#isReached(entry, { isDirectory }) && isHeld(real)) return { path: real };
    if (!this.#walk.follows) return undefined;
    this.#seen.add(real);
    return this.#look({ ...entry, directory: real, isDirectory });
  }

  /** Whether it is a protected one; a directory is gone into later. */
  #look(entry: Step & { readonly name: string; readonly isDirectory: boolean }): WalkFinding {
    const { isDirectory, name, depth } = entry;
    const isReached = this.#isReached(entry, { isDirectory });
    const held = isReached ? this.#held(entry) : undefined;
    if (held !== undefined) return { path: held };
    if (!isDirectory || (name === COPIES && depth > 0)) return undefined;
    const { avoids, depth: deepest, isWhole: takesWhole } = this.#walk;
    const isWhole = entry.isWhole || (takesWhole && isReached);
    const isAvoided = depth > 0 && avoids(name, 'directory', this.#pathOf(entry)) === 'yes';
    if (isWhole || (!isAvoided && depth < deepest)) this.#queue.push({ ...entry, isWhole });
    return undefined;
  }

  #isReached(
    entry: Step & { readonly name: string },
    { isDirectory }: { readonly isDirectory: boolean },
  ): boolean {
    if (entry.isWhole) return true;
    const kind = isDirectory ? 'directory' : 'file';
    return this.#walk.reaches(entry.name, kind, this.#pathOf(entry)) !== 'no';
  }

  /** As find writes it; systems differ in what they make of a slash at the end of the start. */
  #pathOf({ below }: Step): string | undefined {
    const { text } = this.#start;
    return text === undefined || text.endsWith('/') ? undefined : text + below;
  }

  #held(entry: Step & { readonly name: string }): string | undefined {
    const { isHeld } = this.#place;
    const { onto, from, path: begin } = this.#start;
    const { below } = entry;
    const names: string[] = onto.map((base) => base + below);
    for (const { text, isNear } of this.#walk.written) {
      for (const base of [...this.#bases, entry.directory]) {
        const path = base === entry.directory ? base : base + below;
        if (text === '{}') names.push(path);
        else if (text.startsWith('{}')) names.push(resolve(path + text.slice(2)));
        else if (isNear) names.push(resolve(dirname(path), text.replaceAll('{}', entry.name)));
        else names.push(resolve(from, text.replaceAll('{}', entry.name)));
      }
    }
    if (this.#walk.isSplit) names.push(...this.#pieces((this.#start.text ?? begin) + below));
    return names.find((name) => isHeld(name));
  }

  /** What a name with blanks becomes where nothing keeps it together. */
  #pieces(text: string): readonly string[] {
    if (!/[\s'"\\]/.test(text)) return [];
    const { cwd } = this.#place;
    const pieces = text.split(/[\s'"\\]+/).filter((piece) => piece !== '');
    const paths = pieces.map((piece) => resolve(this.#start.from, piece));
    // fail-closed: with all that is above, what is protected in here is taken too.
    return paths.map((path) => (isInside(cwd, path) && path !== cwd ? resolve(cwd, '.git') : path));
  }

  /** Undefined: it is there and cannot be listed. */
  async #list(step: Step): Promise<Awaited<ReturnType<PathJudge['disk']['list']>> | undefined> {
    try {
      return await this.#place.judge.disk.list(step.directory);
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      const isGone = code === 'ENOENT' || code === 'ENOTDIR';
      // What this user cannot read, a command of this user does not go into either.
      return isGone || (code === 'EACCES' && !this.#place.elevated) ? [] : undefined;
    }
  }
}

/** The name by which find tests its start: of `a/b/` it is `b`, of `.` the dot. */
function lastName(text: string): string {
  return trimEnd(text, '/').split('/').at(-1) || '/';
}
