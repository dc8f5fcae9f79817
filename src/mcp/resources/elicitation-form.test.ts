import { describe, expect, it } from 'vitest';
import { checkContent, typedValue } from '../../lib/elicitation-check.js';
import { readForm } from './elicitation-form.js';

function form(properties: Record<string, unknown>, required: readonly string[] = []) {
  const read = readForm({ type: 'object', properties, required });
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

const ofType = (property: Record<string, unknown>) => form({ f: property }, ['f']);
const fits = (property: Record<string, unknown>, value: unknown) =>
  checkContent(ofType(property), { f: value }).ok;

describe('a form of a server', () => {
  it('is a flat object of known kinds, or is not shown', () => {
    const refused = [
      undefined,
      [],
      { type: 'array' },
      { type: 'object' },
      { type: 'object', properties: { f: { type: 'object', properties: {} } } },
      { type: 'object', properties: { f: { type: 'array', items: { type: 'string' } } } },
      { type: 'object', properties: { f: { type: ['string', 'null'] } } },
      { type: 'object', properties: { f: { enum: [1, 2] } } },
      { type: 'object', properties: { f: { type: 'string', enum: [1, 2] } } },
      { type: 'object', properties: { f: { type: 'string', enum: [] } } },
      { type: 'object', properties: { f: { type: 'string', anyOf: [] } } },
      { type: 'object', properties: {}, required: ['f'] },
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`${i}`, {}])),
      },
    ];
    for (const schema of refused) expect(readForm(schema).ok, JSON.stringify(schema)).toBe(false);
    expect(readForm({ type: 'object', properties: {} })).toEqual({ ok: true, value: [] });
  });

  it('reads every spelling of a choice', () => {
    const titled = [
      { value: 'a', title: 'A' },
      { value: 'b', title: 'B' },
    ];
    const constants = [
      { const: 'a', title: 'A' },
      { const: 'b', title: 'B' },
    ];
    expect(ofType({ type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] })).toMatchObject([
      { kind: 'choice', choices: titled },
    ]);
    expect(ofType({ type: 'string', oneOf: constants, default: 'b' })).toMatchObject([
      { kind: 'choice', choices: titled, fallback: 'b' },
    ]);
    expect(
      ofType({ type: 'array', items: { anyOf: constants }, maxItems: 1, default: ['a'] }),
    ).toMatchObject([
      { kind: 'choices', choices: titled, minItems: 0, maxItems: 1, fallback: ['a'] },
    ]);
    expect(ofType({ type: 'array', items: { type: 'string', enum: ['x'] } })).toMatchObject([
      { kind: 'choices', choices: [{ value: 'x', title: 'x' }] },
    ]);
  });

  it('takes no warning against secrets for a question for one', () => {
    const text = 'Your favourite number (do NOT enter your SSN, card number, PIN or password)';
    const [warned] = form({ integer: { type: 'integer', description: text } });
    expect(warned?.secret).toBe(false);
    const asks = 'This is not a joke. Enter your password, do not share it.';
    const [asked] = form({ x: { type: 'string', description: asks } });
    const [named] = form({ pin: { type: 'string', description: 'Do not enter a password.' } });
    expect([asked?.secret, named?.secret]).toEqual([true, true]);
  });

  it('knows fields that ask for a secret', () => {
    const names = ['password', 'apiKey', 'api_key', 'accessToken', 'db_passwd', 'token', 'pin'];
    for (const name of names) expect(form({ [name]: { type: 'string' } })[0]?.secret).toBe(true);
    const [hidden] = form({ x: { type: 'string', format: 'password' } });
    const [told] = form({ x: { type: 'string', description: 'Your secret key' } });
    expect([hidden?.secret, told?.secret]).toEqual([true, true]);
    for (const name of ['branch', 'pinned', 'tokens_used', 'spinner', 'email']) {
      expect(form({ [name]: { type: 'string' } })[0]?.secret, name).toBe(false);
    }
  });
});

describe('an answer to a form', () => {
  it('must fit the bounds', () => {
    const text = { type: 'string', minLength: 2, maxLength: 3 };
    expect(['a', 'ab', 'abc', 'abcd', 7, null].map((value) => fits(text, value))).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
    ]);
    // Lengths count whole characters, not surrogate halves.
    expect(fits({ type: 'string', maxLength: 1 }, '😀')).toBe(true);
    const count = { type: 'integer', minimum: 1, maximum: 3 };
    expect([0, 1, 1.5, 3, 4, Number.NaN, '2'].map((value) => fits(count, value))).toEqual([
      false,
      true,
      false,
      true,
      false,
      false,
      false,
    ]);
    expect(fits({ type: 'boolean' }, 'true')).toBe(false);
    expect(fits({ type: 'string', enum: ['a'] }, 'b')).toBe(false);
    const some = { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 };
    const lists = [[], ['a'], ['a', 'a'], ['a', 'b'], ['a', 'b', 'c'], ['d'], 'a'];
    expect(lists.map((value) => fits(some, value))).toEqual([
      false,
      true,
      false,
      true,
      false,
      false,
      false,
    ]);
  });

  it('must fit the formats and patterns', () => {
    const cases: readonly [string, string, boolean][] = [
      ['email', 'a@b.example', true],
      ['email', 'a@b', false],
      ['email', 'a b@c.example', false],
      ['uri', 'https://a.example/x', true],
      ['uri', 'nothing', false],
      ['date', '2024-02-29', true],
      ['date', '2023-02-29', false],
      ['date', '2023-2-1', false],
      ['date-time', '2024-02-29T10:00:00Z', true],
      ['date-time', '2024-02-29T25:00:00Z', false],
      ['date-time', '2024-02-29', false],
    ];
    for (const [format, value, expected] of cases) {
      expect(fits({ type: 'string', format }, value), `${format} ${value}`).toBe(expected);
    }
    expect(fits({ type: 'string', pattern: '^[a-z]+$' }, 'A')).toBe(false);
    // A pattern with exponential backtracking takes no time.
    expect(fits({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(5000)}b`)).toBe(false);
  });

  it('takes defaults for what is absent, and nothing that was not asked for', () => {
    const fields = form({ a: { type: 'string', default: 'x' }, b: { type: 'number' } }, ['a', 'b']);
    expect(checkContent(fields, { b: 1 })).toEqual({ ok: true, value: { a: 'x', b: 1 } });
    expect(checkContent(fields, {})).toMatchObject({ ok: false, error: '"b" is missing' });
    expect(checkContent(fields, { b: 1, c: 1 })).toMatchObject({ ok: false });
    const odd = readForm(
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
    );
    expect(odd.ok && checkContent(odd.value, {})).toEqual({ ok: true, value: {} });
  });

  it('is read from what a person types', () => {
    const [count] = ofType({ type: 'integer', minimum: 1 });
    const [some] = ofType({ type: 'array', items: { enum: ['1', '0'] } });
    const [flag] = ofType({ type: 'boolean' });
    if (count === undefined || some === undefined || flag === undefined) throw new Error('no form');
    expect(typedValue(count, ' 12 ')).toEqual({ ok: true, value: 12 });
    for (const text of ['0', '0x10', '1.5', 'one', '']) {
      expect(typedValue(count, text).ok, text).toBe(false);
    }
    // Numbers select by position, also when a choice is a number.
    expect(typedValue(some, '2, 1')).toEqual({ ok: true, value: ['0', '1'] });
    expect(typedValue(some, '3').ok).toBe(false);
    expect(typedValue(flag, 'no')).toEqual({ ok: true, value: false });
    expect(typedValue(flag, 'maybe').ok).toBe(false);
  });
});
