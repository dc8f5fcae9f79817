import type { Checkpoints } from '../checkpoint/checkpoints.js';
import { CheckpointFiles } from '../checkpoint/disk/state-files.js';
import { checkpointDirectory, openWorkspaceJournal } from '../checkpoint/open.js';
import { checkpointLimits } from '../checkpoint/settings.js';
import { PortcullisError } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import { findRepositoryRoot } from '../platform/fs/paths.js';
import type { ProjectOptions, ProjectPlaces } from './places.js';
import type { ProjectSettings } from './settings.js';

export type RewindResult = Awaited<ReturnType<Checkpoints['rewind']>>;

/** The file changes of one session, with the points to go back to. */
export interface ProjectChanges {
  readonly sessionId: string;
  readonly checkpoints: Checkpoints;
}

/** Opens the changes of the session whose id begins so, or of the one that wrote last. */
export async function openProjectChanges(
  places: ProjectPlaces,
  options: ProjectOptions,
  { session, settings }: { readonly session?: string | undefined; settings: ProjectSettings },
): Promise<ProjectChanges> {
  const { fs, env } = places;
  const { cwd, sessionId } = await sessionWithChanges(places, session);
  const checkpoints = await openWorkspaceJournal(
    { fs, env, cwd },
    checkpointLimits(settings.settings.values),
    { sessionId, notice: options.warn },
  );
  return { sessionId, checkpoints };
}

async function sessionWithChanges(
  { cwd: start, fs, env }: ProjectPlaces,
  wanted: string | undefined,
): Promise<{ readonly cwd: string; readonly sessionId: string }> {
  const found: { cwd: string; sessionId: string; changedAt: number }[] = [];
  for (const cwd of new Set([start, findRepositoryRoot(start) ?? start])) {
    const root = await fs.realPath(cwd);
    const logs = new CheckpointFiles(checkpointDirectory(env, root)).listLogs();
    for (const { file, changedAt } of logs) {
      found.push({ cwd, sessionId: file.replace(/\.jsonl$/, ''), changedAt });
    }
  }
  const [newest] = found
    .filter(({ sessionId }) => wanted === undefined || sessionId.startsWith(wanted))
    .toSorted((a, b) => b.changedAt - a.changedAt);
  if (newest !== undefined) return newest;
  const whose = wanted === undefined ? 'session of this directory' : `session ${visible(wanted)}`;
  throw new PortcullisError('io', `no ${whose} has recorded changes`, {
    remedy: 'a session that keeps its transcript records them from its first prompt on',
  });
}
