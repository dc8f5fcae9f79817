import { messageOf } from '../../errors.js';
import {
  flag,
  number,
  object,
  oneOf,
  optional,
  parseShape,
  type Shape,
  type Shaped,
  text,
} from '../../lib/shape.js';
import { redactSureDeep } from '../../lib/text/redact.js';
import type { StateFiles, SyncedLog } from '../../platform/fs/state-files.js';
import type { readLines } from '../../platform/fs/transcript-files.js';
import { sha256 } from '../../platform/hash.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentReport } from '../runtime/report.js';

/** One run of an agent, numbered from 1; a resumed agent has several. */
export interface RunKey {
  readonly id: string;
  readonly run: number;
}

const key = {
  id: text,
  run: (value: unknown): value is number => Number.isSafeInteger(value),
};
const written = {
  ...key,
  /** Milliseconds since 1970. */
  at: number,
  by: object({ pid: number, start: optional(text) }),
  outputFile: text,
};
/** The fields that prove a line complete. */
const agent = object({ id: text, path: text, type: text }) as Shape<AgentRef>;
const carrier = object({ agentId: text, toolUseId: text });
/** A tool call and the agent that makes it. */
export type Carrier = Shaped<typeof carrier>;

const startedShape = object({
  ...written,
  type: oneOf('started'),
  agent,
  description: text,
  model: text,
  /** SendMessage can resume it. */
  resumable: flag,
});
export type StartedRecord = Shaped<typeof startedShape>;

/** A report whose text may be in a separate file. */
export type KeptReport = AgentReport & {
  readonly kept?: { readonly file: string; readonly chars: number };
};
const report = object({
  agent,
  text,
  end: object({ kind: text }),
  account: object({}),
}) as Shape<unknown> as Shape<KeptReport>;

const endedShape = object({
  ...written,
  type: oneOf('ended'),
  report,
  /** The waiting call whose result carries the report. */
  carrier: optional(carrier),
});
/** A run has ended; written before anyone is notified. */
export type EndedRecord = Shaped<typeof endedShape>;

/** A wait returned the report in its result. */
const waitedShape = object({ ...key, type: oneOf('waited'), carrier });
/** The receiver's transcript holds the report. */
const deliveredShape = object({ ...key, type: oneOf('delivered') });

export type DeliveryRecord =
  | StartedRecord
  | EndedRecord
  | Shaped<typeof waitedShape>
  | Shaped<typeof deliveredShape>;

/** A torn line or one of another kind is skipped. */
const recordShape: Shape<DeliveryRecord> = (value): value is DeliveryRecord =>
  startedShape(value) || endedShape(value) || waitedShape(value) || deliveredShape(value);

/** The journal's entries about one run. */
export interface RunState {
  readonly key: RunKey;
  readonly started?: StartedRecord;
  readonly ended?: EndedRecord;
  /** All calls that were to carry the report; only one whose result was recorded did. */
  readonly carriers: readonly Carrier[];
  readonly delivered: boolean;
}

export interface JournalParts {
  readonly files: Pick<StateFiles, 'openSyncedLog'> & { readonly readLines: typeof readLines };
  /** Absent: nothing is stored. */
  readonly path: string | undefined;
  warn(text: string): void;
}

/** Stores on disk which runs started, ended and were delivered. */
export class DeliveryJournal {
  readonly #parts: JournalParts;
  #log: SyncedLog | undefined;
  #unsaved: string[] = [];
  #warned = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  /** Durable on return, unless the disk fails: then it is retried with the next record. */
  write(record: DeliveryRecord): void {
    const { files, path, warn } = this.#parts;
    if (path === undefined) return;
    // Recognised secrets are removed, as in transcripts.
    this.#unsaved.push(JSON.stringify(redactSureDeep(record)));
    this.#log ??= files.openSyncedLog(path);
    // Only reports and waits need a sync: a report carried by a result is no safer than that result, and
    // other records survive a process crash anyway.
    const isReport = record.type === 'ended' && record.carrier === undefined;
    try {
      this.#log.append(this.#unsaved, { sync: isReport || record.type === 'waited' });
      this.#unsaved = [];
      this.#warned = false;
    } catch (thrown) {
      // A full disk does not hold back the result.
      if (!this.#warned) {
        warn(`what agents report is not safe from a crash just now: ${messageOf(thrown)}`);
      }
      this.#warned = true;
    }
  }

  /** The runs of earlier processes, in the order in which they started. */
  async read(): Promise<ReadonlyMap<string, RunState>> {
    const runs = new Map<string, RunState>();
    const { files, path } = this.#parts;
    if (path === undefined) return runs;
    await files.readLines(path, (line) => {
      const record = parseShape(line ?? '', recordShape);
      if (record === undefined) return;
      const key = { id: record.id, run: record.run };
      const before = runs.get(keyText(key)) ?? { key, carriers: [], delivered: false };
      runs.set(keyText(key), after(before, record));
    });
    return runs;
  }

  close(): void {
    this.#log?.close();
  }
}

function after(state: RunState, record: DeliveryRecord): RunState {
  const carriers = (carrier: Carrier | undefined): readonly Carrier[] =>
    carrier === undefined ? state.carriers : [...state.carriers, carrier];
  switch (record.type) {
    case 'started':
      return { ...state, started: state.started ?? record };
    case 'ended':
      // The first end counts; a second one would be delivered twice.
      if (state.ended !== undefined) return state;
      return { ...state, ended: record, carriers: carriers(record.carrier) };
    case 'waited':
      return { ...state, carriers: carriers(record.carrier) };
    case 'delivered':
      return { ...state, delivered: true };
  }
}

export function keyText({ id, run }: RunKey): string {
  return `${id}/${run}`;
}

/** The id of a delivery, derived from its content so that any process can recognise it in a transcript. */
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
