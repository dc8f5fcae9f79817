import { Turns } from '../../platform/turns.js';
import { type FileContent, readSteady } from '../disk/content.js';
import type { TreeNode, TreeState } from '../disk/known-tree.js';
import type { BlobId } from '../types.js';

export interface ContentJob {
  readonly absolute: string;
  readonly node: TreeNode;
  /** Completed in place: whoever holds it sees the bytes named once they are in the store. */
  readonly state: TreeState & { kind: 'file' };
}

/** Where contents go. */
export interface ContentTaker {
  /** Names the bytes at once; whether they could be kept is told later. */
  offer(bytes: Uint8Array): { readonly id: BlobId; readonly stored: Promise<boolean> };
}

export interface ContentQueueDeps {
  readonly store: ContentTaker;
  readonly maxFileBytes: number;
}

/** Bytes that may be on their way to the store at once. */
const MOST_UNDER_WAY = 8 * 1024 * 1024;

/** Reads contents into the store, in short stretches. What a look found goes before the first index. */
export class ContentQueue {
  readonly #deps: ContentQueueDeps;
  #urgent: ContentJob[] = [];
  #patient: ContentJob[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;
  #bytesUnderWay = 0;
  #room: (() => void) | undefined;
  #underWay = 0;
  #wake: (() => void) | undefined;
  #urgentLeft = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(deps: ContentQueueDeps) {
    this.#deps = deps;
  }

  add(jobs: readonly ContentJob[], isUrgent: boolean): void {
    const list = isUrgent ? this.#urgent : this.#patient;
    for (const job of jobs) list.push(job);
    this.#wake?.();
    if (isUrgent) this.#urgentLeft += jobs.length;
    // Not in this very moment: it must not be over before it is known to run.
    this.#running ??= Promise.resolve().then(() => this.#run());
  }

  /** What looks found is in the store, or named as missing. */
  async settled(): Promise<void> {
    while (this.#urgentLeft > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Everything is. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** The first index is left where it is; what looks found is finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#patient = [];
    await this.drained();
    await this.settled();
  }

  /** Reads one file now, and names its bytes; they are on their way to the store then, see `settled`. */
  async name(job: ContentJob): Promise<void> {
    const content = await this.#open(job);
    if (content === undefined) return;
    this.#urgentLeft++;
    this.#start(job, content, true);
  }

  /** The same, and they are in the store. */
  async read(job: ContentJob): Promise<void> {
    const content = await this.#open(job);
    if (content !== undefined) await this.#put(job, content);
  }

  async #run(): Promise<void> {
    const turns = new Turns();
    // Lists are gone through from their ends, in the order given: shifting a long one is slow.
    let urgent: ContentJob[] = [];
    let patient: ContentJob[] = [];
    for (;;) {
      if (urgent.length === 0) [urgent, this.#urgent] = [this.#urgent.reverse(), []];
      if (patient.length === 0) [patient, this.#patient] = [this.#patient.reverse(), []];
      if (this.#isClosed) patient = [];
      const urgentJob = urgent.pop();
      const job = urgentJob ?? patient.pop();
      if (job === undefined) {
        if (this.#underWay === 0) {
          // At once: what is added from now on needs another run.
          this.#running = undefined;
          return;
        }
        // Not by a race of all of them: that takes time for each, whenever one ends.
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const content = await this.#open(job);
      if (content === undefined) {
        if (urgentJob !== undefined) this.#urgentDone();
      } else this.#start(job, content, urgentJob !== undefined);
      await turns.pause();
      if (this.#bytesUnderWay > MOST_UNDER_WAY) {
        await new Promise<void>((resolve) => {
          this.#room = resolve;
        });
      }
    }
  }

  #start(job: ContentJob, content: Content, isUrgent: boolean): void {
    const { length } = content.bytes;
    this.#bytesUnderWay += length;
    this.#underWay++;
    void this.#put(job, content).finally(() => {
      this.#bytesUnderWay -= length;
      this.#underWay--;
      if (isUrgent) this.#urgentDone();
      if (this.#bytesUnderWay <= MOST_UNDER_WAY) this.#room?.();
      this.#wake?.();
    });
  }

  #urgentDone(): void {
    if (--this.#urgentLeft > 0) return;
    for (const resume of this.#waiting.splice(0)) resume();
  }

  /** Undefined: there are no bytes to take, which the state says by now. */
  async #open({ absolute, node, state }: ContentJob): Promise<Content | undefined> {
    // A later look found something else there; what this one saw has gone unread.
    if (node.state !== state) {
      if (state.unstored === 'not-yet') state.unstored = 'changed-while-read';
      return undefined;
    }
    const content = await readSteady(absolute, node, this.#deps.maxFileBytes).catch(() => FAILED);
    if (content.kind === 'bytes') return content;
    state.unstored = content.why;
    // Nothing to compare with next time: what the file system says decides alone.
    if (node.state === state) node.isRacy = false;
    return undefined;
  }

  async #put({ node, state }: ContentJob, { bytes, isRacy }: Content): Promise<void> {
    const { id, stored } = this.#deps.store.offer(bytes);
    state.blob = id;
    delete state.unstored;
    if (node.state === state) node.isRacy = isRacy;
    if (await stored.catch(() => false)) return;
    unstoredHashes.set(state, id);
    delete state.blob;
    state.unstored = 'over-cap';
  }
}

/** Of files that were read, but not kept: enough to tell whether they change. Not told to anybody. */
const unstoredHashes = new WeakMap<TreeState, BlobId>();

/** Hash of the bytes that a file had when it was read, also where they could not be kept. */
export function seenHash(state: TreeState & { kind: 'file' }): BlobId | undefined {
  return state.blob ?? unstoredHashes.get(state);
}

const FAILED: FileContent = { kind: 'none', why: 'unreadable' };

interface Content {
  readonly bytes: Uint8Array;
  readonly isRacy: boolean;
}
