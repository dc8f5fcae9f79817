import { parseJson } from './json.js';
import { isRecord } from './own.js';

/** Tells whether something from outside is of a type. One shape gives the check and the type. */
export type Shape<T> = (value: unknown) => value is T;
export type Shaped<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Optional<F extends Fields> = {
  [K in keyof F]: undefined extends Shaped<F[K]> ? K : never;
}[keyof F];
type Shapes<F extends Fields> = {
  readonly [K in Exclude<keyof F, Optional<F>>]: Shaped<F[K]>;
} & { readonly [K in Optional<F>]?: Shaped<F[K]> };

export const text: Shape<string> = (value) => typeof value === 'string';
export const number: Shape<number> = (value) => typeof value === 'number';
export const flag: Shape<boolean> = (value) => typeof value === 'boolean';

export function like(pattern: RegExp): Shape<string> {
  return (value): value is string => typeof value === 'string' && pattern.test(value);
}

export function oneOf<const T>(...known: readonly T[]): Shape<T> {
  return (value): value is T => (known as readonly unknown[]).includes(value);
}

export function optional<T>(inner: Shape<T>): Shape<T | undefined> {
  return (value): value is T | undefined => value === undefined || inner(value);
}

export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(item);
}

export function mapOf<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value): value is Readonly<Record<string, T>> =>
    isRecord(value) && Object.values(value).every(item);
}

/** Fields that are not named may be there, too. */
export function object<F extends Fields>(fields: F): Shape<Shapes<F>> {
  const entries = Object.entries(fields);
  return (value): value is Shapes<F> =>
    isRecord(value) && entries.every(([name, fits]) => fits(value[name]));
}

/** What a JSON text holds; undefined: it is no JSON, or of another shape. */
export function parseShape<T>(json: string, shape: Shape<T>): T | undefined {
  const parsed = parseJson(json);
  return parsed.ok && shape(parsed.value) ? parsed.value : undefined;
}
