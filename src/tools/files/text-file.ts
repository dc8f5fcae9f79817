/** A text file's content apart from how it is stored, so that it can be stored the same way again. */
export interface TextFile {
  /** Without byte order mark; line ends as they are. */
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  readonly bom: boolean;
  /** Bytes that are not valid were replaced; writing the text back would damage them. */
  readonly damaged: boolean;
}

/** Undefined when the bytes are not text (they hold NUL). */
export function decodeText(bytes: Uint8Array): TextFile | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decoded(bytes, 'utf-16le', 2);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decoded(bytes, 'utf-16be', 2);
  if (bytes.includes(0)) return undefined;
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return decoded(bytes, 'utf-8', bom ? 3 : 0);
}

export function encodeText(
  text: string,
  how: Pick<TextFile, 'encoding' | 'bom'>,
): Uint8Array | string {
  if (how.encoding === 'utf-8') return how.bom ? `\ufeff${text}` : text;
  const bytes = new Uint8Array(2 + text.length * 2);
  const view = new DataView(bytes.buffer);
  const littleEndian = how.encoding === 'utf-16le';
  view.setUint16(0, 0xfeff, littleEndian);
  for (let index = 0; index < text.length; index++) {
    view.setUint16(2 + index * 2, text.charCodeAt(index), littleEndian);
  }
  return bytes;
}

/** The line end that most lines have. */
export function lineEndOf(text: string): '\n' | '\r\n' {
  const all = text.split('\n').length - 1;
  const withReturn = text.split('\r\n').length - 1;
  return withReturn * 2 > all ? '\r\n' : '\n';
}

export function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

/** Lines without their ends. A line end at the very end does not open another line. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (!text.includes('\r')) return lines;
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

function decoded(bytes: Uint8Array, encoding: TextFile['encoding'], bomLength: number): TextFile {
  const bom = bomLength > 0;
  const body = bytes.subarray(bomLength);
  const decode = (fatal: boolean): string =>
    new TextDecoder(encoding, { fatal, ignoreBOM: true }).decode(body);
  try {
    return { encoding, bom, text: decode(true), damaged: false };
  } catch {
    // Not valid in this encoding: shown as well as it can be, and marked.
    return { encoding, bom, text: decode(false), damaged: true };
  }
}
