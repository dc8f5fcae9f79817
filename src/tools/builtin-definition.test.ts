import { describe, expect, it } from 'vitest';
import { builtinDefinition } from './builtin-definition.js';

describe('builtinDefinition', () => {
  it('is the same for every session that describes the tool alike', () => {
    const one = builtinDefinition('Read', 'Reads a file.\n');
    expect(builtinDefinition('Read', 'Reads a file.\n')).toBe(one);
    expect(one.definition.description).toBe('Reads a file.');
    expect(Object.isFrozen(one.definition)).toBe(true);
  });

  it('is another one for other words, and validates all the same', async () => {
    const one = builtinDefinition('Read', 'Reads a file.');
    const other = builtinDefinition('Read', 'Reads it.');
    expect(other.definition.description).toBe('Reads it.');
    expect(one.definition.description).toBe('Reads a file.');
    expect(await other.validate({ file_path: '/a' })).toEqual([]);
    expect((await other.validate({})).length).toBeGreaterThan(0);
  });
});
