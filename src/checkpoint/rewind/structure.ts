import { Turns } from '../../platform/turns.js';
import { parentOf } from '../disk/tree.js';
import type { WorkspaceFiles } from '../disk/workspace-files.js';
import type { NodeState, RewindItem, RewindPlan } from '../types.js';

/** The present and desired states of a path; absent means that nothing exists. */
export interface PathStep {
  readonly path: string;
  readonly from?: NodeState;
  readonly to?: NodeState;
}

export interface Step extends PathStep {
  /** The changes undone with it. */
  readonly undoes: readonly number[];
  /** For the preview; absent for auxiliary steps such as a parent directory. */
  readonly item?: RewindItem;
}

export interface Draft {
  readonly steps: readonly Step[];
  readonly conflicts: RewindPlan['conflicts'];
  readonly impossible: RewindPlan['impossible'];
}

/**
 * Makes steps compatible: no directory is removed that holds other entries, and every restored path gets its
 * directories.
 */
export async function fitTogether(wanted: readonly Step[], files: WorkspaceFiles): Promise<Draft> {
  const fit = new Fit(wanted, files);
  await fit.keepFullDirectories();
  await fit.findParents();
  await fit.openParents();
  return fit.result();
}

/** For directories whose mode is unknown. */
const USUAL_MODE = 0o755;
/** The rights needed to change a directory's entries. */
const WRITABLE = 0o300;

class Fit {
  readonly #steps: Map<string, Step>;
  readonly #files: WorkspaceFiles;
  readonly #conflicts: (RewindItem & { readonly why: string })[] = [];
  readonly #impossible: { readonly what: string; readonly why: string }[] = [];
  readonly #turns = new Turns();
  /** Caches directories, which are checked once per path below them. */
  readonly #peeked = new Map<string, NodeState | undefined>();

  constructor(wanted: readonly Step[], files: WorkspaceFiles) {
    this.#steps = new Map(wanted.map((step) => [step.path, step]));
    this.#files = files;
  }

  result(): Draft {
    return {
      steps: [...this.#steps.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
      conflicts: this.#conflicts,
      impossible: this.#impossible,
    };
  }

  /** Removes a directory only together with all its entries; deepest first, because a kept one keeps its parents. */
  async keepFullDirectories(): Promise<void> {
    const needed = new Set(this.#putting().flatMap((step) => ancestorsOf(step.path)));
    const leaving = [...this.#steps.values()]
      .filter(({ from, to }) => from?.kind === 'directory' && to?.kind !== 'directory')
      .sort((a, b) => depthOf(b.path) - depthOf(a.path));
    for (const { path } of leaving) {
      await this.#turns.pause();
      const kept =
        this.#keptIn(path) ?? (needed.has(path) ? 'what is put back into it' : undefined);
      if (kept === undefined) continue;
      this.#steps.delete(path);
      this.#impossible.push({ what: path, why: `the directory stays: it holds ${kept}` });
    }
  }

  #keptIn(path: string): string | undefined {
    const names = this.#files.list(path);
    // fail-closed: an unreadable directory may contain anything.
    if (!names.ok) return `something that cannot be seen (${names.error})`;
    const kept = names.value.find((name) => {
      const step = this.#steps.get(`${path}/${name}`);
      return step === undefined || step.to !== undefined;
    });
    return kept === undefined ? undefined : JSON.stringify(kept);
  }

  /** Adds the missing directories above restored paths. */
  async findParents(): Promise<void> {
    const putting = this.#putting().sort((a, b) => depthOf(a.path) - depthOf(b.path));
    for (const step of putting) {
      await this.#turns.pause();
      const missing: string[] = [];
      let blockedBy: string | undefined;
      for (const above of ancestorsOf(step.path)) {
        const state = this.#finallyAt(above);
        if (state === undefined) missing.push(above);
        else if (state.kind !== 'directory') blockedBy ??= above;
      }
      if (blockedBy !== undefined) this.#block(step, `${blockedBy} is no directory any more`);
      else for (const path of missing) this.#addDirectory(path);
    }
  }

  /** Makes unwritable directories temporarily writable. */
  async openParents(): Promise<void> {
    for (const { path } of [...this.#steps.values()]) {
      await this.#turns.pause();
      const parent = parentOf(path);
      if (parent === '' || this.#steps.has(parent)) continue;
      const state = this.#peek(parent);
      if (state?.kind !== 'directory' || (state.mode & WRITABLE) === WRITABLE) continue;
      this.#steps.set(parent, { path: parent, from: state, to: state, undoes: [] });
    }
  }

  #putting(): Step[] {
    return [...this.#steps.values()].filter(({ to }) => to !== undefined);
  }

  #finallyAt(path: string): NodeState | undefined {
    const step = this.#steps.get(path);
    if (step !== undefined) return step.to;
    return this.#peek(path);
  }

  /** Reports everything but directories as `special`. */
  #peek(path: string): NodeState | undefined {
    if (this.#peeked.has(path)) return this.#peeked.get(path);
    const found = this.#files.peek(path);
    // fail-closed: an unreadable path counts as an obstacle.
    const node = found.ok ? found.value : ({ kind: 'special' } as const);
    const state: NodeState | undefined =
      node === undefined || node.kind === 'directory' ? node : { kind: 'special' };
    this.#peeked.set(path, state);
    return state;
  }

  #addDirectory(path: string): void {
    const to: NodeState = { kind: 'directory', mode: USUAL_MODE };
    const wanted = this.#steps.get(path);
    if (wanted === undefined) this.#steps.set(path, { path, to, undoes: [] });
    // The path should go, but an entry below it comes back.
    else
      this.#steps.set(path, {
        ...wanted,
        to,
        item: wanted.item && { ...wanted.item, action: 'overwrite' },
      });
  }

  #block(step: Step, why: string): void {
    this.#steps.delete(step.path);
    if (step.item !== undefined) this.#conflicts.push({ ...step.item, why });
  }
}

/** The directories above a path, outermost first. */
export function ancestorsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

export function depthOf(path: string): number {
  return path.split('/').length;
}
