import { readFileSync, statfsSync } from 'node:fs';
import { type Clock, systemClock } from './clock.js';
import { isInside } from './paths.js';

/**
 * Local file systems whose files are stamped by the clock of this machine with every change: ext2 to ext4,
 * XFS, Btrfs, tmpfs, overlay, F2FS, bcachefs. Not ZFS, which can be rolled back in place, times included;
 * not what another machine or program stamps (network file systems, FUSE).
 */
const STAMPED_HERE: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0xca451a4e,
]);
/**
 * How far below the begin of a look the times of later changes may lie: coarse stamps are cut down to the
 * second, and the clock may have been set by up to `CLOCK_STEP_MS` without being noticed.
 */
export const SLACK_MS = 3_000;
const CLOCK_STEP_MS = 1_000;
const MOUNTS_FILE = '/proc/self/mountinfo';

/** The begin of a look. */
export interface LookBegin {
  /** Milliseconds since the epoch, by the clock that stamps files. */
  readonly at: number;
  readonly monotonic: number;
  /** What is mounted on the way to the tree and in it. Undefined: nobody can tell. */
  readonly mounts: string | undefined;
}

export interface TimeSources {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  fileSystemType(path: string): number;
  mounts(): string;
}

export const systemTimes: TimeSources = {
  clock: systemClock,
  fileSystemType: (path) => statfsSync(path).type,
  mounts: () => readFileSync(MOUNTS_FILE, 'utf8'),
};

/** Tells whether the change times of a tree show what has changed in it from one look to the next. */
export class ChangeTimes {
  readonly #root: string;
  readonly #sources: TimeSources;

  constructor(root: string, sources: TimeSources) {
    this.#root = root;
    this.#sources = sources;
  }

  begin(): LookBegin {
    const { clock } = this.#sources;
    return { at: clock.now(), monotonic: clock.monotonic(), mounts: this.#mounts() };
  }

  /**
   * Seconds since the epoch: whatever was changed after `last` began bears a later change time.
   * Undefined: it may bear any.
   */
  since(last: LookBegin, now: LookBegin): number | undefined {
    // fail-closed: what another file system shows here was not changed, and is not what was seen.
    if (now.mounts === undefined || now.mounts !== last.mounts) return undefined;
    const step = now.at - last.at - (now.monotonic - last.monotonic);
    // fail-closed: after the clock was set, changes may look as if they were older than the last look.
    if (!(Math.abs(step) <= CLOCK_STEP_MS)) return undefined;
    return this.#isStampedHere() ? (last.at - SLACK_MS) / 1000 : undefined;
  }

  #isStampedHere(): boolean {
    try {
      return STAMPED_HERE.has(this.#sources.fileSystemType(this.#root));
    } catch {
      return false;
    }
  }

  #mounts(): string | undefined {
    let text: string;
    try {
      text = this.#sources.mounts();
    } catch {
      return undefined;
    }
    const root = escaped(this.#root);
    const concerns = (line: string): boolean => {
      const place = line.split(' ', 5)[4];
      return place !== undefined && (isInside(place, root) || isInside(root, place));
    };
    return text.split('\n').filter(concerns).join('\n');
  }
}

/** As paths stand in the list of mounts. */
function escaped(path: string): string {
  return path.replace(/[ \t\n\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
