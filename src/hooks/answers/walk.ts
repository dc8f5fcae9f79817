import { isRecord } from '../../lib/own.js';

/** Values of an answer that are looked at. */
const MOST_VALUES = 100_000;

/**
 * Shows every key of every object in a value, however deep, without climbing the stack. `look` says
 * `skip` for what is not to be entered and `stop` when it has seen enough. Loops end at the limit.
 */
export function walkKeys(
  value: unknown,
  look: (key: string, inner: unknown) => 'skip' | 'stop' | undefined,
): 'done' | 'stopped' | 'too large' {
  const rest: unknown[] = [value];
  for (let one = rest.pop(), left = MOST_VALUES; one !== undefined; one = rest.pop()) {
    for (const [key, inner] of insideOf(one)) {
      if (left-- === 0) return 'too large';
      const found = key === undefined ? undefined : look(key, inner);
      if (found === 'stop') return 'stopped';
      if (found === undefined && typeof inner === 'object' && inner !== null) rest.push(inner);
    }
  }
  return 'done';
}

function* insideOf(value: unknown): Generator<readonly [string | undefined, unknown]> {
  if (Array.isArray(value)) for (const item of value) yield [undefined, item];
  else if (isRecord(value)) for (const key of Object.keys(value)) yield [key, value[key]];
}
