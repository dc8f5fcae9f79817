/**
 * Server-sent events with other data: `judge` gives what takes the place of the data of a message, each
 * as an event of its own; nothing for one that is left out. Names, ids, pauses and comments pass as they are;
 * other lines mean nothing, and to say so of each would cost more than all that is read.
 */
export function eventsWith(
  judge: (data: string) => readonly string[],
): TransformStream<string, string> {
  const lines = new EventLines(judge);
  return new TransformStream({
    transform(piece, controller) {
      const text = lines.push(piece);
      if (text !== '') controller.enqueue(text);
    },
  });
}

class EventLines {
  readonly #judge: (data: string) => readonly string[];
  /** Pieces of a line whose end has not come yet; joined once, or a long line would cost its square. */
  #rest: string[] = [];
  #endedWithReturn = false;
  #data: string[] = [];
  #event = '';

  constructor(judge: (data: string) => readonly string[]) {
    this.#judge = judge;
  }

  /** What can be handed on by now. */
  push(piece: string): string {
    if (piece === '') return '';
    const out: string[] = [];
    // The second half of a line's end that was cut in two.
    let start = this.#endedWithReturn && piece.startsWith('\n') ? 1 : 0;
    this.#endedWithReturn = piece.endsWith('\r');
    const ends = /\r\n|[\r\n]/g;
    ends.lastIndex = start;
    for (let end = ends.exec(piece); end !== null; end = ends.exec(piece)) {
      this.#rest.push(piece.slice(start, end.index));
      this.#line(this.#rest.join(''), out);
      this.#rest = [];
      start = ends.lastIndex;
    }
    if (start < piece.length) this.#rest.push(piece.slice(start));
    return out.join('');
  }

  #line(line: string, out: string[]): void {
    if (line === '') {
      this.#end(out);
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') {
      this.#data.push(value);
      return;
    }
    if (field === 'event') this.#event = value;
    if (isKnown(field, value)) out.push(`${line}\n`);
  }

  #end(out: string[]): void {
    const data = this.#data.join('\n');
    const isMessage = this.#event === '' || this.#event === 'message';
    const kept = data !== '' && isMessage ? this.#judge(data) : [data];
    const events = this.#data.length === 0 ? [] : kept;
    // Other characters that end a line elsewhere do not here.
    for (const one of events) out.push('data: ', one.replaceAll('\n', '\ndata: '), '\n\n');
    if (events.length === 0) out.push('\n');
    this.#data = [];
    this.#event = '';
  }
}

/** A comment is a line whose field has no name. */
function isKnown(field: string, value: string): boolean {
  if (field === 'retry') return /^\d+$/.test(value);
  return field === '' || field === 'event' || field === 'id';
}
