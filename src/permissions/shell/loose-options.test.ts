import { describe, expect, it } from 'vitest';
import { hasFlag, looseOptions, valuesOf } from './loose-options.js';
import { literalWord } from './model.js';
import { TREE_PROGRAMS } from './tree-programs.js';
import { PROGRAMS } from './trees-of.js';

const SPEC = {
  flags: 'rn',
  valued: 'eA',
  optional: 'U',
  long: 'recursive regexp= context= color[=]',
};
const read = (line: string) => looseOptions(line.split(' ').map(literalWord), SPEC);
const operands = (line: string) => read(line).operands.map(({ value }) => value);

describe('options as far as they can be told', () => {
  it('are found in bundles and by their beginning', () => {
    expect(hasFlag(read('-nr x'), 'r')).toBe(true);
    expect(hasFlag(read('--rec x'), 'recursive')).toBe(true);
    expect(hasFlag(read('-er x'), 'r')).toBe(false);
    expect(hasFlag(read('-- -r'), 'r')).toBe(false);
  });

  it('take their values, attached or not', () => {
    expect(valuesOf(read('-ne x y'), 'e')).toEqual(['x']);
    expect(valuesOf(read('-ex y'), 'e')).toEqual(['x']);
    expect(valuesOf(read('--regexp x --con=2 y'), 'regexp context')).toEqual(['x', '2']);
    expect(operands('-ne x y')).toEqual(['y']);
    expect(operands('-U y')).toEqual(['y']);
    expect(operands('--color y')).toEqual(['y']);
    expect(operands('a -- -b --c')).toEqual(['a', '-b', '--c']);
  });

  it('that nobody knows are flags, and are told of', () => {
    expect(read('--unknown x')).toMatchObject({ odd: true });
    expect(operands('--unknown x')).toEqual(['x']);
    expect(read('-Q x')).toMatchObject({ odd: true });
    expect(read('-rn x')).toMatchObject({ odd: false });
  });
});

describe('the quick look for programs that go through directories', () => {
  it('knows the same programs as the tables, and git', () => {
    expect([...TREE_PROGRAMS].sort()).toEqual([...Object.keys(PROGRAMS), 'git'].sort());
  });
});
