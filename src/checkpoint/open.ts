import { messageOf } from '../errors.js';
import { type Clock, systemClock } from '../platform/clock.js';
import { openCheckpointFiles, storeTroubleOf } from './disk/state-files.js';
import { openRewindFiles } from './disk/workspace-files.js';
import { openChangeLog } from './journal/change-log.js';
import { recoverRewinds } from './rewind/recovery.js';
import { SessionCheckpoints } from './session-checkpoints.js';
import type { BlobStore, Checkpoints, TreeTracker } from './types.js';

export interface CheckpointDeps {
  /** Real path of the root of the workspace. */
  readonly root: string;
  /** Where the journals and unfinished rewinds of this workspace are kept, outside of it. */
  readonly directory: string;
  readonly sessionId: string;
  /** The session that this one was forked from. */
  readonly parentSessionId?: string | undefined;
  /** Closed by `Checkpoints.close`. */
  readonly store: BlobStore;
  /** Called once, when unfinished rewinds are completed: the first index sees the finished tree. */
  readonly openTracker: () => TreeTracker | Promise<TreeTracker>;
  readonly clock?: Clock;
  /** Longest wait of `begin` for the index, looks and contents, in milliseconds. Default 1000. */
  readonly waitMs?: number;
  /** A tree whose last look took less is looked at before each call too, in milliseconds. Default 50. */
  readonly smallLookMs?: number;
  /** Longer files are neither put back nor replaced. As for the tracker. Default 50 MiB. */
  readonly maxFileBytes?: number;
  /** How long and how much is kept. Default 30 days and 100 points. */
  readonly retention?: { readonly days: number; readonly points: number };
  /** What a person should know: a rewind that was completed at the start, a journal that cannot be written. */
  readonly notice?: (text: string) => void;
}

const WAIT_MS = 1_000;
const SMALL_LOOK_MS = 50;
const RETENTION = { days: 30, points: 100 };

/**
 * Opens the change journal of a session. Trouble with the disk does not stop it: `state` tells what
 * does not work.
 */
export async function openCheckpoints(deps: CheckpointDeps): Promise<Checkpoints> {
  const { root, store, clock = systemClock, notice = () => {} } = deps;
  const files = openCheckpointFiles(deps.directory);
  const { maxFileBytes } = deps;
  const workspace = openRewindFiles(root, { maxFileBytes });
  const troubles: string[] = [];
  const tell = (text: string): void => {
    troubles.push(text);
    notice(text);
  };
  try {
    await recoverRewinds({ root, files, workspace, store, notice });
  } catch (thrown) {
    tell(`An interrupted rewind could not be completed: ${storeTroubleOf(thrown)}`);
  }
  const log = await openChangeLog({
    files,
    session: deps.sessionId,
    parent: deps.parentSessionId,
    now: () => clock.now(),
    run: clock.uuid(),
    onTrouble: (why) => tell(`The change journal cannot be written: ${why}`),
  });
  const tracker = await trackerOf(deps);
  return new SessionCheckpoints({
    root,
    session: deps.sessionId,
    files,
    workspace,
    store,
    tracker,
    log,
    clock,
    waitMs: deps.waitMs ?? WAIT_MS,
    smallLookMs: deps.smallLookMs ?? SMALL_LOOK_MS,
    retention: deps.retention ?? RETENTION,
    troubles,
  });
}

async function trackerOf(deps: CheckpointDeps): Promise<TreeTracker> {
  try {
    return await deps.openTracker();
  } catch (thrown) {
    return blindTracker(deps.root, `the tree cannot be watched: ${messageOf(thrown)}`);
  }
}

/** Sees nothing, and says so with every point. */
function blindTracker(root: string, why: string): TreeTracker {
  return {
    root,
    ready: Promise.resolve(),
    state: () => ({ kind: 'off', files: 0, gaps: [why] }),
    look: () => {
      const now = Date.now();
      return Promise.resolve({ startedAt: now, finishedAt: now, changes: [], gaps: [] });
    },
    keep: () => Promise.resolve(undefined),
    known: () => undefined,
    close: () => Promise.resolve(),
  };
}
