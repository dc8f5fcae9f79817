import type { FoundNode, RewindFiles } from '../env/rewind-files.js';
import { sameMode, sameState } from './states.js';
import type { PathStep } from './step.js';
import { depthOf } from './structure.js';
import type { BlobStore, NodeState } from './types.js';

export interface ApplyParts {
  readonly files: RewindFiles;
  readonly store: BlobStore;
  /** Part of the names of drafts, so that those of a killed run are found again. */
  readonly planId: string;
}

export interface Applied {
  /** Paths that are as wanted. */
  readonly done: ReadonlySet<string>;
  readonly failed: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Puts every path of a plan in its place. May be repeated after it was interrupted anywhere: what is as
 * wanted is left alone, what is neither as it was nor as wanted is somebody else's and is left alone too.
 */
export async function applySteps(steps: readonly PathStep[], parts: ApplyParts): Promise<Applied> {
  const run = new ApplyRun(steps, parts);
  run.openDirectories();
  run.removeOld();
  run.makeDirectories();
  await run.putFiles();
  run.closeDirectories();
  return run.result();
}

/** The owner may look into it, and make and take away names. */
const OWNER_ALL = 0o700;
const CHANGED = 'somebody changed it meanwhile';

class ApplyRun {
  readonly #parts: ApplyParts;
  readonly #shallowFirst: readonly PathStep[];
  readonly #failed = new Map<string, string>();
  readonly #draftOf: ReadonlyMap<PathStep, string>;

  constructor(steps: readonly PathStep[], parts: ApplyParts) {
    this.#parts = parts;
    this.#shallowFirst = [...steps].sort((a, b) => depthOf(a.path) - depthOf(b.path));
    const tag = parts.planId.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 16);
    this.#draftOf = new Map(steps.map((step, index) => [step, `.portcullis-${tag}-${index}.tmp`]));
  }

  result(): Applied {
    const done = this.#shallowFirst.filter(({ path }) => !this.#failed.has(path));
    return {
      done: new Set(done.map(({ path }) => path)),
      failed: [...this.#failed].map(([path, why]) => ({ path, why })),
    };
  }

  openDirectories(): void {
    for (const { path, from } of this.#shallowFirst) {
      if (from?.kind !== 'directory') continue;
      const now = this.#find(path);
      if (now?.kind !== 'directory' || (now.mode & OWNER_ALL) === OWNER_ALL) continue;
      this.#try(path, () => this.#parts.files.setMode(path, now.mode | OWNER_ALL));
    }
  }

  /** What is to go, and what another kind of thing comes for. */
  removeOld(): void {
    for (const { path, from, to } of this.#shallowFirst.toReversed()) {
      const now = this.#find(path);
      if (now === undefined || now.kind === to?.kind || this.#failed.has(path)) continue;
      const isExpected = sameState(now, from) || bothDirectories(now, from);
      if (!isExpected) this.#failed.set(path, CHANGED);
      else this.#remove(path);
    }
  }

  makeDirectories(): void {
    for (const { path, from, to } of this.#shallowFirst) {
      if (to?.kind !== 'directory' || this.#failed.has(path)) continue;
      const now = this.#find(path);
      if (now?.kind === 'directory' || this.#failed.has(path)) continue;
      // A directory that was there and has gone meanwhile went by somebody else's hand.
      if (now !== undefined || from?.kind === 'directory') this.#failed.set(path, CHANGED);
      else this.#try(path, () => this.#parts.files.makeDirectory(path, to.mode | OWNER_ALL));
    }
  }

  async putFiles(): Promise<void> {
    for (const step of this.#shallowFirst) {
      const { path, to } = step;
      if (to === undefined || to.kind === 'directory' || this.#failed.has(path)) continue;
      const draft = this.#draftOf.get(step) ?? '';
      this.#parts.files.dropDraft(path, draft);
      const now = this.#find(path);
      if (sameState(now, to) || this.#failed.has(path)) continue;
      if (this.#isOurs(step, now)) await this.#put(step, now, draft);
      else this.#failed.set(path, CHANGED);
    }
  }

  closeDirectories(): void {
    for (const { path, to } of this.#shallowFirst.toReversed()) {
      if (to?.kind !== 'directory' || this.#failed.has(path)) continue;
      const now = this.#find(path);
      if (now?.kind !== 'directory' || sameMode(now.mode, to.mode)) continue;
      this.#try(path, () => this.#parts.files.setMode(path, to.mode));
    }
  }

  /** As it was before the rewind, or as an interrupted one leaves it between two kinds of things. */
  #isOurs({ from, to }: PathStep, now: FoundNode | undefined): boolean {
    return sameState(now, from) || (now === undefined && from?.kind !== to?.kind);
  }

  async #put({ path, to }: PathStep, now: FoundNode | undefined, draft: string): Promise<void> {
    const { files, store } = this.#parts;
    if (to?.kind === 'link') {
      this.#try(path, () => files.makeLink(path, to.target, { draft }));
    } else if (to?.kind === 'file' && now?.kind === 'file' && now.blob === to.blob) {
      this.#try(path, () => files.setMode(path, to.mode));
    } else if (to?.kind === 'file') {
      const bytes = to.blob === undefined ? undefined : await store.read(to.blob);
      if (bytes === undefined) this.#failed.set(path, 'its bytes are no longer in the store');
      else this.#try(path, () => files.writeFile(path, bytes, { draft, mode: to.mode }));
    }
  }

  #remove(path: string): void {
    const removed = this.#parts.files.remove(path);
    if (!removed.ok) this.#failed.set(path, removed.error);
    else if (removed.value === 'not-empty') this.#failed.set(path, 'it is not empty');
  }

  #find(path: string): FoundNode | undefined {
    const found = this.#parts.files.find(path);
    if (found.ok) return found.value;
    this.#failed.set(path, found.error);
    return undefined;
  }

  #try(path: string, work: () => ReturnType<RewindFiles['setMode']>): void {
    const result = work();
    if (!result.ok) this.#failed.set(path, result.error);
  }
}

function bothDirectories(a: NodeState, b: NodeState | undefined): boolean {
  return a.kind === 'directory' && b?.kind === 'directory';
}
