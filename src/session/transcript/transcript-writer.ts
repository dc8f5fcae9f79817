import { AppendError, type AppendLog } from '../../platform/fs/append-log.js';
import type { LostLines } from './store.js';

export interface TranscriptWriterOptions {
  readonly onLost?: (lost: LostLines) => void;
  /** What was reported as lost is saved after all. */
  readonly onRecovered?: (path: string) => void;
}

/** One file's lines in order: what the disk refused goes first next time. */
export class TranscriptWriter {
  readonly #log: AppendLog;
  readonly #options: TranscriptWriterOptions;
  #unsaved: readonly string[] = [];
  #reported = false;

  constructor(log: AppendLog, options: TranscriptWriterOptions) {
    this.#log = log;
    this.#options = options;
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
