import type { Result } from '../../lib/result.js';
import { Turns } from '../../platform/turns.js';
import type { PathSnapshot, PeekedNode } from '../disk/workspace-files.js';
import type { JournalParts } from '../journal/change-log.js';
import { sameMode, sameState } from '../journal/states.js';
import type { NodeState } from '../types.js';
import { depthOf, type PathStep } from './structure.js';

export interface Applied {
  /** Paths in the desired state. */
  readonly done: ReadonlySet<string>;
  readonly failed: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Applies the steps of a plan. It may be repeated after an interruption: paths in the desired state stay, and
 * paths in neither state belong to another author and stay too. Pauses for the event loop.
 */
export async function applySteps(
  steps: readonly PathStep[],
  planId: string,
  journal: Pick<JournalParts, 'workspace' | 'store'>,
): Promise<Applied> {
  const run = new ApplyRun(steps, planId, journal);
  await run.openDirectories();
  await run.removeOld();
  await run.makeDirectories();
  await run.putFiles();
  await run.closeDirectories();
  return run.result();
}

/** The owner's right to list the directory and change its entries. */
const OWNER_ALL = 0o700;
const CHANGED = 'another process changed it meanwhile';
/** Drafts flushed together in one go. */
const MOST_DRAFTS = 32;
const MOST_DRAFT_BYTES = 16 << 20;

/** A file or link written beside its target. */
interface Drafted {
  readonly path: string;
  readonly draft: string;
  /** The state that it may replace. */
  readonly stamp: string;
  readonly ready: Promise<void>;
}

class ApplyRun {
  readonly #journal: Pick<JournalParts, 'workspace' | 'store'>;
  readonly #shallowFirst: readonly PathStep[];
  readonly #failed = new Map<string, string>();
  readonly #draftOf: ReadonlyMap<PathStep, string>;
  readonly #turns = new Turns();
  #drafted: Drafted[] = [];
  #draftedBytes = 0;

  constructor(
    steps: readonly PathStep[],
    planId: string,
    journal: Pick<JournalParts, 'workspace' | 'store'>,
  ) {
    this.#journal = journal;
    this.#shallowFirst = [...steps].sort((a, b) => depthOf(a.path) - depthOf(b.path));
    // Part of the draft names, so that a later run finds the drafts of a killed one.
    const tag = planId.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 16);
    this.#draftOf = new Map(steps.map((step, index) => [step, `.portcullis-${tag}-${index}.tmp`]));
  }

