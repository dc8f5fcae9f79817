import { messageOf } from '../errors.js';
import { type Clock, systemClock } from '../platform/clock.js';
import type { FileSystem } from '../platform/fs/fs.js';
import { configDirectory, join, stateDirectory } from '../platform/fs/paths.js';
import { sha256 } from '../platform/hash.js';
import { type CheckpointOptions, Checkpoints } from './checkpoints.js';
import { type BlobStore, openBlobStore } from './disk/blob-store.js';
import { CheckpointFiles, describeStoreError } from './disk/state-files.js';
import { WorkspaceFiles } from './disk/workspace-files.js';
import { openChangeLog } from './journal/change-log.js';
import { recoverRewinds } from './rewind/recovery.js';
import { openTracker, type TreeTracker } from './scan/tracker.js';
import type { CheckpointLimits } from './settings.js';

export interface CheckpointDeps extends CheckpointOptions {
  /** The real path of the workspace's root. */
  readonly root: string;
  /** The directory for journals and unfinished rewinds, outside the workspace. */
  readonly directory: string;
  readonly sessionId: string;
  /** The session this one was forked from. */
  readonly parentSessionId?: string | undefined;
  readonly store: BlobStore;
  /** The tracker's index file. */
  readonly indexFile?: string;
  /** Called once after unfinished rewinds are completed, so that the first index sees their result. */
  readonly openTracker: () => TreeTracker | Promise<TreeTracker>;
  readonly clock?: Clock;
  /** Longer files are neither restored nor replaced; as in the tracker. Default 50 MiB. */
  readonly maxFileBytes?: number;
  /** Receives notes for people, such as a completed rewind or an unwritable journal. */
  readonly notice?: (text: string) => void;
}

/** The private directory of a workspace's journals, outside the workspace. */
export function checkpointDirectory(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): string {
  return join(stateDirectory(env), 'checkpoints', sha256(root).slice(0, 32));
}

/** Opens a session's journal in the default place. */
export async function openWorkspaceJournal(
  {
    fs,
    env,
    cwd,
  }: {
    readonly fs: Pick<FileSystem, 'realPath'>;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cwd: string;
  },
  limits: CheckpointLimits,
  session: Pick<CheckpointDeps, 'sessionId' | 'parentSessionId' | 'notice'>,
): Promise<Checkpoints> {
  const root = await fs.realPath(cwd);
  const directory = checkpointDirectory(env, root);
  const store = openBlobStore({ directory, maxBytes: limits.maxStoreBytes });
  const indexFile = join(directory, 'tree.index');
  return await openCheckpoints({
    ...session,
    root,
    directory,
    store,
    indexFile,
    waitMs: limits.waitMs,
    maxFileBytes: limits.maxFileBytes,
    retention: { days: limits.keepDays, points: 100 },
    openTracker: () =>
      openTracker({
        root,
        store,
        indexFile,
        exclude: [stateDirectory(env), configDirectory(env)],
        honourIgnoreFiles: !limits.keepIgnored,
        maxFileBytes: limits.maxFileBytes,
        maxFiles: limits.maxFiles,
      }),
  });
}

/** Opens a session's change journal. Disk errors do not prevent that; `state` reports them. */
export async function openCheckpoints(deps: CheckpointDeps): Promise<Checkpoints> {
  const { root, store, clock = systemClock, notice = () => {} } = deps;
  const files = new CheckpointFiles(deps.directory);
  const workspace = new WorkspaceFiles(root, deps.maxFileBytes);
  const troubles: string[] = [];
  const tell = (text: string): void => {
    troubles.push(text);
    notice(text);
  };
  try {
    await recoverRewinds({ root, files, workspace, store, notice });
  } catch (thrown) {
    tell(`An interrupted rewind could not be completed: ${describeStoreError(thrown)}`);
  }
  const log = await openChangeLog({
    files,
    session: deps.sessionId,
    parent: deps.parentSessionId,
    clock,
    onTrouble: (why) => tell(`The change journal cannot be written: ${why}`),
  });
  const tracker = await trackerOf(deps);
  const { sessionId: session, indexFile } = deps;
  const journal = { root, session, files, workspace, store, tracker, log, clock, indexFile };
  return new Checkpoints(journal, deps, troubles);
}

async function trackerOf(deps: CheckpointDeps): Promise<TreeTracker> {
  try {
    return await deps.openTracker();
  } catch (thrown) {
    return blindTracker(deps.root, `the tree cannot be watched: ${messageOf(thrown)}`);
  }
}

/** A tracker that sees nothing and reports why with every point. */
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
