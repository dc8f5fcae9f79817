import { Turns } from '../../platform/turns.js';
import type { TreeNode } from '../disk/known-tree.js';
import type { TreeScan } from '../disk/scan.js';
import type { ContentJob, ContentQueue } from './content-queue.js';
import { type Applied, type Found, isSameState, type Undecided } from './tree-changes.js';

/** A look reads what it found itself up to this many bytes; more is read behind it. */
const READ_BY_LOOK = 16 * 1024 ** 2;

/** Tells by their bytes which of the files that a look came upon have changed. */
export class Decider {
  readonly #scan: TreeScan;
  readonly #contents: ContentQueue;

  constructor(scan: TreeScan, contents: ContentQueue) {
    this.#scan = scan;
    this.#contents = contents;
  }

  /** Undefined: it is no file. */
  job(path: string, node: TreeNode): ContentJob | undefined {
    const { state } = node;
    return state.kind === 'file' ? { absolute: this.#scan.absolute(path), node, state } : undefined;
  }

  /** Reads these behind looks. */
  readLater(files: readonly Undecided[], isUrgent: boolean): void {
    const jobs = files.map(({ path, node }) => this.job(path, node));
    this.#contents.add(
      jobs.filter((job) => job !== undefined),
      isUrgent,
    );
  }

  /** Reads what was found, as far as it is not too much; drops what was only touched. */
  async decide({ found, undecided }: Applied): Promise<Found[]> {
    const later: Undecided[] = [];
    const told = found.slice();
    const turns = new Turns();
    let bytes = 0;
    for (const one of undecided) {
      // Nobody can read it any more.
      if (one.before?.kind === 'file' && one.before.unstored === 'not-yet') {
        one.before.unstored = 'changed-while-read';
      }
      bytes += one.stat.size;
      if (bytes > READ_BY_LOOK) later.push(one);
      else {
        // One after the other: reading a small file does not wait for anything, and all at once would
        // keep everybody else waiting.
        const decided = await this.#decideNow(one);
        if (decided !== undefined) told.push(decided);
        await turns.pause();
      }
    }
    this.readLater(later, true);
    for (const one of later) if (!one.isSilent) told.push(toFound(one));
    return told;
  }

  async #decideNow(one: Undecided): Promise<Found | undefined> {
    const { path, node, before, isSilent } = one;
    const job = this.job(path, node);
    if (job !== undefined) await this.#contents.name(job);
    if (before !== undefined && isSameState(before, node.state)) {
      // What could not be kept then may be on its way to the store now.
      if (before.kind !== 'file' || before.blob !== undefined) node.state = before;
      return undefined;
    }
    return isSilent ? undefined : toFound(one);
  }
}

function toFound({ path, node, stat, before }: Undecided): Found {
  return { path, before, after: node.state, at: stat.ctime, node };
}
