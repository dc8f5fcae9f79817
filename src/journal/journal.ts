import { messageOf } from '../errors.js';
import type { Clock } from '../platform/clock.js';
import { AppendError, type AppendLog, createAppendLog } from '../platform/fs/append-log.js';
import { basename, join, projectSlug } from '../platform/fs/paths.js';
import { stateFiles } from '../platform/fs/state-files.js';
import { modifiedAt, readEnds, readLines } from '../platform/fs/transcript-files.js';
import type { Receipt } from '../protocol/permissions.js';
import type { SessionNews } from '../protocol/session-events.js';
import { CHAIN_START, ChainReader, type ChainState, chainedLine, lastHashIn } from './chain.js';
import {
  entryText,
  type JournalEntry,
  type PendingEntry,
  pendingEntry,
  readEntry,
} from './entry.js';

export interface JournalFiles {
  openLog(path: string): AppendLog;
  readEnds: typeof readEnds;
}

export interface JournalParts {
  /** Replaces files. */
  readonly files?: JournalFiles | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** Undefined: nothing is written down, receipts are only stamped. */
  readonly file: string | undefined;
  readonly sessionId: string;
  cwd(): string;
  emit(news: SessionNews): void;
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

/** The record of every decision of one session. Nothing is opened before the first one. */
export class Journal {
  readonly #parts: JournalParts;
  #log: AppendLog | undefined;
  #last = CHAIN_START;
  #n = 0;
  /** The file's size after our last write; another one means another writer. */
  #size = -1;
  #pending: PendingEntry[] = [];
  #dropped = 0;
  #failing = false;
  #isClosed = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  /**
   * Writes a decision, before the call runs that it is about, and returns it stamped. Never throws: a decision
   * that cannot be written is reported and kept to be tried again.
   */
  note(receipt: Receipt): Receipt {
    const { sessionId, clock, file } = this.#parts;
    const time = new Date(clock.now()).toISOString();
    const stamped: Receipt = { ...receipt, time, sessionId };
    if (file === undefined) return stamped;
    this.#pending.push(pendingEntry(receipt, { time, cwd: this.#parts.cwd() }));
    this.#write(file);
    // A decision that comes after the end leaves no file open.
    if (this.#isClosed) this.#log?.close();
    return stamped;
  }

  /** Tries once more; reports and returns how many decisions are not on disk. */
  close(): number {
    this.#isClosed = true;
    const { file } = this.#parts;
    if (this.#pending.length > 0 && file !== undefined) this.#write(file);
    this.#log?.close();
    const lost = this.#pending.length + this.#dropped;
    if (lost > 0) {
      const text = `${lost} ${lost === 1 ? 'decision is' : 'decisions are'} missing in the journal`;
      this.#parts.emit({ type: 'notice', level: 'warning', text });
    }
    return lost;
  }

  #write(file: string): void {
    const { files, sessionId: session } = this.#parts;
    try {
      this.#log ??= (files?.openLog ?? createAppendLog)(file);
      this.#catchUp(file, this.#log.end());
      let last = this.#last;
      let n = this.#n;
      const lines: string[] = [];
      for (const pending of this.#pending) {
        n++;
        const made = chainedLine(entryText(pending, { n, session, prev: last }));
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
    const read = this.#parts.files?.readEnds ?? readEnds;
    const last = size === 0 ? undefined : lastHashIn(read(file, TAIL_BYTES)?.tail ?? '');
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

export interface ReadJournal {
  readonly file: string;
  readonly session: string;
  readonly entries: readonly JournalEntry[];
  readonly chain: ChainState;
}

/** Reads one session's journal and follows its chain. */
export async function readJournal(file: string): Promise<ReadJournal> {
  const chain = new ChainReader();
  const entries: JournalEntry[] = [];
  await readLines(file, (line) => {
    const entry = readEntry(chain.read(line));
    if (entry !== undefined) entries.push(entry);
  });
  return { file, session: basename(file, '.jsonl'), entries, chain: chain.state() };
}

/** The journals of a project, the one written last first. */
export function journalFilesIn(directory: string): readonly string[] {
  return stateFiles
    .list(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(directory, name))
    .map((file) => ({ file, at: modifiedAt(file) ?? 0 }))
    .sort((a, b) => b.at - a.at)
    .map(({ file }) => file);
}
