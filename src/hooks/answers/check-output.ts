import { COMMON_HOOK_OUTPUT, HOOK_OUTPUTS } from '../../../build/generated/hook-events.js';
import { isRecord } from '../../lib/own.js';
import { sliceWhole } from '../../lib/truncate.js';
import type { OutputFields, OutputShape } from '../../protocol/hook-event-facts.js';
import type { HookEventName } from '../../protocol/hook-events.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What is wrong with a hook's output, or undefined. Fields that nobody knows are fine; `null` is how
 * some languages write "absent".
 */
export function outputProblem(event: HookEventName, output: Fields): string | undefined {
  const { top, own } = HOOK_OUTPUTS[event];
  const fields = top === undefined ? COMMON_HOOK_OUTPUT : { ...COMMON_HOOK_OUTPUT, ...top };
  const specific = output.hookSpecificOutput ?? undefined;
  return (
    problemInside({ fields }, output, '') ??
    (specific === undefined ? undefined : problem(own, specific, 'hookSpecificOutput'))
  );
}

/** The fields of `hookSpecificOutput` that the event knows, without those that are absent. */
export function ownFields(event: HookEventName, specific: Fields): Fields {
  const known = Object.keys(HOOK_OUTPUTS[event].own.fields);
  return Object.fromEntries(
    known
      .map((name) => [name, specific[name]] as const)
      .filter(([, value]) => value !== undefined && value !== null),
  );
}

function problem(shape: OutputShape, value: unknown, place: string): string | undefined {
  if (typeof shape === 'string')
    return isPlain(shape, value) ? undefined : wrong(shape, value, place);
  if ('words' in shape) {
    const known = shape.words.some((word) => word === value);
    return known ? undefined : wrong(shape, value, place);
  }
  if ('one' in shape) {
    const fits = shape.one.some((choice) => problem(choice, value, place) === undefined);
    return fits ? undefined : wrong(shape, value, place);
  }
  if ('list' in shape) {
    if (!Array.isArray(value)) return wrong(shape, value, place);
    return first(value, (item, index) => problem(shape.list, item, `${place}[${index}]`));
  }
  return isRecord(value) ? problemInside(shape, value, `${place}.`) : wrong(shape, value, place);
}

function problemInside(
  { fields, required = [] }: OutputFields,
  value: Fields,
  prefix: string,
): string | undefined {
  return first(Object.entries(fields), ([name, shape]) => {
    const inner = value[name];
    if (inner !== undefined && inner !== null) return problem(shape, inner, `${prefix}${name}`);
    return required.includes(name) ? `${prefix}${name} is missing` : undefined;
  });
}

function first<T>(
  items: readonly T[],
  look: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = look(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

type PlainShape = Extract<OutputShape, string>;

function isPlain(shape: PlainShape, value: unknown): boolean {
  switch (shape) {
    case 'text':
      return typeof value === 'string';
    case 'flag':
      return typeof value === 'boolean';
    case 'amount':
      return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
    case 'object':
      return isRecord(value);
    case 'any':
      return true;
  }
}

function wrong(shape: OutputShape, value: unknown, place: string): string {
  return `${place} must be ${wanted(shape)}, not ${shown(value)}`;
}

function wanted(shape: OutputShape): string {
  if (shape === 'text') return 'a string';
  if (shape === 'flag') return 'true or false';
  if (shape === 'amount') return 'a number that is not negative';
  if (shape === 'any') return 'anything';
  if (shape === 'object' || 'fields' in shape) return 'an object';
  if ('words' in shape) return shape.words.map((word) => JSON.stringify(word)).join(' or ');
  if ('one' in shape) return shape.one.map(wanted).join(' or ');
  return shape.list === 'text' ? 'a list of strings' : 'a list';
}

const SHOWN_CHARS = 60;

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(sliceWhole(value, 0, SHOWN_CHARS));
  if (typeof value === 'function') return 'a function';
  if (value === null || typeof value !== 'object') return String(value).slice(0, SHOWN_CHARS);
  return Array.isArray(value) ? 'a list' : 'an object';
}
