import { describe, expect, it } from 'vitest';
import { createHookVariables } from './env-file.js';

describe('variables that hooks leave', () => {
  it('add up, and the later one counts', () => {
    const variables = createHookVariables();
    expect(variables.current()).toEqual({});
    expect(variables.merge({ A: '1', B: '2' })).toEqual([]);
    variables.merge({ B: '3' });
    expect(variables.current()).toEqual({ A: '1', B: '3' });
  });

  it('are one frozen object until something changes', () => {
    const variables = createHookVariables();
    variables.merge({ A: '1' });
    const before = variables.current();
    variables.merge({ A: '1' });
    expect(variables.current()).toBe(before);
    expect(Object.isFrozen(before)).toBe(true);
    variables.merge({ A: '2' });
    expect(before).toEqual({ A: '1' });
    expect(variables.current()).toEqual({ A: '2' });
  });

  it('may be secret, and PATH', () => {
    const variables = createHookVariables();
    expect(variables.merge({ API_KEY: 'k', PATH: '/x', ANTHROPIC_MODEL: 'm' })).toEqual([]);
    expect(variables.current()).toEqual({ API_KEY: 'k', PATH: '/x', ANTHROPIC_MODEL: 'm' });
  });

  it('never change what judged commands mean', () => {
    const variables = createHookVariables();
    const bad = {
      BASH_ENV: '/x',
      HOME: '/x',
      ENV: '/x',
      CDPATH: '/',
      GIT_DIR: '/x',
      GIT_CONFIG_COUNT: '1',
      PORTCULLIS_TRUST: 'once',
      'BASH_FUNC_ls%%': '() { :; }',
      '1A': '',
      'a=b': '',
      '': '',
      NUL: 'a\0b',
    };
    expect([...variables.merge(bad)].sort()).toEqual(Object.keys(bad).sort());
    expect(variables.current()).toEqual({});
  });

  it('know no prototype', () => {
    const variables = createHookVariables();
    const found = JSON.parse('{"__proto__": "x", "constructor": "y"}');
    expect(variables.merge(found)).toEqual(['__proto__']);
    expect(Object.entries(variables.current())).toEqual([['constructor', 'y']]);
    expect(Object.getPrototypeOf(variables.current())).toBe(Object.prototype);
  });

  it('are bounded: what is too much is named, and what was there stays', () => {
    const variables = createHookVariables();
    variables.merge({ A: 'old' });
    expect(variables.merge({ A: 'x'.repeat(100_000), B: 'y'.repeat(200_000), C: 'z' })).toEqual([
      'A',
      'B',
    ]);
    expect(variables.current()).toEqual({ A: 'old', C: 'z' });
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`V${n}`, '']));
    expect(variables.merge(many)).toHaveLength(102);
  });
});
