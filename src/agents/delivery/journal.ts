import { messageOf } from '../../errors.js';
import { redactSureDeep } from '../../lib/redact.js';
import type { StateFiles, SyncedLog } from '../../platform/fs/state-files.js';
import type { TranscriptFiles } from '../../platform/fs/transcript-files.js';
import { type DeliveryRecord, foldRecords, type RunState, readRecord } from './records.js';

/**
 * Beginnings and marks of arrival outlive the process as they are; reports the machine too, but for
 * those that somebody waits for: they are no safer than the result that carries them.
 */
function outlivesMachine(record: DeliveryRecord): boolean {
  return record.type === 'waited' || (record.type === 'ended' && record.carrier === undefined);
}

/** What has begun, ended and arrived in a session, on the disk. */
export interface DeliveryJournal {
  /** Safe when it returns, unless the disk refuses: then it is tried again with the next. */
  write(record: DeliveryRecord): void;
  /** What earlier processes of the session wrote. */
  read(): Promise<ReadonlyMap<string, RunState>>;
  close(): void;
}

/** As it may be kept: known shapes of secrets are taken out, as of transcripts. */
function lineOf(record: DeliveryRecord): string {
  return JSON.stringify(redactSureDeep(record));
}

export type DeliveryLogFiles = Pick<StateFiles, 'openSyncedLog'> &
  Pick<TranscriptFiles, 'readLines'>;

export function openDeliveryJournal(parts: {
  readonly files: DeliveryLogFiles;
  /** Absent: nothing is kept. */
  readonly path: string | undefined;
  warn(text: string): void;
}): DeliveryJournal {
  const { files, path, warn } = parts;
  let log: SyncedLog | undefined;
  let unsaved: string[] = [];
  let warned = false;
  return {
    write(record) {
      if (path === undefined) return;
      unsaved.push(lineOf(record));
      log ??= files.openSyncedLog(path);
      try {
        log.append(unsaved, { sync: outlivesMachine(record) });
        unsaved = [];
        warned = false;
      } catch (thrown) {
        // The result is told all the same: losing it for a full disk would help nobody.
        if (!warned) {
          warn(`what agents report is not safe from a crash just now: ${messageOf(thrown)}`);
        }
        warned = true;
      }
    },
    async read() {
      const records: DeliveryRecord[] = [];
      if (path !== undefined) {
        await files.readLines(path, (line) => {
          const record = readRecord(line);
          if (record !== undefined) records.push(record);
        });
      }
      return foldRecords(records);
    },
    close: () => log?.close(),
  };
}
