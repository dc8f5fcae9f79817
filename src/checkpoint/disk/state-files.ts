import { readdirSync, rmSync, statSync } from 'node:fs';
import { messageOf, systemCodeOf } from '../../errors.js';
import { fileNameFor } from '../../lib/file-name.js';
import { makePrivateDirectory } from '../../platform/fs/append-log.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import { join } from '../../platform/fs/paths.js';
import { type SyncedLog, stateFiles } from '../../platform/fs/state-files.js';
import { nodeTranscriptFiles } from '../../platform/fs/transcript-files.js';

/** Where the journals of one workspace and its unfinished rewinds are kept. */
export interface CheckpointFiles {
  /** The journal of one session. Nothing is made before the first append. */
  openLog(session: string): SyncedLog;
  /**
   * Every whole line of a session's journal in order; undefined for one too long to hold. A torn last
   * line is given as it is. False when the session has none.
   */
  readLog(session: string, onLine: (line: string | undefined) => void): Promise<boolean>;
  /** Bytes of a session's journal; 0 when it has none. */
  logSize(session: string): number;
  /** Journals that are kept, with the time of their last entry. */
  listLogs(): readonly { readonly file: string; readonly changedAt: number }[];
  /** By the name that `listLogs` gives. */
  readLogFile(file: string, onLine: (line: string | undefined) => void): Promise<boolean>;
  removeLog(file: string): void;
  /** Name of the file in which the journal of a session is kept. */
  logFile(session: string): string;
  /** When old journals were last dropped; 0 for never. */
  lastTidied(): number;
  noteTidied(): void;
  /** On the disk, and whole, when it returns. Throws. */
  writePlan(id: string, text: string): void;
  /** Texts of the plans that are not done, oldest first. */
  unfinishedPlans(): readonly { readonly file: string; readonly text: string }[];
  removePlan(file: string): void;
  /** Keeps a plan that can neither be completed nor taken back, out of the way of later starts. */
  setPlanAside(file: string): void;
  /** Name of the file in which a plan is kept. */
  planFile(id: string): string;
  /** Runs `work` while no other living program rewinds this workspace. Undefined: not free in time. */
  exclusive<T>(waitMs: number, work: () => Promise<T>): Promise<{ readonly value: T } | undefined>;
}

const LOG_END = '.jsonl';
const PLAN_END = '.json';

export function openCheckpointFiles(directory: string): CheckpointFiles {
  const sessions = join(directory, 'sessions');
  const plans = join(directory, 'plans');
  const tidied = join(directory, 'tidied');
  const logPath = (session: string): string => join(sessions, fileNameFor(session) + LOG_END);
  return {
    openLog(session) {
      const log = stateFiles.openSyncedLog(logPath(session));
      return {
        append: (lines, options) => inWords(() => log.append(lines, options)),
        close: () => log.close(),
      };
    },
    readLog: (session, onLine) => readLinesOf(logPath(session), onLine),
    logSize: (session) => statSync(logPath(session), { throwIfNoEntry: false })?.size ?? 0,
    listLogs: () =>
      namesIn(sessions, LOG_END).flatMap((file) => {
        const stat = statSync(join(sessions, file), { throwIfNoEntry: false });
        return stat?.isFile() ? [{ file, changedAt: stat.mtimeMs }] : [];
      }),
    readLogFile: (file, onLine) => readLinesOf(join(sessions, file), onLine),
    removeLog: (file) => rmSync(join(sessions, file), { force: true }),
    logFile: (session) => fileNameFor(session) + LOG_END,
    lastTidied: () => statSync(tidied, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    noteTidied: () => stateFiles.writeDurable(tidied, ''),
    planFile: (id) => fileNameFor(id) + PLAN_END,
    writePlan: (id, text) =>
      inWords(() => stateFiles.writeDurable(join(plans, fileNameFor(id) + PLAN_END), text)),
    unfinishedPlans: () =>
      namesIn(plans, PLAN_END)
        .flatMap((file) => {
          const path = join(plans, file);
          const text = stateFiles.read(path);
          const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
          return text === undefined || at === undefined ? [] : [{ file, text, at }];
        })
        .sort((a, b) => a.at - b.at),
    removePlan: (file) => rmSync(join(plans, file), { force: true }),
    setPlanAside(file) {
      const text = stateFiles.read(join(plans, file));
      if (text !== undefined) stateFiles.writeDurable(join(plans, `${file}.stuck`), text);
      rmSync(join(plans, file), { force: true });
    },
    exclusive(waitMs, work) {
      inWords(() => makePrivateDirectory(directory));
      return withFileLock(join(directory, 'rewind.lock'), { waitMs }, work);
    },
  };
}

/** Where a disk takes nothing more, the store is meant, and that is what a person has to know. */
export function storeTroubleOf(thrown: unknown): string {
  for (let at = thrown, depth = 0; at !== undefined && depth < MOST_CAUSES; depth++) {
    const why = UNWRITABLE.get(systemCodeOf(at) ?? '');
    if (why !== undefined) return `the store of checkpoints cannot be written: ${why}`;
    at = at instanceof Error ? at.cause : undefined;
  }
  return messageOf(thrown);
}

const MOST_CAUSES = 5;
const UNWRITABLE: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk is full'],
  ['EROFS', 'the disk is read-only'],
  ['EACCES', 'the system does not allow it'],
  ['EPERM', 'the system does not allow it'],
]);

function inWords<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw new Error(storeTroubleOf(thrown), { cause: thrown });
  }
}

async function readLinesOf(
  path: string,
  onLine: (line: string | undefined) => void,
): Promise<boolean> {
  return nodeTranscriptFiles.readLines(path, onLine);
}

function namesIn(directory: string, end: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(end))
      .sort();
  } catch {
    // Not there yet: nothing was ever written.
    return [];
  }
}
