import type { Checkpoints } from '../../checkpoint/types.js';
import { openCheckpointFiles } from '../../env/checkpoint-files.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { findRepositoryRoot } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { checkpointDirectory, openJournalAt } from '../../harness/checkpoint-journal.js';
import { checkpointLimits } from '../../harness/checkpoint-settings.js';
import type { Output } from '../output.js';
import { settingsHere } from './settings-here.js';

export interface JournalHere {
  readonly sessionId: string;
  readonly journal: Checkpoints;
}

/** The change journal of a session of this directory: the one named, or the one written last. */
export async function journalHere(
  session: string | undefined,
  output: Pick<Output, 'warn'>,
): Promise<JournalHere> {
  const { cwd, sessionId } = await sessionWithJournal(process.cwd(), session);
  const here = settingsHere({ cwd, env: process.env, trust: 'as it is', warn: output.warn });
  const { settings } = await here.load();
  const journal = await openJournalAt({
    fs: nodeFileSystem,
    env: process.env,
    cwd,
    sessionId,
    limits: checkpointLimits(settings.values),
    notice: output.warn,
  });
  return { sessionId, journal };
}

async function sessionWithJournal(
  start: string,
  wanted: string | undefined,
): Promise<{ readonly cwd: string; readonly sessionId: string }> {
  const places = [...new Set([start, findRepositoryRoot(start) ?? start])];
  const found: { cwd: string; sessionId: string; changedAt: number }[] = [];
  for (const cwd of places) {
    const root = await nodeFileSystem.realPath(cwd);
    const logs = openCheckpointFiles(checkpointDirectory(process.env, root)).listLogs();
    for (const { file, changedAt } of logs) {
      found.push({ cwd, sessionId: file.replace(/\.jsonl$/, ''), changedAt });
    }
  }
  const fits = found.filter(
    ({ sessionId }) => wanted === undefined || sessionId.startsWith(wanted),
  );
  const [newest] = fits.toSorted((a, b) => b.changedAt - a.changedAt);
  if (newest !== undefined) return newest;
  const whose = wanted === undefined ? 'of this directory' : `of a session ${wanted}`;
  throw new PortcullisError('io', `there is no change journal ${whose}`, {
    remedy: 'changes are journalled from the first prompt of a session that is itself kept',
  });
}
