import type { FileSystem } from '../env/fs.js';
import type { SeenText } from '../env/seen-text.js';

/** How much is read for the head: mostly the first step holds it. */
const STEPS: readonly number[] = [8 * 1024, 64 * 1024, 320 * 1024];
const utf8 = new TextDecoder('utf-8');

const OPENING = /^\uFEFF?(?:[ \t]*[\r\n])*---[ \t]*[\r\n]/;
const CLOSING = /[\r\n](?:---|\.\.\.)[ \t]*[\r\n]/g;

export interface HeadText {
  readonly bytes: Uint8Array;
  /** The bytes are all of the file. */
  readonly isWhole: boolean;
  /** Of a file with a head the head alone: the rest is read when it is asked for. */
  readonly text: string;
}

/** As much of a file as its head needs. */
export async function headOf(
  fs: Pick<FileSystem, 'readHead'>,
  file: string,
  size: number,
): Promise<HeadText> {
  let found: HeadText | undefined;
  for (const step of STEPS) {
    // No more than there is: room for more costs time, and most files are short.
    const length = Math.min(step, size);
    const bytes = await fs.readHead(file, length);
    const isWhole = length === size || bytes.length < length;
    const text = utf8.decode(bytes);
    const head = headIn(text);
    if (head !== undefined) return { bytes, isWhole, text: head };
    found = { bytes, isWhole, text };
    if (isWhole || (!hasHead(text) && text.trim() !== '')) return found;
  }
  return found ?? { bytes: new Uint8Array(), isWhole: true, text: '' };
}

/** Of what was read when the file was looked at: what its name leads to may be another file by now. */
export function headInSeen({ text }: SeenText): HeadText {
  return { bytes: Buffer.from(text), isWhole: true, text: headIn(text) ?? text };
}

/** Up to the end of the head; undefined: it has none, or none that ends. */
function headIn(text: string): string | undefined {
  const open = OPENING.exec(text)?.[0];
  if (open === undefined) return undefined;
  CLOSING.lastIndex = open.length - 1;
  return CLOSING.test(text) ? text.slice(0, CLOSING.lastIndex) : undefined;
}

export function hasHead(text: string): boolean {
  return OPENING.test(text);
}
