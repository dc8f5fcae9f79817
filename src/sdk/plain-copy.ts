import { MAX_JSON_DEPTH } from '../util/json.js';

/**
 * A value as it would arrive over a wire: a copy of plain data, each field read once, so that nobody
 * can change afterwards what the other side has judged. Texts are shared, as nobody can change them.
 * Throws on what would get lost on the way: functions, collections, cycles.
 */
export function plainCopy(value: unknown): unknown {
  return copyOf(value, 0);
}

function copyOf(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'object':
      return value === null ? null : copyOfObject(value, depth);
    default:
      throw new TypeError(`it holds a ${typeof value}, which is no data`);
  }
}

function copyOfObject(value: object, depth: number): unknown {
  if (depth > MAX_JSON_DEPTH) {
    throw new TypeError(`it is nested more than ${MAX_JSON_DEPTH} levels deep, or in itself`);
  }
  if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1) ?? null);
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === 'function') return copyOf(toJSON.call(value, ''), depth + 1);
  const kind = Object.prototype.toString.call(value);
  if (kind !== '[object Object]') throw new TypeError(`it holds ${kind}, which is no data`);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    if (name === '__proto__') throw new TypeError('the key "__proto__" is not accepted');
    const inner = copyOf((value as Record<string, unknown>)[name], depth + 1);
    if (inner !== undefined) copy[name] = inner;
  }
  return copy;
}
