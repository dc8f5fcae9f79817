import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import {
  type Ask,
  type Batch,
  type FleetSession,
  type GivenAnswer,
  type Intent,
  type Mail,
  type SessionOrder,
  type SessionPhase,
  StaleEpochError,
  type StoredEntry,
} from '../types.js';

interface StoredMail {
  readonly at: string;
  readonly order: number;
  readonly mail: Mail;
}

/** Everything about one session, as its files tell it. */
export interface SessionState {
  readonly session: FleetSession;
  readonly claimedAt: number;
  readonly entries: readonly StoredEntry[];
  readonly receipts: readonly string[];
  readonly intents: ReadonlyMap<string, Intent>;
  readonly delivered: ReadonlySet<string>;
  /** Questions whose turn is not over. */
  readonly asks: ReadonlyMap<string, Ask>;
  readonly events: readonly string[];
  readonly mail: readonly Mail[];
}

/**
 * The files of one session. Each epoch has a file that is created once and a log that only its owner appends to.
 * A new epoch fixes how much of the log before it counts, so that what a process writes that was taken for dead
 * is cut off. No lock is needed for it.
 */
export class SessionFiles {
  readonly #directory: string;
  readonly id: string;

  constructor(sessions: string, id: string) {
    this.id = id;
    this.#directory = join(sessions, id);
  }

