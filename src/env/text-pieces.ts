import { StringDecoder } from 'node:string_decoder';

/** UTF-8 text of bytes that come in pieces: a character that is cut between two is given with the second. */
export class TextPieces {
  /** From the first piece on that ended with something else than a plain character. */
  #decoder: StringDecoder | undefined;

  add(bytes: Buffer, from: number, to: number): string {
    if (this.#decoder === undefined && (bytes[to - 1] ?? 0) < 0x80) {
      return bytes.toString('utf8', from, to);
    }
    this.#decoder ??= new StringDecoder('utf8');
    return this.#decoder.write(bytes.subarray(from, to));
  }

  /** What is left of a character that was never whole. */
  end(): string {
    return this.#decoder?.end() ?? '';
  }
}
