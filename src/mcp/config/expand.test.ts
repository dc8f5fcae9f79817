import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expand, holdsForeignKey, isCredential, neverLeaves, variablesIn } from './expand.js';

const ref = (inner: string): string => ['$', '{', inner, '}'].join('');

describe('expansion', () => {
  it.each([
    ['plain', 'plain', []],
    [ref('A'), 'one', []],
    [`x${ref('A')}y${ref('A')}`, 'xoney' + 'one', []],
    [ref('NONE:-two'), 'two', []],
    [ref('NONE:-'), '', []],
    [ref('EMPTY'), '', []],
    [ref('EMPTY:-three'), 'three', []],
    [ref('A:-two'), 'one', []],
    [
      `${ref('NONE')}${ref('NONE')}${ref('TOO')}`,
      `${ref('NONE')}${ref('NONE')}${ref('TOO')}`,
      ['NONE', 'TOO'],
    ],
    // Other syntax is left to a shell in the arguments.
    ['$A', '$A', []],
    [ref('A%x'), ref('A%x'), []],
    [ref('1'), ref('1'), []],
    [ref(''), ref(''), []],
    // Values are not expanded again, and prototype members are not read.
    [ref('LOOP'), ref('A'), []],
    [ref('constructor'), ref('constructor'), ['constructor']],
  ])('%s', (text, expected, missing) => {
    const variables = { A: 'one', EMPTY: '', LOOP: ref('A') };
    expect(expand(text, variables)).toEqual({ text: expected, missing });
  });

  it('finds every variable, wherever it stands', () => {
    expect(
      variablesIn({ a: [ref('X'), { b: `${ref('Y:-1')}${ref('X')}` }], c: 1, d: null }),
    ).toEqual(['X', 'Y']);
  });

  it('leaves text without references alone, and never invents a value', () => {
    fc.assert(
      fc.property(fc.string(), fc.dictionary(fc.string(), fc.string()), (text, variables) => {
        const done = expand(text, variables);
        if (!text.includes('${'.slice(0, 2))) expect(done).toEqual({ text, missing: [] });
      }),
    );
  });

  it('replaces each reference by itself', () => {
    const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,5}$/);
    const piece = fc.oneof(
      fc.record({ name, value: fc.option(fc.string(), { nil: undefined }) }),
      fc.stringMatching(/^[a-z ]*$/),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const variables: Record<string, string | undefined> = {};
        for (const one of pieces) if (typeof one !== 'string') variables[one.name] ??= one.value;
        const text = pieces.map((one) => (typeof one === 'string' ? one : ref(one.name))).join('');
        const wanted = pieces.map((one) =>
          typeof one === 'string' ? one : (variables[one.name] ?? ref(one.name)),
        );
        const missing = Object.keys(variables).filter((one) => variables[one] === undefined);
        const done = expand(text, variables);
        expect(done.text).toBe(wanted.join(''));
        expect([...done.missing].sort()).toEqual(missing.sort());
      }),
    );
  });
});

describe('credentials', () => {
  it.each([
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'OPENAI_API_KEY',
    'PORTCULLIS_HOME',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AZURE_CLIENT_SECRET',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'aws_secret_access_key',
  ])('%s never leaves', (name) => {
    expect([isCredential(name, {}), neverLeaves(name)]).toEqual([true, true]);
  });

  it.each(['GITHUB_TOKEN', 'DB_PASSWORD', 'SLACK_BOT_TOKEN'])('%s is asked about', (name) => {
    expect([isCredential(name, {}), neverLeaves(name)]).toEqual([true, false]);
  });

  it.each(['HOME', 'API_HOST', 'AWS_REGION', 'PORT', 'CLAUDE_PROJECT_DIR'])(
    '%s is none',
    (name) => {
      expect(isCredential(name, {})).toBe(false);
    },
  );

  it.each([
    ['DATABASE_URL', 'postgres://me:hunter2secret@h/db'],
    ['MY_CONN', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'],
    ['HTTPS_PROXY', 'http://me:secret@proxy.invalid:3128'],
    ['NOTE', 'Authorization: Bearer aB3dE5gH7jK9mN1pQ3s'],
  ])('%s is asked about because of what it holds', (name, value) => {
    expect(isCredential(name, { [name]: value })).toBe(true);
    expect(isCredential(name, {})).toBe(false);
    expect(holdsForeignKey(name, { [name]: value })).toBe(false);
  });

  it.each(['https://db.invalid:5432/x', '/home/me/project', '', 'none', 'http://localhost:3000'])(
    'a value like %j is none',
    (value) => {
      expect(isCredential('PLACE', { PLACE: value })).toBe(false);
      expect(holdsForeignKey('PLACE', { PLACE: value })).toBe(false);
    },
  );

  it('of models and clouds are known under other names', () => {
    const key = ['sk', 'ant', 'api03', 'x'.repeat(24)].join('-');
    expect(holdsForeignKey('MINE', { MINE: key })).toBe(true);
    expect(holdsForeignKey('MINE', { MINE: `Bearer ${key}` })).toBe(true);
    expect(holdsForeignKey('MINE', { MINE: `AKIA${'ABCD'.repeat(4)}` })).toBe(true);
    const plain = 'no-known-shape-at-all';
    expect(holdsForeignKey('MINE', { MINE: plain })).toBe(false);
    expect(holdsForeignKey('MINE', { MINE: plain, AWS_SECRET_ACCESS_KEY: plain })).toBe(true);
    // An address that equals a provider's variable is not a key.
    expect(holdsForeignKey('MINE', { MINE: plain, ANTHROPIC_BASE_URL: plain })).toBe(false);
  });
});
