import type { AppendLog } from '../env/append-log.js';
import { AppendError } from '../env/append-log.js';
import type { Clock } from '../env/clock.js';
import type { JournalFiles } from '../env/journal-files.js';
import { join, projectSlug } from '../env/paths.js';
import { atExit } from '../env/this-process.js';
import { messageOf } from '../errors.js';
import type { Receipt } from '../protocol/permissions.js';
import type { SessionNews } from '../protocol/session-events.js';
import { extended } from '../util/extended.js';
import { isoTime } from '../util/iso-time.js';
import { CHAIN_START, chainedLine, type Hash, lastHashIn } from './chain.js';
import { entryText, type PendingEntry, pendingEntry } from './entry.js';

export interface JournalParts {
  readonly files: Pick<JournalFiles, 'openLog' | 'readEnds'>;
  readonly hash: Hash;
  readonly clock: Pick<Clock, 'now'>;
  /** Undefined: nothing is written down, receipts are only stamped. */
  readonly file: string | undefined;
  readonly sessionId: string;
  cwd(): string;
  emit(news: SessionNews): void;
}

/**
 * `now`: before the call it is about runs. `soon`, for a call that changes nothing, or nothing before it has asked for
 * `writeNoted`: together with its neighbours when this turn of the event loop is over, by which the next request is on
 * its way. `gathered`, for such a call of one of many agents: with the next that is written, and within 50 ms. All
 * stand in the order in which they were noted.
 */
export type WrittenWhen = 'now' | 'soon' | 'gathered';

/** The record of every decision of one session. */
export interface Journal {
  /**
   * Writes a decision down and returns it stamped. Never throws and never holds a call up: what cannot be
   * written is told and kept to be tried again.
   */
  note(receipt: Receipt, when: WrittenWhen): Receipt;
  /** What was noted up to now is written, for somebody whose call is about to change something. Never throws. */
  writeNoted(): void;
  /** Tries once more; tells and returns how many decisions are not on disk. */
  close(): number;
}

/** Where a session's journal is. */
export function journalFile(place: {
  readonly stateDirectory: string;
  readonly cwd: string;
  readonly sessionId: string;
}): string {
  return join(journalDirectory(place), `${place.sessionId}.jsonl`);
}

export function journalDirectory(place: {
  readonly stateDirectory: string;
  readonly cwd: string;
}): string {
  return join(place.stateDirectory, 'journal', projectSlug(place.cwd));
}

/** Decisions kept in memory while the disk takes none. */
const MOST_PENDING = 1_000;
const TAIL_BYTES = 256 * 1024;
/** What may be lost when the process is killed: decisions about calls that only read. */
const LONGEST_GATHERED_MS = 50;
/** More would not fit on the desk of the log, and save next to nothing. */
const MOST_GATHERED = 16;

export function openJournal(parts: JournalParts): Journal {
  return new FileJournal(parts);
}

class FileJournal implements Journal {
  readonly #parts: JournalParts;
  #log: AppendLog | undefined;
  #last = CHAIN_START;
  #n = 0;
  /** The file's size after our last write; another one means another writer. */
  #size = -1;
  #pending: PendingEntry[] = [];
  #dropped = 0;
  #failing = false;
  #scheduled = false;
  /** Something waits for the end of this turn: what came after it was written may wait longer. */
  #isDue = false;
  #gathering: NodeJS.Timeout | undefined;
  /** Set: the process does not end without writing what waits. */
  #stopWaiting: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  note(receipt: Receipt, when: WrittenWhen): Receipt {
    const { sessionId, clock, file } = this.#parts;
    const time = isoTime(clock.now());
    const stamped: Receipt = extended(receipt, { time, sessionId });
    if (file === undefined) return stamped;
    const pending = this.#pending;
    pending.push(pendingEntry(receipt, { time, cwd: this.#parts.cwd() }));
    // Nobody comes after the end to write it.
    if (when === 'now' || this.#isClosed) this.#write(file);
    else if (when === 'soon' || pending.length >= MOST_GATHERED) this.#writeSoon();
    else this.#writeInTime();
    if (this.#isClosed) this.#log?.close();
    return stamped;
  }

  writeNoted(): void {
    if (this.#pending.length > 0 && this.#parts.file !== undefined) this.#write(this.#parts.file);
  }

  /** Of many agents each call was a write and a look at the file of its own. */
  #writeInTime(): void {
    if (this.#gathering !== undefined) return;
    const write = (): void => {
      this.#gathering = undefined;
      this.writeNoted();
    };
    this.#gathering = setTimeout(write, LONGEST_GATHERED_MS).unref();
    this.#stopWaiting ??= atExit(() => this.writeNoted());
  }

  #writeSoon(): void {
    this.#isDue = true;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#isDue) this.writeNoted();
    });
    this.#stopWaiting ??= atExit(() => this.writeNoted());
  }

  close(): number {
    this.#isClosed = true;
    clearTimeout(this.#gathering);
    this.#stopWaiting?.();
    this.writeNoted();
    this.#log?.close();
    const lost = this.#pending.length + this.#dropped;
    if (lost > 0) {
      const text = `${lost} ${lost === 1 ? 'decision is' : 'decisions are'} missing in the journal`;
      this.#parts.emit({ type: 'notice', level: 'warning', text });
    }
    return lost;
  }

  #write(file: string): void {
    const { files, hash, sessionId: session } = this.#parts;
    this.#isDue = false;
    try {
      this.#log ??= files.openLog(file);
      this.#catchUp(file, this.#log.end());
      let last = this.#last;
      let n = this.#n;
      const lines: string[] = [];
      for (const pending of this.#pending) {
        n++;
        const made = chainedLine(entryText(pending, { n, session, prev: last }), hash);
        last = made.hash;
        lines.push(made.line);
      }
      this.#size = this.#log.append(lines);
      this.#last = last;
      this.#n = n;
      this.#pending = [];
      this.#recovered();
    } catch (thrown) {
      this.#lost(thrown);
    }
  }

  /** Goes on from the file's last line: an earlier run of this session, or another process, wrote it. */
  #catchUp(file: string, size: number): void {
    if (size === this.#size) return;
    const last =
      size === 0 ? undefined : lastHashIn(this.#parts.files.readEnds(file, TAIL_BYTES)?.tail ?? '');
    this.#last = last?.hash ?? CHAIN_START;
    this.#n = last?.n ?? 0;
  }

  #lost(thrown: unknown): void {
    // What went through is not written twice; where the chain goes on is read from the file again.
    if (thrown instanceof AppendError) this.#pending.splice(0, thrown.savedLines);
    this.#size = -1;
    const excess = this.#pending.length - MOST_PENDING;
    if (excess > 0) {
      this.#pending.splice(0, excess);
      this.#dropped += excess;
    }
    if (this.#failing) return;
    this.#failing = true;
    this.#parts.emit({
      type: 'notice',
      level: 'warning',
      text: `decisions are not written to the journal: ${messageOf(thrown)}; they are kept in memory and tried again`,
    });
  }

  #recovered(): void {
    if (!this.#failing) return;
    this.#failing = false;
    const lost = this.#dropped === 0 ? 'nothing was lost' : `${this.#dropped} decisions were lost`;
    this.#parts.emit({
      type: 'notice',
      level: 'info',
      text: `decisions are written to the journal again; ${lost}`,
    });
  }
}
