import { PortcullisError } from '../errors.js';
import { MAX_JSON_DEPTH } from '../lib/json.js';
import type { Options } from './types/index.js';

/**
 * A value as it would arrive over a wire: a copy of plain data, each field read once, so that no side can
 * change what the other has judged. Throws on what JSON would lose: functions, collections, cycles.
 */
export function plainCopy(value: unknown): unknown {
  const text = JSON.stringify(value, refuseLoss);
  return text === undefined ? undefined : JSON.parse(text);
}

function refuseLoss(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new TypeError('the key "__proto__" is not accepted');
  const kind = Object.prototype.toString.call(value);
  const isData =
    typeof value !== 'object' || ['Object', 'Array', 'Null'].includes(kind.slice(8, -1));
  if (isData && !['function', 'symbol', 'bigint'].includes(typeof value)) return value;
  throw new TypeError(`it holds ${kind}, which is no data`);
}

/** Parts that are not data: they are used as they are. */
const BY_REFERENCE: ReadonlySet<string> = new Set(['sessionStore', 'abortController', 'instance']);

/**
 * The options as they are at this moment. Programs use one object for several sessions, and change it in
 * between: fail-closed, as a ban that is taken out for the next session would be gone for this one.
 */
export function copyOptions(options: Options): Options {
  const { env } = options;
  const copy = copyOf(options, 0) as Options;
  // The environment of a process is no plain object.
  return env === undefined ? copy : { ...copy, env: { ...env } };
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_JSON_DEPTH) throw new PortcullisError('usage', 'the options hold themselves');
  if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1));
  const kind: unknown = Object.getPrototypeOf(value);
  if (kind !== null && kind !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      BY_REFERENCE.has(name) ? inner : copyOf(inner, depth + 1),
    ]),
  );
}
