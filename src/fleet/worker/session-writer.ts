import { messageOf } from '../../errors.js';
import type { JournalFiles } from '../../journal/journal.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import {
  type Ask,
  type Batch,
  type Claim,
  type Fleet,
  type Intent,
  type SessionPatch,
  type SessionRecord,
  type Snapshot,
  StaleEpochError,
} from '../types.js';

export interface WriterParts {
  readonly fleet: Pick<Fleet, 'commit'>;
  readonly claim: Claim;
  readonly record: SessionRecord;
  /** Saves the files if calls may have changed them. Undefined: they are those of the last snapshot. */
  saveFiles(): Promise<Snapshot | undefined>;
  /** Another worker has the session, or it was cancelled. */
  onLost(why: 'stale' | 'cancelled'): void;
  /** The fleet cannot be reached; the write is tried again. */
  onRetry(message: string): void;
}

type Queue = { -readonly [K in Exclude<keyof Batch, 'number' | 'patch'>]: Batch[K][number][] };

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;

/**
 * Writes everything that a drive has to keep. Lines are collected and written together: before each call with
 * effects, and at the end of a turn. What is written is in order and complete up to some point, whenever the
 * worker dies.
 */
export class SessionWriter {
  readonly #parts: WriterParts;
  #queue: Queue = emptyQueue();
  #number = 0;
  #writing: Promise<void> = Promise.resolve();
  #isFrozen = false;
  #isLost = false;
  /** Undefined until the first reply says whether clients follow the session. */
  #isWatched: boolean | undefined;
  #earlyEvents: string[] = [];
  #lastCommit = performance.now();
  #patch: SessionPatch = {};
  readonly #mail = new Set<string>();
  /** Keys of calls that were announced and have no result yet, by call id. */
  readonly #running = new Map<string, string>();
  /** How many calls with this id have a result: models may use an id again. */
  readonly #finished = new Map<string, number>();
  readonly #interrupted = new Map<string, Intent>();