  create(order: SessionOrder): boolean {
    return stateFiles.createOnce(this.#path('order.json'), JSON.stringify(order));
  }

  addMail(mail: Mail): void {
    const at = `${Date.now()}`.padStart(15, '0');
    const name = `${encodeURIComponent(mail.key)}.json`;
    stateFiles.createOnce(
      this.#path('mail', name),
      JSON.stringify({ at, order: mailCount++, mail }),
    );
  }

  cancel(): boolean {
    return stateFiles.createOnce(this.#path('cancelled'), '{}');
  }

  get isCancelled(): boolean {
    return stateFiles.read(this.#path('cancelled')) !== undefined;
  }

  addAnswer(ask: string, answer: GivenAnswer): boolean {
    return stateFiles.createOnce(this.#path('answers', `${ask}.json`), JSON.stringify(answer));
  }

  answer(ask: string): GivenAnswer | undefined {
    return read<GivenAnswer>(this.#path('answers', `${ask}.json`));
  }

  get epoch(): number {
    return Math.max(
      0,
      ...stateFiles
        .list(this.#path('epochs'))
        .map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0)),
    );
  }

  /** Begins an epoch. False: another process was faster. */
  begin(epoch: number, worker: string): boolean {
    const file = this.#path('epochs', `${epoch}.json`);
    if (!stateFiles.createOnce(file, JSON.stringify({ worker, at: Date.now() }))) return false;
    this.#cut(epoch - 1);
    return true;
  }

  /**
   * fail-closed: the epoch is looked at again after the append. Where none is newer then, the next one counts
   * the bytes of this log later than now, so the batch is in it.
   */
  append(epoch: number, batch: Batch): void {
    if (this.epoch !== epoch) throw new StaleEpochError(this.id, epoch);
    mkdirSync(this.#path('log'), { recursive: true, mode: 0o700 });
    const line = JSON.stringify({ at: new Date().toISOString(), batch });
    // The leading newline ends a line that a dying process left behind.
    appendFileSync(this.#log(epoch), `\n${line}\n`, { mode: 0o600 });
    if (this.epoch !== epoch) throw new StaleEpochError(this.id, epoch);
  }

  /** Undefined: there is no such session. */
  state(): SessionState | undefined {
    const order = read<SessionOrder>(this.#path('order.json'));
    if (order === undefined) return undefined;
    const fold = new Fold(order);
    const last = this.epoch;
    for (let epoch = 1; epoch <= last; epoch++) {
      const claimed = read<{ worker: string; at: number }>(this.#path('epochs', `${epoch}.json`));
      fold.begin(epoch, claimed ?? { worker: '', at: this.#createdAt(epoch) });
      for (const { at, batch } of this.#batches(epoch, epoch < last)) fold.add(epoch, batch, at);
    }
    const isDue = ({ id, expiresAt }: Ask): boolean =>
      this.answer(id) !== undefined || Date.parse(expiresAt) <= Date.now();
    return fold.end({ mail: this.#mail(), cancelled: this.isCancelled, isDue });
  }

  remove(): void {
    stateFiles.remove(this.#directory);
  }

  #mail(): readonly StoredMail[] {
    return stateFiles
      .list(this.#path('mail'))
      .flatMap((name) => read<StoredMail>(this.#path('mail', name)) ?? [])
      .sort((a, b) => a.at.localeCompare(b.at) || a.order - b.order);
  }

  #batches(epoch: number, isOver: boolean): readonly { at: string; batch: Batch }[] {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#log(epoch));
    } catch {
      // Nothing was written in this epoch.
      return [];
    }
    const valid = isOver ? bytes.subarray(0, this.#cut(epoch)) : bytes;
    return valid
      .toString('utf8')
      .split('\n')
      .flatMap((line) => {
        const parsed = line === '' ? undefined : parseJson(line);
        return parsed?.ok === true && isRecord(parsed.value)
          ? [parsed.value as unknown as { at: string; batch: Batch }]
          : [];
      });
  }

  /** How many bytes of an epoch that is over count. */
  #cut(epoch: number): number {
    if (epoch === 0) return 0;
    const file = this.#path('epochs', `${epoch}.cut`);
    const known = read<{ bytes: number }>(file);
    if (known !== undefined) return known.bytes;
    const bytes = statSync(this.#log(epoch), { throwIfNoEntry: false })?.size ?? 0;
    stateFiles.createOnce(file, JSON.stringify({ bytes }));
    return read<{ bytes: number }>(file)?.bytes ?? bytes;
  }

  #createdAt(epoch: number): number {
    const file = this.#path('epochs', `${epoch}.json`);
    return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  #log(epoch: number): string {
    return this.#path('log', `${epoch}.jsonl`);
  }

  #path(...names: readonly string[]): string {
    return join(this.#directory, ...names);
  }
}

/** Keeps the order of messages of one process within a millisecond. */
let mailCount = 0;

/** A JSON file of our own; undefined: there is none, or it is being created. */
export function read<T>(path: string): T | undefined {
  const text = stateFiles.read(path);
  const parsed = text === undefined ? undefined : parseJson(text);
  return parsed?.ok === true ? (parsed.value as T) : undefined;
}

/** Builds the state of a session from its batches. */
class Fold {
  readonly #order: SessionOrder;
  #session: FleetSession;
  #claimedAt = 0;
  #batch = 0;
  #released: 'idle' | 'parked' | 'stopped' | 'ready' | undefined = 'ready';
  readonly #entries: StoredEntry[] = [];
  readonly #receipts: string[] = [];
  readonly #intents = new Map<string, Intent>();
  readonly #delivered = new Set<string>();
  readonly #asks = new Map<string, Ask>();
  readonly #events: string[] = [];

  constructor(order: SessionOrder) {
    this.#order = order;
    this.#session = {
      order,
      phase: 'ready',
      reason: '',
      epoch: 0,
      owner: '',
      turns: 0,
      turnOpen: false,
      policyDigest: '',
      spentUsd: 0,
      updatedAt: order.submittedAt,
    };
  }

  begin(epoch: number, { worker, at }: { readonly worker: string; readonly at: number }): void {
    this.#claimedAt = at;
    this.#batch = 0;
    // An epoch without an owner was begun to take the session away from a dead worker.
    this.#released = worker === '' ? 'ready' : undefined;
    this.#session = { ...this.#session, epoch, owner: worker };
  }

  add(epoch: number, batch: Batch, at: string): void {
    if (batch.number <= this.#batch) return;
    this.#batch = batch.number;
    for (const { agent, line } of batch.entries)
      this.#entries.push({ seq: this.#entries.length + 1, epoch, agent, line });
    this.#receipts.push(...batch.receipts);
    for (const intent of batch.intents) this.#intents.set(intent.key, intent);
    for (const key of batch.ended) {
      const intent = this.#intents.get(key);
      if (intent !== undefined) this.#intents.set(key, { ...intent, ended: true });
    }
    for (const id of batch.delivered) this.#delivered.add(id);
    const { release, closeAsks, ...fields } = batch.patch;
    if (closeAsks === true) this.#asks.clear();
    // Asked again by the next worker, a question keeps its time.
    for (const ask of batch.asks) if (!this.#asks.has(ask.id)) this.#asks.set(ask.id, ask);
    this.#events.push(...batch.events);
    this.#released = release ?? this.#released;
    this.#session = { ...this.#session, ...fields, updatedAt: at };
  }

  end(now: {
    readonly mail: readonly StoredMail[];
    readonly cancelled: boolean;
    isDue(ask: Ask): boolean;
  }): SessionState {
    const waiting = now.mail.filter(({ mail }) => !this.#delivered.has(mail.id));
    const isNew = waiting.some(({ at }) => Number(at) > Date.parse(this.#session.updatedAt));
    const isDue = [...this.#asks.values()].some(now.isDue);
    const hasMail = this.#released === 'stopped' ? isNew : waiting.length > 0;
    const phase = this.#phase(hasMail, isDue, now.cancelled);
    const owner = phase === 'running' ? this.#session.owner : '';
    return {
      session: { ...this.#session, order: this.#order, phase, owner },
      claimedAt: this.#claimedAt,
      entries: this.#entries,
      receipts: this.#receipts,
      intents: this.#intents,
      delivered: this.#delivered,
      asks: this.#asks,
      events: this.#events,
      mail: waiting.map(({ mail }) => mail),
    };
  }

  #phase(hasMail: boolean, isDue: boolean, cancelled: boolean): SessionPhase {
    if (cancelled) return 'cancelled';
    if (this.#released === undefined) return 'running';
    if (this.#released === 'parked') return isDue ? 'ready' : 'parked';
    if (this.#released === 'ready') return 'ready';
    return hasMail ? 'ready' : this.#released;
  }
}
