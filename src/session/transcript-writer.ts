import { AppendError, type AppendLog } from '../env/append-log.js';
import type { AtOnce } from '../util/at-once.js';
import type { LostLines } from './store.js';

export interface TranscriptWriterOptions {
  readonly onLost?: (lost: LostLines) => void;
  /** What was reported as lost is saved after all. */
  readonly onRecovered?: (path: string) => void;
}

/** Characters of one file. */
const MOST_GATHERED = 256 * 1024;

/** One file's lines in order: what the disk refused goes first next time. */
export class TranscriptWriter {
  readonly #log: AppendLog;
  readonly #options: TranscriptWriterOptions;
  #unsaved: readonly string[] = [];
  #gathered: string[] = [];
  #gatheredSize = 0;
  /** Results of calls with effects that are to be written as soon as they come. */
  #awaited = 0;
  #sessionId = '';
  #reported = false;

  constructor(log: AppendLog, options: TranscriptWriterOptions) {
    this.#log = log;
    this.#options = options;
  }

  prepare(): AtOnce<void> {
    return this.#log.prepare();
  }

  /** Keeps lines for the next `flush`. False: that is due now. */
  gather(sessionId: string, lines: readonly string[]): boolean {
    this.#sessionId = sessionId;
    for (const line of lines) {
      this.#gathered.push(line);
      this.#gatheredSize += line.length;
    }
    if (this.#awaited > 0) {
      this.#awaited--;
      return false;
    }
    return this.#gatheredSize <= MOST_GATHERED;
  }

  flush({ andNext = false }: { readonly andNext?: boolean } = {}): void {
    if (andNext) this.#awaited++;
    const lines = this.#gathered;
    if (lines.length === 0) return;
    this.#gathered = [];
    this.#gatheredSize = 0;
    this.append(this.#sessionId, lines);
  }

  append(sessionId: string, lines: readonly string[]): void {
    const all = this.#unsaved.length === 0 ? lines : [...this.#unsaved, ...lines];
    try {
      this.#log.append(all);
      this.#unsaved = [];
    } catch (thrown) {
      if (!(thrown instanceof AppendError)) throw thrown;
      this.#unsaved = all.slice(thrown.savedLines);
      this.#report(sessionId, thrown);
      return;
    }
    if (this.#reported) this.#options.onRecovered?.(this.#log.path);
    this.#reported = false;
  }

  close(): number {
    this.flush();
    if (this.#unsaved.length > 0) this.append('', []);
    this.#log.close();
    return this.#unsaved.length;
  }

  #report(sessionId: string, failure: AppendError): void {
    if (this.#reported) return;
    this.#reported = true;
    this.#options.onLost?.({
      sessionId,
      path: this.#log.path,
      lines: this.#unsaved.length,
      message: failure.message,
      remedy: failure.remedy,
    });
  }
}
