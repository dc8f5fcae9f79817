import type { ElicitField, TextFormat } from '../protocol/elicitation.js';
import { own } from './own.js';
import { parseUrl } from './parse-url.js';
import { linearPattern } from './patterns/linear-pattern.js';
import { err, ok, type Result } from './result.js';

type Content = Readonly<Record<string, unknown>>;

/**
 * What may go to the server: every field fits, absent ones take their default. fail-closed: a value that
 * the form does not ask for, or that does not fit, keeps the whole answer back.
 */
export function checkContent(
  fields: readonly ElicitField[],
  content: Content,
): Result<Content, string> {
  const extra = Object.keys(content).find((name) => !fields.some((field) => field.name === name));
  if (extra !== undefined) return err(`the form has no field ${JSON.stringify(extra)}`);
  const entries: [string, unknown][] = [];
  for (const field of fields) {
    const value = own(content, field.name) ?? field.fallback;
    if (value === undefined) {
      if (field.required) return err(`${JSON.stringify(field.name)} is missing`);
      continue;
    }
    const problem = valueProblem(field, value);
    if (problem !== undefined) return err(`${JSON.stringify(field.name)} ${problem}`);
    entries.push([field.name, value]);
  }
  return ok(Object.fromEntries(entries));
}

/** Why a value does not fit its field; undefined when it does. */
export function valueProblem(field: ElicitField, value: unknown): string | undefined {
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' ? textProblem(field, value) : 'is not a text';
    case 'number':
    case 'integer':
      return typeof value === 'number' && Number.isFinite(value)
        ? numberProblem(field, value)
        : 'is not a number';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'is neither true nor false';
    case 'choice':
      return field.choices.some((choice) => choice.value === value)
        ? undefined
        : 'is none of the choices';
    case 'choices':
      return choicesProblem(field, value);
  }
}

function textProblem(
  field: Extract<ElicitField, { kind: 'text' }>,
  value: string,
): string | undefined {
  const length = [...value].length;
  if (length < field.minLength) return `has fewer than ${field.minLength} characters`;
  if (length > field.maxLength) return `has more than ${field.maxLength} characters`;
  if (field.format !== undefined && !fitsFormat(field.format, value)) {
    return `is not of the format ${field.format}`;
  }
  if (field.pattern === undefined) return undefined;
  const pattern = linearPattern(field.pattern, { ignoreCase: false });
  // One that could take forever is left to the server, who has to check what it gets anyway.
  if (!pattern.ok) return undefined;
  return pattern.value.test(value) ? undefined : 'does not fit the pattern of the form';
}

function fitsFormat(format: TextFormat, value: string): boolean {
  switch (format) {
    case 'email':
      return value.length <= 254 && /^[^\s@<>"(),:;[\]\\]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(value);
    case 'uri':
      return /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(value) && parseUrl(value) !== undefined;
    case 'date':
      return isDate(value);
    case 'date-time': {
      const match =
        /^(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(
          value,
        );
      return match !== null && isDate(match[1] ?? '');
    }
  }
}

function isDate(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  // February 30 would become a day in March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

function numberProblem(
  field: Extract<ElicitField, { kind: 'number' | 'integer' }>,
  value: number,
): string | undefined {
  if (field.kind === 'integer' && !Number.isInteger(value)) return 'is not a whole number';
  if (value < field.minimum) return `is less than ${field.minimum}`;
  return value > field.maximum ? `is more than ${field.maximum}` : undefined;
}

function choicesProblem(
  field: Extract<ElicitField, { kind: 'choices' }>,
  value: unknown,
): string | undefined {
  if (!Array.isArray(value)) return 'is not a list';
  const known = field.choices.map((choice) => choice.value);
  if (!value.every((one) => known.includes(one as string))) return 'holds what is no choice';
  if (new Set(value).size !== value.length) return 'holds a choice twice';
  if (value.length < field.minItems) return `holds fewer than ${field.minItems} choices`;
  return value.length > field.maxItems ? `holds more than ${field.maxItems} choices` : undefined;
}

/** Parses what a person typed for a field. */
export function typedValue(field: ElicitField, typed: string): Result<unknown, string> {
  const read = readTyped(field, typed);
  if (!read.ok) return read;
  const problem = valueProblem(field, read.value);
  return problem === undefined ? read : err(`that ${problem}`);
}

function readTyped(field: ElicitField, typed: string): Result<unknown, string> {
  const text = typed.trim();
  switch (field.kind) {
    case 'text':
      return ok(typed);
    case 'number':
    case 'integer':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
        ? ok(Number(text))
        : err('that is not a number');
    case 'boolean':
      if (/^(y|yes|true)$/i.test(text)) return ok(true);
      return /^(n|no|false)$/i.test(text) ? ok(false) : err('answer y or n');
    case 'choice':
      return chosen(field, text);
    case 'choices': {
      const values: unknown[] = [];
      for (const word of text.split(/[\s,]+/).filter((one) => one !== '')) {
        const one = chosen(field, word);
        if (!one.ok) return one;
        values.push(one.value);
      }
      return ok(values);
    }
  }
}

/** By number alone: a choice may be called like another one's number. */
function chosen(
  { choices }: Extract<ElicitField, { kind: 'choice' | 'choices' }>,
  text: string,
): Result<string, string> {
  const found = /^\d{1,4}$/.test(text) ? choices[Number(text) - 1] : undefined;
  return found === undefined ? err(`give a number from 1 to ${choices.length}`) : ok(found.value);
}

/** What a field takes, in words. */
export function fieldBounds(field: ElicitField): readonly string[] {
  switch (field.kind) {
    case 'text':
      return [
        field.format ?? 'text',
        ...(field.minLength > 0 ? [`at least ${field.minLength} characters`] : []),
      ];
    case 'number':
    case 'integer':
      return [
        field.kind === 'integer' ? 'whole number' : 'number',
        ...(Number.isFinite(field.minimum) ? [`from ${field.minimum}`] : []),
        ...(Number.isFinite(field.maximum) ? [`to ${field.maximum}`] : []),
      ];
    case 'boolean':
      return ['y or n'];
    case 'choice':
      return ['one of'];
    case 'choices':
      return [`${field.minItems} to ${field.maxItems} of, as numbers`];
  }
}
