import { describe, expect, it } from 'vitest';
import { createNames } from './tool-names.js';

const names = createNames([
  { name: 'Bash', value: 1 },
  { name: 'Agent', value: 2 },
  { name: 'TaskStop', aliases: ['KillShell'], value: 3 },
  { name: 'BashOutput', value: 4 },
  { name: 'mcp__srv__Get', value: 5 },
  { name: 'mcp__srv__get', value: 6 },
]);

describe('names of tools', () => {
  it.each([
    ['Bash', 1],
    ['bash', 1],
    ['BASH', 1],
    ['Task', 2],
    ['task', 2],
    ['KillShell', 3],
    ['KillBash', 3],
    ['TaskOutput', 4],
    ['mcp__srv__Get', 5],
    ['mcp__srv__get', 6],
    ['mcp__srv__GET', undefined],
    ['Bsh', undefined],
    ['', undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
  ])('%s is %s', (name, expected) => {
    expect(names.resolve(name)).toBe(expected);
  });

  it('knows the nearest', () => {
    expect(names.nearest('Bsh')).toBe('Bash');
    expect(names.nearest('Something')).toBeUndefined();
  });
});
