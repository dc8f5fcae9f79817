import type { FileSystem } from '../platform/fs/fs.js';
import { configDirectory, join, stateDirectory } from '../platform/fs/paths.js';
import { sha256 } from '../platform/hash.js';
import { openBlobStore } from './disk/blob-store.js';
import { openCheckpoints } from './open.js';
import { openTracker } from './scan/tracker.js';
import type { CheckpointLimits } from './settings.js';
import type { Checkpoints } from './types.js';

/** Whose journal, and where. */
export interface JournalPlace {
  readonly fs: Pick<FileSystem, 'realPath'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly sessionId: string;
  readonly parentSessionId?: string | undefined;
  readonly limits: CheckpointLimits;
  notice(text: string): void;
}

/** Where the journals of a workspace are: outside of it, for nobody else to read. */
export function checkpointDirectory(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): string {
  return join(stateDirectory(env), 'checkpoints', sha256(root).slice(0, 32));
}

export async function openJournalAt(place: JournalPlace): Promise<Checkpoints> {
  const { env, limits, sessionId, parentSessionId } = place;
  const root = await place.fs.realPath(place.cwd);
  const directory = checkpointDirectory(env, root);
  const store = openBlobStore({ directory, maxBytes: limits.maxStoreBytes });
  return await openCheckpoints({
    root,
    directory,
    sessionId,
    parentSessionId,
    store,
    waitMs: limits.waitMs,
    maxFileBytes: limits.maxFileBytes,
    retention: { days: limits.keepDays, points: 100 },
    notice: place.notice,
    openTracker: () =>
      openTracker({
        root,
        store,
        indexFile: join(directory, 'tree.index'),
        exclude: [stateDirectory(env), configDirectory(env)],
        honourIgnoreFiles: !limits.keepIgnored,
        maxFileBytes: limits.maxFileBytes,
        maxFiles: limits.maxFiles,
      }),
  });
}