  result(): Applied {
    const done = this.#shallowFirst.filter(({ path }) => !this.#failed.has(path));
    return {
      done: new Set(done.map(({ path }) => path)),
      failed: [...this.#failed].map(([path, why]) => ({ path, why })),
    };
  }

  async openDirectories(): Promise<void> {
    for (const { path, from } of this.#shallowFirst) {
      if (from?.kind !== 'directory') continue;
      await this.#turns.pause();
      const now = this.#peek(path);
      if (now?.kind !== 'directory' || (now.mode & OWNER_ALL) === OWNER_ALL) continue;
      this.#try(path, this.#journal.workspace.setMode(path, now.mode | OWNER_ALL));
    }
  }

  /** Removes paths that should go or change their kind. */
  async removeOld(): Promise<void> {
    for (const { path, from, to } of this.#shallowFirst.toReversed()) {
      await this.#turns.pause();
      const kind = this.#peek(path)?.kind;
      if (kind === undefined || kind === to?.kind || this.#failed.has(path)) continue;
      const { node: now, stamp } = await this.#see(path);
      if (now === undefined || this.#failed.has(path)) continue;
      const isExpected = sameState(now, from) || bothDirectories(now, from);
      if (!isExpected) this.#failed.set(path, CHANGED);
      else if (this.#try(path, this.#journal.workspace.remove(path, stamp)) === 'not-empty') {
        this.#failed.set(path, 'it is not empty');
      }
    }
  }

  async makeDirectories(): Promise<void> {
    for (const { path, from, to } of this.#shallowFirst) {
      if (to?.kind !== 'directory' || this.#failed.has(path)) continue;
      await this.#turns.pause();
      const now = this.#peek(path);
      if (now?.kind === 'directory' || this.#failed.has(path)) continue;
      // Another program removed the directory.
      if (now !== undefined || from?.kind === 'directory') this.#failed.set(path, CHANGED);
      else this.#try(path, this.#journal.workspace.makeDirectory(path, to.mode | OWNER_ALL));
    }
  }

  async putFiles(): Promise<void> {
    for (const step of this.#shallowFirst) {
      const { path, to } = step;
      if (to === undefined || to.kind === 'directory') continue;
      await this.#turns.pause();
      this.#journal.workspace.dropDraft(path, this.#draftOf.get(step) ?? '');
      if (this.#failed.has(path)) continue;
      const seen = await this.#see(path);
      if (sameState(seen.node, to) || this.#failed.has(path)) continue;
      if (this.#isOurs(step, seen.node)) this.#put(step, seen);
      else this.#failed.set(path, CHANGED);
      if (this.#drafted.length >= MOST_DRAFTS || this.#draftedBytes >= MOST_DRAFT_BYTES) {
        await this.#placeDrafts();
      }
    }
    await this.#placeDrafts();
  }

  async closeDirectories(): Promise<void> {
    for (const { path, to } of this.#shallowFirst.toReversed()) {
      if (to?.kind !== 'directory' || this.#failed.has(path)) continue;
      await this.#turns.pause();
      const now = this.#peek(path);
      if (now?.kind !== 'directory' || sameMode(now.mode, to.mode)) continue;
      this.#try(path, this.#journal.workspace.setMode(path, to.mode));
    }
  }

  /** The state before the rewind, or the gap an interrupted rewind leaves between two kinds. */
  #isOurs({ from, to }: PathStep, now: NodeState | undefined): boolean {
    return sameState(now, from) || (now === undefined && from?.kind !== to?.kind);
  }

  #put(step: PathStep, { node: now, stamp }: PathSnapshot): void {
    const { path, to } = step;
    const { workspace } = this.#journal;
    const draft = this.#draftOf.get(step) ?? '';
    if (to?.kind === 'link') {
      this.#try(path, workspace.draftLink(path, to.target, draft));
      this.#drafted.push({ path, draft, stamp, ready: Promise.resolve() });
    } else if (to?.kind === 'file') {
      const isSameBytes = now?.kind === 'file' && now.blob === to.blob;
      // A file with other hard links is rewritten instead of changing its mode.
      if (isSameBytes && this.#try(path, workspace.setMode(path, to.mode, stamp)) === 'done') {
        return;
      }
      if (this.#failed.has(path)) return;
      this.#draftedBytes += to.size;
      this.#drafted.push({ path, draft, stamp, ready: this.#draftFile(path, to, draft) });
    }
  }

  async #draftFile(
    path: string,
    { blob, mode }: NodeState & { kind: 'file' },
    draft: string,
  ): Promise<void> {
    const { workspace, store } = this.#journal;
    const bytes = blob === undefined ? undefined : await store.read(blob);
    if (bytes === undefined) {
      this.#failed.set(path, 'its bytes are no longer in the store');
      return;
    }
    this.#try(path, await workspace.draftFile(path, bytes, { draft, mode }));
  }

  async #placeDrafts(): Promise<void> {
    const drafted = this.#drafted;
    this.#drafted = [];
    this.#draftedBytes = 0;
    await Promise.all(drafted.map(({ ready }) => ready));
    for (const { path, draft, stamp } of drafted) {
      if (this.#failed.has(path)) continue;
      await this.#turns.pause();
      this.#try(path, this.#journal.workspace.placeDraft(path, draft, stamp));
    }
  }

  async #see(path: string): Promise<PathSnapshot> {
    const seen = this.#try(path, await this.#journal.workspace.see(path));
    return seen ?? { node: undefined, stamp: '' };
  }

  #peek(path: string): PeekedNode | undefined {
    return this.#try(path, this.#journal.workspace.peek(path));
  }

  #try<T>(path: string, result: Result<T, string>): T | undefined {
    if (result.ok) return result.value;
    this.#failed.set(path, result.error);
    return undefined;
  }
}

function bothDirectories(a: NodeState, b: NodeState | undefined): boolean {
  return a.kind === 'directory' && b?.kind === 'directory';
}
