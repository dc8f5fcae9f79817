import { isRecord, own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { Choice, ElicitField, TextFormat } from '../../protocol/elicitation.js';

/** A person fills in the fields by hand. */
const MOST_FIELDS = 50;
const MOST_CHOICES = 500;
const LONGEST_NAME = 200;
const LONGEST_TEXT = 100_000;

type Schema = Readonly<Record<string, unknown>>;

/**
 * Reads the fields of a server's form: a flat object of text, numbers, booleans and choices. fail-closed: a
 * form with any other field is neither shown nor answered.
 */
export function readForm(schema: unknown): Result<readonly ElicitField[], string> {
  if (!isRecord(schema) || schema.type !== 'object' || !isRecord(schema.properties)) {
    return err('the form is not an object with properties');
  }
  const entries = Object.entries(schema.properties);
  if (entries.length > MOST_FIELDS) return err(`the form has more than ${MOST_FIELDS} fields`);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const unknown = required.find((name) => !entries.some(([known]) => known === name));
  if (unknown !== undefined) return err('the form requires a field that it does not have');
  const fields: ElicitField[] = [];
  for (const [name, property] of entries) {
    if (name === '' || name.length > LONGEST_NAME) return err('the name of a field is too long');
    const field = readField(name, property, required.includes(name));
    if (field === undefined) return err(`the field ${JSON.stringify(name)} is of no kind we know`);
    fields.push(field);
  }
  return ok(fields);
}

function readField(name: string, property: unknown, required: boolean): ElicitField | undefined {
  if (!isRecord(property)) return undefined;
  const title = textIn(property, 'title') ?? name;
  const description = textIn(property, 'description');
  const common = {
    name,
    title,
    required,
    description,
    secret: asksForSecret(property, [name, title, description ?? '']),
  };
  switch (property.type) {
    case 'string': {
      const choices = choicesIn(property, 'oneOf');
      return choices === undefined
        ? hasChoices(property)
          ? undefined
          : textField(common, property)
        : choiceField(common, choices, property);
    }
    case 'number':
    case 'integer':
      return numberField(common, property.type, property);
    case 'boolean': {
      const { default: given } = property;
      return {
        ...common,
        kind: 'boolean',
        fallback: typeof given === 'boolean' ? given : undefined,
      };
    }
    case 'array':
      return choicesField(common, property);
    default:
      return undefined;
  }
}

type Common = Pick<ElicitField, 'name' | 'title' | 'description' | 'required' | 'secret'>;

function textField(common: Common, property: Schema): ElicitField {
  const format = FORMATS.find((known) => known === property.format);
  return {
    ...common,
    kind: 'text',
    minLength: numberIn(property, 'minLength') ?? 0,
    maxLength: Math.min(numberIn(property, 'maxLength') ?? LONGEST_TEXT, LONGEST_TEXT),
    format,
    pattern: textIn(property, 'pattern'),
    fallback: textIn(property, 'default'),
  };
}

function numberField(common: Common, kind: 'number' | 'integer', property: Schema): ElicitField {
  const fallback = numberIn(property, 'default');
  return {
    ...common,
    kind,
    minimum: numberIn(property, 'minimum') ?? Number.NEGATIVE_INFINITY,
    maximum: numberIn(property, 'maximum') ?? Number.POSITIVE_INFINITY,
    fallback,
  };
}

function choiceField(common: Common, choices: readonly Choice[], property: Schema): ElicitField {
  const { default: given } = property;
  const fallback = choices.find(({ value }) => value === given)?.value;
  return { ...common, kind: 'choice', choices, fallback };
}

function choicesField(common: Common, property: Schema): ElicitField | undefined {
  if (!isRecord(property.items)) return undefined;
  const choices = choicesIn(property.items, 'anyOf') ?? choicesIn(property.items, 'oneOf');
  if (choices === undefined) return undefined;
  const given = Array.isArray(property.default) ? property.default : undefined;
  const fallback = given?.filter((one) => choices.some(({ value }) => value === one));
  return {
    ...common,
    kind: 'choices',
    choices,
    minItems: numberIn(property, 'minItems') ?? 0,
    maxItems: numberIn(property, 'maxItems') ?? choices.length,
    fallback: fallback?.map(String),
  };
}

function hasChoices(property: Schema): boolean {
  return ['enum', 'oneOf', 'anyOf', 'allOf', 'const'].some((key) => Object.hasOwn(property, key));
}

/** Reads `enum` with optional `enumNames`, or constants with titles. */
function choicesIn(schema: Schema, key: 'oneOf' | 'anyOf'): readonly Choice[] | undefined {
  const titled = schema[key];
  const values = schema.enum;
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  const found = Array.isArray(titled)
    ? titled.map((one) => (isRecord(one) ? choice(one.const, one.title) : undefined))
    : Array.isArray(values)
      ? values.map((value, at) => choice(value, names[at]))
      : [];
  const choices = found.filter((one) => one !== undefined);
  const isSound =
    choices.length > 0 && choices.length === found.length && choices.length <= MOST_CHOICES;
  return isSound ? choices : undefined;
}

function choice(value: unknown, title: unknown): Choice | undefined {
  if (typeof value !== 'string') return undefined;
  return { value, title: typeof title === 'string' && title !== '' ? title : value };
}

const FORMATS: readonly TextFormat[] = ['email', 'uri', 'date', 'date-time'];

const SECRET =
  /passw|passphrase|passcode|secret|credential|private.?key|api.?key|access.?key|\b(access|auth|refresh|bearer|session|api|personal).?token|\btoken\b|\bpin\b|\botp\b|one.?time.?(code|password)|\bcvv?\b|\bcvc\b|card.?number|\bssn\b|seed.?phrase|recovery.?(code|phrase|key)/i;

/** A text that warns against entering secrets does not ask for one. */
const WARNING =
  /\b(?:do not|don['’]t|never|please no)\s+(?:enter|provide|type|give|use|share|include|submit|send|put|write)\b[^.;!\n]*/gi;

function asksForSecret(property: Schema, words: readonly string[]): boolean {
  if (property.format === 'password' || property.writeOnly === true) return true;
  // `apiKey` and `api_key` read as `api key`.
  return words.some((text) =>
    SECRET.test(
      text
        .replace(WARNING, '')
        .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
        .replaceAll('_', ' '),
    ),
  );
}

function textIn(schema: Schema, key: string): string | undefined {
  const value = own(schema, key);
  return typeof value === 'string' ? value : undefined;
}

function numberIn(schema: Schema, key: string): number | undefined {
  const value = own(schema, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
