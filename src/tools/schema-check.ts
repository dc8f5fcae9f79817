import { messageOf } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import { problemsOf, type SchemaError } from './schema-problems.js';
import type { ValidationProblem } from './tool.js';

export type SchemaCheck = (input: unknown) => readonly ValidationProblem[];

const MAX_PROBLEMS = 20;

/**
 * A checker for a JSON schema from outside, drafts 2020-12, 2019-09 and 07; without `$schema` the
 * newest that accepts it. `format` is not enforced, references are looked up inside the schema only.
 * The error names the place in the schema as a JSON pointer.
 */
export async function compileSchema(schema: unknown): Promise<Result<SchemaCheck, string>> {
  if (typeof schema !== 'boolean' && !isRecord(schema)) {
    return err('a JSON schema is an object (or true or false)');
  }
  let failure: string | undefined;
  for (const draft of draftsFor(schema)) {
    const validator = hasIds(schema) ? await loadValidator(draft) : await validatorOf(draft);
    const compiled = compileWith(validator, schema);
    if (compiled.ok) return compiled;
    failure ??= compiled.error;
  }
  return err(failure ?? 'the schema cannot be used');
}

/**
 * The library remembers every `$id` for good, which would make one schema a target for the references
 * of the next: such a schema gets a validator of its own.
 */
function hasIds(schema: unknown): boolean {
  return findPointer(schema, '$id', (value) => typeof value === 'string') !== undefined;
}

type Draft = '2020' | '2019' | '07';

function draftsFor(schema: boolean | Record<string, unknown>): readonly Draft[] {
  const declared = isRecord(schema) ? String(schema.$schema ?? '') : '';
  if (declared.includes('2020-12')) return ['2020'];
  if (declared.includes('2019-09')) return ['2019'];
  if (/draft-0[4-7]/.test(declared)) return ['07'];
  return ['2020', '07'];
}

/** The part of the library that is used; both of its entries have it. */
interface Validator {
  validateSchema(schema: unknown): unknown;
  compile(schema: unknown): ((input: unknown) => unknown) & {
    errors?: readonly SchemaError[] | null | undefined;
  };
  errors?: readonly SchemaError[] | null | undefined;
}

const OPTIONS = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  logger: false,
  code: { regExp: Object.assign(boundedPattern, { code: 'boundedPattern' }) },
} as const;

const validators = new Map<Draft, Promise<Validator>>();

/** Kept for the process: the library compiles its own meta-schema first, which takes a while. */
function validatorOf(draft: Draft): Promise<Validator> {
  const known = validators.get(draft);
  if (known !== undefined) return known;
  const loading = loadValidator(draft);
  validators.set(draft, loading);
  return loading;
}

/** Through `default`: the only name that this CommonJS library has both bundled and not. */
async function loadValidator(draft: Draft): Promise<Validator> {
  switch (draft) {
    case '2020':
      return new (await import('ajv/dist/2020.js')).default.Ajv2020(OPTIONS) as Validator;
    case '2019':
      return new (await import('ajv/dist/2019.js')).default.Ajv2019(OPTIONS) as Validator;
    case '07':
      return new (await import('ajv')).default.Ajv(OPTIONS) as Validator;
  }
}

function compileWith(
  validator: Validator,
  schema: boolean | Record<string, unknown>,
): Result<SchemaCheck, string> {
  try {
    const own = isRecord(schema) ? withoutDraft(schema) : schema;
    if (validator.validateSchema(own) !== true) {
      return err(schemaErrors(validator.errors ?? []));
    }
    const check = validator.compile(own);
    return ok((input) => {
      if (check(input) === true) return [];
      return problemsOf(check.errors ?? []).slice(0, MAX_PROBLEMS);
    });
  } catch (thrown) {
    return err(compileError(thrown, schema));
  }
}

/** The draft was chosen already; the library would insist on knowing its exact spelling. */
function withoutDraft(schema: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _chosen, ...rest } = schema;
  return rest;
}

function schemaErrors(errors: readonly SchemaError[]): string {
  const lines = problemsOf(errors).map(({ path, message }) => `${path || '/'}: ${message}`);
  return [...new Set(lines)].slice(0, 3).join('; ');
}

function compileError(thrown: unknown, schema: unknown): string {
  if (isRecord(thrown) && typeof thrown.missingRef === 'string') {
    const reference = thrown.missingRef;
    const pointer = findPointer(schema, '$ref', (value) => isSameReference(value, reference));
    return `${pointer ?? '/'}: the reference "${reference}" is not inside the schema; others are not fetched`;
  }
  const pointer = findPointer(schema, 'pattern', isBrokenPattern);
  return `${pointer ?? '/'}: ${messageOf(thrown)}`;
}

function isSameReference(value: unknown, reference: string): boolean {
  return typeof value === 'string' && (value === reference || value.endsWith(reference));
}

function isBrokenPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    boundedPattern(value, 'u');
    return false;
  } catch {
    return true;
  }
}

/** JSON pointer of the first `key` whose value fits. */
function findPointer(
  schema: unknown,
  key: string,
  fits: (value: unknown) => boolean,
): string | undefined {
  const queue: { readonly node: unknown; readonly pointer: string; readonly depth: number }[] = [
    { node: schema, pointer: '', depth: 0 },
  ];
  for (const { node, pointer, depth } of queue) {
    if (typeof node !== 'object' || node === null || depth > 100) continue;
    for (const [name, value] of Object.entries(node)) {
      const here = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (name === key && fits(value)) return here;
      queue.push({ node: value, pointer: here, depth: depth + 1 });
    }
  }
  return undefined;
}

/**
 * Longest string that a schema's `pattern` is tried on. A longer one does not match.
 *
 * Patterns come with the schema and run on what a model wrote. The cap bounds patterns of polynomial
 * cost; repetition inside repetition can cost exponential time, so such patterns are tried on short
 * strings only. This is no proof against a hostile schema: `(a+)+$` is slow on thirty characters.
 * The provider of the schema is trusted that far.
 */
export const MAX_PATTERN_INPUT = 20_000;
export const MAX_NESTED_PATTERN_INPUT = 1_000;

interface BoundedPattern {
  test(text: string): boolean;
  toString(): string;
}

/** The regular expression of a schema, Unicode-aware where its spelling allows it. */
function boundedPattern(source: string, flags: string): BoundedPattern {
  const expression = compile(source, flags);
  const limit = hasNestedRepetition(source) ? MAX_NESTED_PATTERN_INPUT : MAX_PATTERN_INPUT;
  return {
    // fail-closed: a string that is too long to be tested does not match.
    test: (text) => text.length <= limit && expression.test(text),
    toString: () => String(expression),
  };
}

function compile(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (thrown) {
    if (flags === '') throw thrown;
    // Many schemas in use hold escapes such as `[\w-\.]` that are wrong in Unicode mode only.
    return new RegExp(source);
  }
}

/** Whether an unbounded repetition stands around a group that holds another one. */
function hasNestedRepetition(source: string): boolean {
  const groups: boolean[] = [false];
  let inClass = false;
  let closed = false;
  for (let index = 0; index < source.length; index++) {
    const char = source[index] ?? '';
    const wasClosed: boolean = closed;
    closed = false;
    if (char === '\\') index++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') groups.push(false);
    else if (char === ')') {
      closed = groups.pop() ?? false;
      if (closed) groups[groups.length - 1] = true;
    } else if (
      char === '*' ||
      char === '+' ||
      (char === '{' && /^\{\d+,/.test(source.slice(index, index + 8)))
    ) {
      if (wasClosed) return true;
      groups[groups.length - 1] = true;
    }
  }
  return false;
}
