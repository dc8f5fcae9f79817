import { messageOf } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { redactSureDeep } from '../../lib/redact.js';
import type { StateFiles, SyncedLog } from '../../platform/fs/state-files.js';
import type { TranscriptFiles } from '../../platform/fs/transcript-files.js';
import { sha256 } from '../../platform/hash.js';
import type { ProcessStamp } from '../../platform/process/process-stamp.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentReport } from '../runtime/report.js';

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

/** An agent and which of its runs: one that is gone on with ends more than once. */
export interface RunKey {
  /** The agent's id. */
  readonly id: string;
  /** 1 for the first. */
  readonly run: number;
}

/** A run was begun. */
export interface StartedRecord extends RunKey {
  readonly type: 'started';
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The process that it runs in. */
  readonly by: ProcessStamp;
  readonly agent: AgentRef;
  readonly description: string;
  readonly outputFile: string;
  readonly model: string;
  /** SendMessage can go on with it. */
  readonly resumable: boolean;
}

/** A run has ended. Written before anybody is told. */
export interface EndedRecord extends RunKey {
  readonly type: 'ended';
  readonly at: number;
  readonly by: ProcessStamp;
  readonly report: KeptReport;
  readonly outputFile: string;
  /** The call whose result is to carry the report: somebody waits for it. */
  readonly carrier?: Carrier;
}

/** A report whose text may be in a file of its own. */
export type KeptReport = AgentReport & {
  readonly kept?: { readonly file: string; readonly chars: number };
};

/** A tool call and the agent that makes it. */
export interface Carrier {
  readonly agentId: string;
  readonly toolUseId: string;
}

/** A wait returned the report: its result carries it. */
export interface WaitedRecord extends RunKey {
  readonly type: 'waited';
  readonly carrier: Carrier;
}

/** The receiver's transcript holds the report. */
export interface DeliveredRecord extends RunKey {
  readonly type: 'delivered';
}

export type DeliveryRecord = StartedRecord | EndedRecord | WaitedRecord | DeliveredRecord;

/** What a journal says about one run. */
export interface RunState {
  readonly key: RunKey;
  readonly started?: StartedRecord;
  readonly ended?: EndedRecord;
  /** All calls that were to carry it; only one whose result was recorded did. */
  readonly carriers: readonly Carrier[];
  readonly delivered: boolean;
}

export function keyText({ id, run }: RunKey): string {
  return `${id}/${run}`;
}

/**
 * The name of a delivery. Made of what it is about, so that the transcript that holds it proves that
 * it was made, whoever looks and whenever.
 */
export function deliveryId(sessionId: string, key: RunKey): string {
  const hex = sha256(`delivery 1\n${sessionId}\n${keyText(key)}`);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}

/** Undefined for a line that is torn or of a kind that we do not know. */
export function readRecord(line: string | undefined): DeliveryRecord | undefined {
  const parsed = line === undefined || line.trim() === '' ? undefined : parseJson(line);
  if (parsed?.ok !== true || !isRecord(parsed.value)) return undefined;
  const { value } = parsed;
  const named = typeof value.id === 'string' && Number.isSafeInteger(value.run);
  if (!named) return undefined;
  switch (value.type) {
    case 'started':
      return isAgent(value.agent) && isStamp(value.by) && isText(value.description)
        ? (value as unknown as StartedRecord)
        : undefined;
    case 'ended':
      return isReport(value.report) && isStamp(value.by)
        ? (value as unknown as EndedRecord)
        : undefined;
    case 'waited':
      return isCarrier(value.carrier) ? (value as unknown as WaitedRecord) : undefined;
    case 'delivered':
      return value as unknown as DeliveredRecord;
    default:
      return undefined;
  }
}

/** The runs that records speak of, in the order in which they were begun. */
export function foldRecords(records: readonly DeliveryRecord[]): ReadonlyMap<string, RunState> {
  const runs = new Map<string, RunState>();
  for (const record of records) {
    const key = { id: record.id, run: record.run };
    const before = runs.get(keyText(key)) ?? { key, carriers: [], delivered: false };
    runs.set(keyText(key), after(before, record));
  }
  return runs;
}

function after(state: RunState, record: DeliveryRecord): RunState {
  switch (record.type) {
    case 'started':
      return { ...state, started: state.started ?? record };
    case 'ended': {
      const carriers =
        record.carrier === undefined ? state.carriers : [...state.carriers, record.carrier];
      // The first stands: a second could only be told twice.
      return state.ended === undefined ? { ...state, ended: record, carriers } : state;
    }
    case 'waited':
      return { ...state, carriers: [...state.carriers, record.carrier] };
    case 'delivered':
      return { ...state, delivered: true };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isAgent(value: unknown): boolean {
  return isRecord(value) && isText(value.id) && isText(value.path) && isText(value.type);
}

function isStamp(value: unknown): boolean {
  return isRecord(value) && typeof value.pid === 'number';
}

function isCarrier(value: unknown): boolean {
  return isRecord(value) && isText(value.agentId) && isText(value.toolUseId);
}

function isReport(value: unknown): boolean {
  if (!isRecord(value) || !isAgent(value.agent) || !isText(value.text)) return false;
  return isRecord(value.end) && isText(value.end.kind) && isRecord(value.account);
}
