import { describe, expect, it } from 'vitest';
import { areSameRows, commandRow } from './initialize.js';

const row = (name: string, more: object = {}) =>
  commandRow({ name, description: `does ${name}`, argumentHint: '', ...more });

describe('areSameRows', () => {
  it('knows rows by what they say', () => {
    expect(areSameRows([row('a'), row('b')], [row('a'), row('b')])).toBe(true);
    expect(areSameRows([], [])).toBe(true);
  });

  it.each([
    ['one more', [row('a'), row('b')]],
    ['one less', []],
    ['another name', [row('b')]],
    ['another description', [row('a', { description: 'other' })]],
    ['another hint', [row('a', { argumentHint: '[x]' })]],
    ['built in now', [row('a', { builtin: true })]],
  ])('tells of %s', (_what, others) => {
    expect(areSameRows([row('a')], others)).toBe(false);
  });
});
