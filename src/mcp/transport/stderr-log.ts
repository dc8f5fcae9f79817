import { redact } from '../../lib/text/redact.js';
import { type AppendLog, createAppendLog } from '../../platform/fs/append-log.js';

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Logs a server's standard error for people, never for the model. The file is created on first output,
 * owner-only and capped.
 */
export class StderrLog {
  readonly #log: AppendLog;
  readonly #maxBytes: number;
  #written = 0;
  #rest = '';
  #isFull = false;

  constructor(path: string, maxBytes = MAX_BYTES) {
    this.#log = createAppendLog(path);
    this.#maxBytes = maxBytes;
  }

  push(chunk: string): void {
    if (this.#isFull) return;
    const lines = `${this.#rest}${chunk}`.split('\n');
    this.#rest = lines.pop() ?? '';
    // Bounds the memory for an endless line.
    if (this.#rest.length > 65_536) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    this.#append(lines);
  }

  close(): void {
    if (this.#rest !== '') this.#append([this.#rest]);
    this.#rest = '';
    this.#log.close();
  }

  #append(said: readonly string[]): void {
    if (said.length === 0 || this.#isFull) return;
    // Redacts lines together, because a key may span several.
    const lines = redact(said.join('\n')).split('\n');
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    try {
      if (this.#written + bytes > this.#maxBytes) {
        this.#isFull = true;
        this.#log.append(['[the rest is left out: this file has reached its limit]']);
        this.#log.close();
        return;
      }
      this.#log.append(lines);
      this.#written += bytes;
    } catch {
      // A failing log must not stop the server.
      this.#isFull = true;
    }
  }
}
