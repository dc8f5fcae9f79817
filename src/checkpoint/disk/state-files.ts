import { rmSync, statSync } from 'node:fs';
import { messageOf, systemCodeOf } from '../../errors.js';
import { fileNameFor } from '../../lib/file-name.js';
import { makePrivateDirectory } from '../../platform/fs/append-log.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import { join } from '../../platform/fs/paths.js';
import { type SyncedLog, stateFiles } from '../../platform/fs/state-files.js';
import { readLines } from '../../platform/fs/transcript-files.js';

const LOG_END = '.jsonl';
const PLAN_END = '.json';

/** The journals and unfinished rewind plans of one workspace, by file name; creates directories on the first write. */
export class CheckpointFiles {
  readonly #directory: string;
  readonly #sessions: string;
  readonly #plans: string;
  readonly #tidied: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.#sessions = join(directory, 'sessions');
    this.#plans = join(directory, 'plans');
    this.#tidied = join(directory, 'tidied');
  }

  /** The file name of a session's journal. */
  logFile(session: string): string {
    return fileNameFor(session) + LOG_END;
  }

  openLog(session: string): SyncedLog {
    const log = stateFiles.openSyncedLog(join(this.#sessions, this.logFile(session)));
    return {
      append: (lines, options) => inWords(() => log.append(lines, options)),
      close: () => log.close(),
    };
  }

  /**
   * Reads the lines of a journal in order; undefined stands for an overlong one, and a truncated last line is
   * passed as it is.
   */
  async readLog(file: string, onLine: (line: string | undefined) => void): Promise<void> {
    await readLines(join(this.#sessions, file), onLine);
  }

  /** The journal's size in bytes; 0 without a journal. */
  logSize(session: string): number {
    const path = join(this.#sessions, this.logFile(session));
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** All journals with the time of their last entry. */
  listLogs(): readonly { readonly file: string; readonly changedAt: number }[] {
    return namesIn(this.#sessions, LOG_END).flatMap((file) => {
      const stat = statSync(join(this.#sessions, file), { throwIfNoEntry: false });
      return stat?.isFile() ? [{ file, changedAt: stat.mtimeMs }] : [];
    });
  }

  removeLog(file: string): void {
    rmSync(join(this.#sessions, file), { force: true });
  }

  /** When old journals were last deleted; 0 for never. */
  lastTidied(): number {
    return statSync(this.#tidied, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  noteTidied(): void {
    stateFiles.writeDurable(this.#tidied, '');
  }

  /** Writes a plan durably and returns its file name. Throws. */
  writePlan(id: string, text: string): string {
    const file = fileNameFor(id) + PLAN_END;
    inWords(() => stateFiles.writeDurable(join(this.#plans, file), text));
    return file;
  }

  /** The unfinished plans, oldest first. */
  unfinishedPlans(): readonly { readonly file: string; readonly text: string }[] {
    return namesIn(this.#plans, PLAN_END)
      .flatMap((file) => {
        const path = join(this.#plans, file);
        const text = stateFiles.read(path);
        const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
        return text === undefined || at === undefined ? [] : [{ file, text, at }];
      })
      .sort((a, b) => a.at - b.at);
  }

  removePlan(file: string): void {
    rmSync(join(this.#plans, file), { force: true });
  }

  /** Renames a plan that can be neither completed nor undone, so that later starts ignore it. */
  setPlanAside(file: string): void {
    const text = stateFiles.read(join(this.#plans, file));
    if (text !== undefined) stateFiles.writeDurable(join(this.#plans, `${file}.stuck`), text);
    this.removePlan(file);
  }

  /** Runs `work` under the workspace's rewind lock; undefined when the lock is not free in time. */
  exclusive<T>(waitMs: number, work: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    inWords(() => makePrivateDirectory(this.#directory));
    return withFileLock(join(this.#directory, 'rewind.lock'), { waitMs }, work);
  }
}

/** Describes a write error of the checkpoint store; disk errors mean the store, not the workspace. */
export function describeStoreError(thrown: unknown): string {
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
    throw new Error(describeStoreError(thrown), { cause: thrown });
  }
}

function namesIn(directory: string, end: string): string[] {
  return stateFiles
    .list(directory)
    .filter((name) => name.endsWith(end))
    .sort();
}
