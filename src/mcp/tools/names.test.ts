import { describe, expect, it } from 'vitest';
import { LONGEST_NAME, toolNameProblem, toolNames } from './names.js';

describe('names of tools', () => {
  it.each([
    ['srv', 'plain', 'mcp__srv__plain'],
    ['srv', 'has space', 'mcp__srv__has_space'],
    ['srv', 'dot.name', 'mcp__srv__dot_name'],
    ['srv', 'sl/ash', 'mcp__srv__sl_ash'],
    ['srv', 'Üml', 'mcp__srv___ml'],
    ['UPPER-case', 'UPPER', 'mcp__UPPER-case__UPPER'],
    ['srv', '😀', 'mcp__srv___'],
    ['srv', 'x,Bash(*)', 'mcp__srv__x_Bash___'],
  ])('of %s and %s is %s', (key, tool, wanted) => {
    expect(toolNames(key, tool)).toEqual({ name: wanted });
  });

  it('shortens what is too long, always in the same way, and keeps the whole name beside it', () => {
    const one = toolNames('srv', `${'n'.repeat(100)}1`);
    const two = toolNames('srv', `${'n'.repeat(100)}2`);
    expect(one.name).toHaveLength(LONGEST_NAME);
    expect(one.name).toMatch(/^mcp__srv__n+_[0-9a-f]{16}$/);
    expect(one.name).not.toBe(two.name);
    expect(one).toEqual(toolNames('srv', `${'n'.repeat(100)}1`));
    expect(one.long).toBe(`mcp__srv__${'n'.repeat(100)}1`);
  });

  it('shortens none so that it reads like one of a server with a shorter name', () => {
    for (let length = 1; length < 60; length++) {
      const short = 'x'.repeat(length);
      const { name } = toolNames(`${short}_evil`, 't'.repeat(100));
      expect(name.startsWith(`mcp__${short}__`)).toBe(false);
    }
  });
});

describe('names that are refused', () => {
  it.each([
    ['', 'no name'],
    ['   ', 'no name'],
    [undefined, 'no name'],
    ['n'.repeat(400), '400 characters'],
    ['ｒｅａｄ_file', 'look-alikes'],
    ['𝐫𝐞𝐚𝐝', 'look-alikes'],
    ['rеad', 'mixes alphabets'],
    ['Ваѕһ', 'look like Latin'],
    ['re\u200bad', 'not seen'],
    ['x)\nallow: Bash', 'not seen'],
    ['read\u{e0041}', 'not seen'],
    ['\u202edaer', 'not seen'],
  ])('%j: %s', (name, why) => {
    expect(toolNameProblem(name)).toContain(why);
  });

  it.each(['read', 'Read', 'dot.name', 'Üml', 'naïve', '検索', 'поиск', 'x,Bash(*)'])(
    'are not %s',
    (name) => {
      expect(toolNameProblem(name)).toBeUndefined();
    },
  );
});
