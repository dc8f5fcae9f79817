import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface CaptureOptions {
  /** Bytes kept in memory. */
  readonly cap: number;
  readonly spill?: SpillFile | undefined;
}

/** Keeps what a child writes: all of it up to the cap, beyond that its first and last part. */
export class OutputCapture {
  readonly #cap: number;
  readonly #spill: SpillFile | undefined;
  /** Everything, until it is too much; then the first half of the cap. */
  #head: Buffer[] = [];
  #tail: Buffer[] = [];
  #tailBytes = 0;
  /** All bytes received, kept or not. */
  bytes = 0;
  truncated = false;

  constructor(options: CaptureOptions) {
    this.#cap = options.cap;
    this.#spill = options.spill;
  }

  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.truncated || this.#spill?.fromStart) this.#spill?.write(chunk);
    if (this.truncated) {
      this.#pushTail(chunk);
      return;
    }
    this.#head.push(chunk);
    if (this.bytes > this.#cap) this.#overflow();
  }

  /** Bytes that are not UTF-8 come out as replacement characters; no character is cut. */
  text(): string {
    if (!this.truncated) {
      const [only] = this.#head;
      if (only === undefined) return '';
      return (this.#head.length === 1 ? only : Buffer.concat(this.#head)).toString('utf8');
    }
    const head = withoutCutEnd(Buffer.concat(this.#head));
    const all = Buffer.concat(this.#tail);
    const tail = withoutCutStart(all.subarray(Math.max(0, all.length - this.#tailCap())));
    const missing = this.bytes - head.length - tail.length;
    return `${head.toString('utf8')}\n… [${missing} bytes left out] …\n${tail.toString('utf8')}`;
  }

  #overflow(): void {
    this.truncated = true;
    const all = Buffer.concat(this.#head);
    if (!this.#spill?.fromStart) this.#spill?.write(all);
    const headCap = this.#cap - this.#tailCap();
    // Copies, so that a small part does not keep a large buffer alive.
    this.#head = [Buffer.from(all.subarray(0, headCap))];
    this.#pushTail(Buffer.from(all.subarray(headCap)));
  }

  #pushTail(chunk: Buffer): void {
    const cap = this.#tailCap();
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    // Amortised: the front is cut off only once there is as much to drop as to keep.
    if (this.#tailBytes < cap * 2 + 65_536) return;
    const all = Buffer.concat(this.#tail);
    const kept = Buffer.from(all.subarray(all.length - cap));
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }

  #tailCap(): number {
    return Math.floor(this.#cap / 2);
  }
}

export interface SpillOptions {
  readonly file: string | (() => string);
  readonly cap: number;
  readonly fromStart: boolean;
}

/**
 * A file that takes the whole output, up to a cap. Written synchronously: reported output is in the file,
 * and a child that writes faster than the disk takes is slowed down by its pipe.
 */
export class SpillFile {
  readonly fromStart: boolean;
  readonly #file: string | (() => string);
  readonly #cap: number;
  #path: string | undefined;
  #fd: number | undefined;
  #written = 0;
  #failed = false;

  constructor(options: SpillOptions) {
    this.#file = options.file;
    this.#cap = options.cap;
    this.fromStart = options.fromStart;
    if (this.fromStart) this.#open();
  }

  /** Set once the file holds something. */
  get path(): string | undefined {
    return this.#failed ? undefined : this.#path;
  }

  write(chunk: Buffer): void {
    if (this.#failed) return;
    if (this.#path === undefined) this.#open();
    const part = chunk.subarray(0, Math.max(0, this.#cap - this.#written));
    if (this.#fd === undefined || part.length === 0) return;
    try {
      for (let at = 0; at < part.length; ) at += writeSync(this.#fd, part, at);
      this.#written += part.length;
    } catch {
      this.#fail();
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): void {
    try {
      this.#path = typeof this.#file === 'string' ? this.#file : this.#file();
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#fd = openSync(this.#path, 'w', 0o600);
    } catch {
      this.#fail();
    }
  }

  /** Disk full or not writable: the file is not offered to anyone; what is in memory is still shown. */
  #fail(): void {
    this.#failed = true;
    this.close();
  }
}

/** Drops the bytes of a character that was cut off at the end. */
function withoutCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

/** Drops the bytes of a character that was cut off at the start. */
function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return start === 0 ? bytes : bytes.subarray(start);
}
