import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import { sha256 } from '../platform/hash.js';

/** The previous hash of the first line. */
export const CHAIN_START = '0'.repeat(64);

/**
 * A line that carries the hash of its own content, the previous line's hash (`prev`) among it. After
 * a change, removal or insertion all later lines have to be rewritten. The content is the JSON of an object.
 */
export function chainedLine(content: string): { readonly line: string; readonly hash: string } {
  const hash = sha256(content);
  return { line: `${content.slice(0, -1)},"hash":"${hash}"}`, hash };
}

export type ChainState =
  | { readonly ok: true; readonly lines: number; readonly torn: number }
  | { readonly ok: false; readonly line: number; readonly reason: string };

/** Follows a chain line by line; `broken` is set at the first line that does not fit. */
export class ChainReader {
  /** Lines that were cut off while they were written. */
  torn = 0;
  broken: { readonly line: number; readonly reason: string } | undefined;
  last = CHAIN_START;
  #line = 0;
  #whole = 0;

  /** The content of the line, or undefined when it holds none. */
  read(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
    this.#line++;
    const parsed = text === undefined ? undefined : parseJson(text);
    if (text === undefined || parsed?.ok !== true || !isRecord(parsed.value)) {
      // Left by a process that died while writing. A line that was made unreadable later is told
      // from it by the next one, which continues from the line that is gone.
      this.torn++;
      return undefined;
    }
    this.#whole++;
    const { prev } = parsed.value;
    const own = hashOf(text);
    if (own === undefined) this.#break('it carries no hash');
    else if (sha256(own.body) !== own.hash) this.#break('its content was changed');
    else if (prev !== this.last) this.#break('the line before it was changed or removed');
    this.last = own?.hash ?? this.last;
    return parsed.value;
  }

  state(): ChainState {
    if (this.broken !== undefined) return { ok: false, ...this.broken };
    return { ok: true, lines: this.#whole, torn: this.torn };
  }

  #break(reason: string): void {
    this.broken ??= { line: this.#line, reason };
  }
}

/** The hash that the last whole line of a text carries. */
export function lastHashIn(
  tail: string,
): { readonly hash: string; readonly n: number } | undefined {
  for (const line of tail.split('\n').reverse()) {
    const hash = hashOf(line)?.hash;
    if (hash === undefined) continue;
    const n = Number(/^\{"v":1,"n":(\d+),/.exec(line)?.[1] ?? Number.NaN);
    if (Number.isInteger(n)) return { hash, n };
  }
  return undefined;
}

const OWN_HASH = /,"hash":"([0-9a-f]{64})"\}$/;

function hashOf(line: string): { readonly body: string; readonly hash: string } | undefined {
  const found = OWN_HASH.exec(line);
  if (found === null) return undefined;
  return { body: `${line.slice(0, found.index)}}`, hash: found[1] ?? '' };
}
