import { expect, it } from 'vitest';
import { findFieldLine } from './frontmatter.js';

const TEXT = ['---', 'name: a', 'hooks:', '  Stop:', '    - matcher: "Bash|x"', '---'].join('\r\n');

it.each([
  [undefined, 3],
  ['Stop', 4],
  ['Bash|x', 5],
  ['not there', 3],
])('finds %j below a field', (inner, line) => {
  expect(findFieldLine(TEXT, 3, inner)).toBe(line);
});

it('finds a text on the line of the field itself, and nothing without one', () => {
  expect(findFieldLine('hooks: {Stop: [{matcher: Bsh}]}', 1, 'Bsh')).toBe(1);
  expect(findFieldLine(TEXT, undefined, 'Stop')).toBe(undefined);
});
