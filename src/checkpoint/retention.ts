import { readTreeMemory } from './disk/index-file.js';
import type { CheckpointFiles } from './disk/state-files.js';
import type { JournalParts } from './journal/change-log.js';
import { type LogEntry, readEntry } from './journal/entry.js';
import { History } from './journal/history.js';
import { blobsOf, readPlan } from './rewind/plan-file.js';
import type { BlobId } from './types.js';

export interface Retention {
  /** Journals without an entry for this long are deleted. */
  readonly days: number;
  /** The number of points per session that stay restorable. */
  readonly points: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The interval between clean-ups, unless the store is large. */
const EVERY_MS = DAY_MS;
const LARGE_BYTES = 1 << 30;

/** Deletes old journals and contents when a clean-up is due. */
export async function tidyUp(
  { files, store, clock, indexFile }: Pick<JournalParts, 'files' | 'store' | 'clock' | 'indexFile'>,
  retention: Retention,
): Promise<void> {
  const now = clock.now();
  const isDue = now - files.lastTidied() >= EVERY_MS || (await store.size()) > LARGE_BYTES;
  if (!isDue) return;
  await files.exclusive(0, async () => {
    files.noteTidied();
    await removeOldLogs(files, now - retention.days * DAY_MS);
    await store.prune(() => neededBlobs(files, retention.points, indexFile));
  });
}

async function removeOldLogs(files: CheckpointFiles, oldest: number): Promise<void> {
  const parents = new Set<string>();
  for (const { file, changedAt } of files
    .listLogs()
    .toSorted((a, b) => b.changedAt - a.changedAt)) {
    // A fork includes its parent's journal.
    if (changedAt < oldest && !parents.has(file)) files.removeLog(file);
    else {
      for (const entry of await entriesOf(files, file)) {
        if (entry.t === 'start' && entry.parent) parents.add(files.logFile(entry.parent.session));
      }
    }
  }
}

/** The contents that journals, unfinished rewinds and the tree index refer to. */
async function neededBlobs(
  files: CheckpointFiles,
  points: number,
  indexFile: string | undefined,
): Promise<ReadonlySet<BlobId>> {
  const index = indexFile === undefined ? [] : readTreeMemory(indexFile).values();
  const needed = new Set<BlobId>([...index].map(({ blob }) => blob));
  for (const { file } of files.listLogs()) {
    const history = new History();
    for (const entry of await entriesOf(files, file)) history.add(entry);
    for (const id of neededBy(history, points)) needed.add(id);
  }
  for (const { text } of files.unfinishedPlans()) {
    for (const { from, to } of readPlan(text)?.steps ?? []) {
      for (const id of blobsOf([from, to])) needed.add(id);
    }
  }
  return needed;
}

async function entriesOf(files: CheckpointFiles, file: string): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  await files.readLog(file, (line) => {
    const entry = line === undefined ? undefined : readEntry(line);
    if (entry !== undefined) entries.push(entry);
  });
  return entries;
}

function neededBy(history: History, points: number): readonly BlobId[] {
  const first = Math.max(0, history.points.length - points);
  const isOld = (messageId: string | undefined): boolean =>
    first > 0 && history.positionOf(messageId) < first;
  return history.changes
    .filter(({ messageId }) => !isOld(messageId))
    .flatMap(({ before, after }) => blobsOf([before, after]));
}
