import { describe, expect, it } from 'vitest';
import { nameProblem, namesCollide, serverKey } from './config-names.js';

describe('names of servers', () => {
  it.each([
    'git',
    'my server',
    'dot.ted',
    'UPPER-case',
    'unié',
    'under__score',
    'a/b',
    'plugin:p:s',
    '日本',
  ])('%s is fine', (name) => {
    expect(nameProblem(name)).toBeUndefined();
  });

  it.each([
    ['', 'empty'],
    [' a', 'blank'],
    ['a'.repeat(101), 'longer'],
    ['a\u200bb', 'cannot be seen'],
    ['a\u202eb', 'cannot be seen'],
    ['a\nb', 'cannot be seen'],
    ['\u0440ay', 'look like others'],
    ['\uff52ead', 'look like others'],
    ['git\u0301', 'look like others'],
    ['gith\u03c5b', 'look like others'],
    ['fin\u05d0', 'look like others'],
    ['workspace', 'reserved'],
    ['Claude-in-Chrome', 'reserved'],
    ['claude preview', 'reserved'],
    ['Claude_Browser', 'reserved'],
    ['Bash', 'built-in'],
    ['WebFetch', 'built-in'],
    ['mcp__x', 'mcp__'],
  ])('%j is none', (name, reason) => {
    expect(nameProblem(name)).toContain(reason);
  });

  it('keep letters, digits, dash and underscore in tool names', () => {
    expect(serverKey('my sérver/x.y-z_1')).toBe('my_s_rver_x_y-z_1');
    expect(serverKey('😀')).toBe('_');
  });

  it.each([
    ['a', 'a', true],
    ['a', 'a__b', true],
    ['a', 'a_', true],
    ['a_', 'a__b', false],
    ['a', 'a_b', false],
    ['a', 'ab', false],
    ['a', 'A', false],
  ])('%s and %s', (one, other, collide) => {
    expect([namesCollide(one, other), namesCollide(other, one)]).toEqual([collide, collide]);
  });
});