  constructor(parts: WriterParts) {
    this.#parts = parts;
    for (const intent of parts.record.intents) {
      if (intent.ended) this.#countFinished(intent.callId);
      else this.#interrupted.set(intent.callId, intent);
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Clients follow the session. */
  get isWatched(): boolean {
    return this.#isWatched === true;
  }

  /** Calls with effects that have no result yet. */
  get callsInFlight(): number {
    return this.#running.size;
  }

  get millisecondsSinceCommit(): number {
    return performance.now() - this.#lastCommit;
  }

  /** The call that an earlier worker announced and that has no result. */
  interrupted(callId: string): Intent | undefined {
    return this.#interrupted.get(callId);
  }

  /** Prompts with these ids count as delivered once they are in the transcript. */
  expectMail(id: string): void {
    this.#mail.add(id);
  }

  delivered(id: string): void {
    if (this.#mail.delete(id)) this.#add('delivered', id);
  }

  lines(agent: string, lines: readonly unknown[]): void {
    for (const line of lines) {
      this.#add('entries', { agent, line: JSON.stringify(line) });
      if (!isRecord(line) || line.type !== 'user') continue;
      if (agent === '' && typeof line.uuid === 'string') this.delivered(line.uuid);
      for (const id of resultsIn(line)) this.#end(id);
    }
  }

  ask(ask: Ask): void {
    this.#add('asks', ask);
  }

  event(event: unknown): void {
    if (this.#isWatched === undefined) this.#earlyEvents.push(JSON.stringify(event));
    else if (this.#isWatched) this.#add('events', JSON.stringify(event));
  }

  /** Written with the next batch. */
  note(patch: SessionPatch): void {
    if (!this.#isFrozen) this.#patch = { ...this.#patch, ...patch };
  }

  /** The journal writes its lines here: the chain goes on where the worker before ended it. */
  get journalFiles(): JournalFiles {
    const tail = this.#parts.record.lastReceipt;
    let size = tail?.length ?? 0;
    const last = { tail: tail ?? '' };
    return {
      openLog: (path) => ({
        path,
        append: (lines) => {
          for (const line of lines) {
            this.#add('receipts', line);
            size += line.length + 1;
            last.tail = line;
          }
          return size;
        },
        end: () => size,
        close: () => undefined,
      }),
      readEnds: () => ({ head: '', tail: `${last.tail}\n` }),
    };
  }

  /**
   * Announces a call with effects. Resolves to its key once the announcement is written, so that no worker runs
   * the call without knowing that this one may have. fail-closed: rejects where it cannot be written.
   */
  async begin(intent: Omit<Intent, 'key' | 'ended'>): Promise<string> {
    if (this.#isFrozen || this.#isLost) throw new Error('the session is handed to another worker');
    const { callId } = intent;
    const key = this.#interrupted.get(callId)?.key ?? this.#keyOf(callId);
    this.#interrupted.delete(callId);
    this.#running.set(callId, key);
    this.#add('intents', { ...intent, key, ended: false });
    await this.flush();
    if (this.#isFrozen || this.#isLost) throw new Error('the session is handed to another worker');
    return key;
  }

  /** Drops what comes from now on: the transcript ends here, and the next worker goes on from it. */
  freeze(): void {
    this.#isFrozen = true;
  }

  /** Writes what has been collected. Resolves when it is kept, or the session is lost. */
  async flush(patch: SessionPatch = {}): Promise<void> {
    this.#patch = { ...this.#patch, ...patch };
    this.#writing = this.#writing.then(() => this.#commit({ evenEmpty: false }));
    await this.#writing;
  }

  /** Looks whether the session is still ours, and whether clients follow it. */
  async touch(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#commit({ evenEmpty: true }));
    await this.#writing;
  }

  async #commit({ evenEmpty }: { readonly evenEmpty: boolean }): Promise<void> {
    const patch = this.#patch;
    const hasLines = Object.values(this.#queue).some((list) => list.length > 0);
    const isEmpty = !hasLines && Object.keys(patch).length === 0;
    if (this.#isLost || (isEmpty && !evenEmpty)) return;
    const lines = this.#queue;
    this.#queue = emptyQueue();
    this.#patch = {};
    const { fleet, claim, onRetry, onLost } = this.#parts;
    // A result is kept together with the files that its call left: a takeover finds both, or neither.
    const needsFiles = lines.ended.length > 0 || patch.turns !== undefined || patch.release;
    const snapshot = needsFiles ? await this.#parts.saveFiles() : undefined;
    const batch: Batch = {
      number: ++this.#number,
      ...lines,
      patch: snapshot === undefined ? patch : { ...patch, snapshot },
    };
    for (let delay = FIRST_RETRY_MS; ; delay = Math.min(delay * 2, LONGEST_RETRY_MS)) {
      try {
        const { watched, cancelled } = await fleet.commit(claim, batch);
        this.#isWatched = watched;
        if (watched) for (const event of this.#earlyEvents) this.#add('events', event);
        this.#earlyEvents = [];
        this.#lastCommit = performance.now();
        if (cancelled && !this.#isFrozen) onLost('cancelled');
        return;
      } catch (thrown) {
        if (thrown instanceof StaleEpochError) {
          this.#isLost = true;
          onLost('stale');
          return;
        }
        // The batch has a number: one that was written although no reply came is not written twice.
        onRetry(messageOf(thrown));
        await new Promise((resolve) => setTimeout(resolve, delay));
      }
    }
  }

  #add<K extends keyof Queue>(kind: K, value: Queue[K][number]): void {
    if (!this.#isFrozen) (this.#queue[kind] as unknown[]).push(value);
  }

  #end(callId: string): void {
    const key = this.#running.get(callId) ?? this.#interrupted.get(callId)?.key;
    if (key === undefined) return;
    this.#running.delete(callId);
    this.#interrupted.delete(callId);
    this.#countFinished(callId);
    this.#add('ended', key);
  }

  #countFinished(callId: string): void {
    this.#finished.set(callId, (this.#finished.get(callId) ?? 0) + 1);
  }

  #keyOf(callId: string): string {
    const count = this.#finished.get(callId) ?? 0;
    const key = `${this.#parts.claim.session.order.id}:${callId}`;
    return count === 0 ? key : `${key}:${count}`;
  }
}

function emptyQueue(): Queue {
  return { entries: [], receipts: [], intents: [], ended: [], delivered: [], asks: [], events: [] };
}

function resultsIn(line: Readonly<Record<string, unknown>>): readonly string[] {
  const content = isRecord(line.message) ? line.message.content : undefined;
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) =>
    isRecord(block) && block.type === 'tool_result' && typeof block.tool_use_id === 'string'
      ? [block.tool_use_id]
      : [],
  );
}

/** The lines of a record, for a store: by agent, unreadable ones refused. */
export function linesByAgent(record: SessionRecord): ReadonlyMap<string, readonly JsonLine[]> {
  const lines = new Map<string, JsonLine[]>();
  for (const { agent, line } of record.entries) {
    const parsed = parseJson(line);
    // fail-closed: a conversation with a hole would go on as another one.
    if (!parsed.ok || !isRecord(parsed.value)) throw new Error('a transcript line cannot be read');
    const own = lines.get(agent) ?? [];
    own.push(parsed.value as JsonLine);
    lines.set(agent, own);
  }
  return lines;
}

type JsonLine = Readonly<Record<string, unknown>>;
