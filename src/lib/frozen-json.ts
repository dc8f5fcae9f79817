import { MAX_JSON_DEPTH } from './json.js';
import { err, ok, type Result } from './result.js';

/** An object of JSON values that cannot be changed any more. */
export type FrozenJson = Readonly<Record<string, unknown>>;

/** Objects that `freezeJson` made. Nothing else is added, so that membership is the proof. */
const made = new WeakSet<object>();

export function isFrozenJson(value: unknown): value is FrozenJson {
  return typeof value === 'object' && value !== null && made.has(value);
}

/**
 * Makes a frozen copy, each field read once: the gate and the tool see the same input. A frozen copy is
 * returned as it is. Fields without a value are left out, as in JSON.
 * fail-closed: what is more than JSON (code that answers reads, instances, cycles) is refused.
 */
export function freezeJson(value: FrozenJson): Result<FrozenJson, string> {
  if (made.has(value)) return ok(value);
  try {
    const copy = copyOf(value, 0) as FrozenJson;
    made.add(copy);
    return ok(copy);
  } catch (thrown) {
    if (thrown instanceof NotPlain) return err(thrown.message);
    // A proxy may throw any value.
    return err('it cannot be read');
  }
}

class NotPlain extends Error {}

function copyOf(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new NotPlain(`it holds ${value}, which JSON cannot say`);
      return value;
    case 'object':
      if (value === null) return value;
      if (depth > MAX_JSON_DEPTH) {
        throw new NotPlain(`it is nested more than ${MAX_JSON_DEPTH} levels deep`);
      }
      return Array.isArray(value) ? listOf(value, depth) : recordOf(value, depth);
    default:
      throw new NotPlain(`it holds a ${typeof value}, which JSON cannot say`);
  }
}

function listOf(list: object, depth: number): unknown {
  const copy: unknown[] = [];
  const length = dataOf(list, 'length') as number;
  for (let at = 0; at < length; at++) copy.push(copyOf(dataOf(list, String(at)), depth + 1));
  return Object.freeze(copy);
}

function recordOf(record: object, depth: number): unknown {
  const kind: unknown = Object.getPrototypeOf(record);
  // A plain object of another realm has another root, but nothing above it.
  if (kind !== null && kind !== Object.prototype && Object.getPrototypeOf(kind) !== null) {
    throw new NotPlain('it holds an instance of a class');
  }
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(record)) {
    if (name === '__proto__') throw new NotPlain('the key "__proto__" is not accepted');
    const inner = dataOf(record, name);
    if (inner !== undefined) copy[name] = copyOf(inner, depth + 1);
  }
  return Object.freeze(copy);
}

/** Reads a field without running a getter. */
function dataOf(holder: object, name: string): unknown {
  const property = Object.getOwnPropertyDescriptor(holder, name);
  if (property !== undefined && !('value' in property)) {
    throw new NotPlain(`its field "${name}" is code, not a value`);
  }
  return property?.value;
}
