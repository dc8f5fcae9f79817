import { describe, expect, it } from 'vitest';
import { bookOf, skillOf } from '../../../test/skills/invoke-rig.js';
import { readTyped } from './find.js';

const book = bookOf(
  ...[
    'a',
    'b',
    'c',
    'd',
    'e',
    'f',
    'g',
    'compact',
    'review',
    'pkg/web:deploy',
    'mcp__srv__ask',
  ].map((name) => skillOf(name, name)),
  skillOf('fork', 'x', { context: 'fork' }),
  skillOf('hidden', 'x', { userInvocable: false }),
);
const typed = async (text: string): Promise<unknown> => {
  const find = async (name: string) => {
    const found = await book.find(name);
    return found === undefined ? undefined : { ...found };
  };
  const read = await readTyped(text, { book: { ...book, find }, builtins: ['compact', 'help'] });
  return read.kind === 'skills'
    ? read.invocations.map(({ skill, args }) => [skill.name, args])
    : read;
};

describe('what somebody types', () => {
  it.each([
    '',
    'hello /a',
    '/',
    '/ a',
    '// comment',
    '/etc/hosts is wrong',
    '/tmp/x.txt',
    '/a$b c',
  ])('%j is for the model', async (text) => {
    expect(await typed(text)).toEqual({ kind: 'prompt' });
  });

  it('begins with a skill and ends with its arguments', async () => {
    expect(await typed('/a')).toEqual([['a', '']]);
    expect(await typed('  /a  x "y z"\nw ')).toEqual([['a', 'x "y z"\nw']]);
    expect(await typed('/pkg/web:deploy now')).toEqual([['pkg/web:deploy', 'now']]);
    expect(await typed('/mcp__srv__ask x')).toEqual([['mcp__srv__ask', 'x']]);
    expect(await typed('/hidden x')).toEqual([['hidden', 'x']]);
  });

  it('may begin with several', async () => {
    expect(await typed('/a /b\n/c the text')).toEqual([
      ['a', 'the text'],
      ['b', 'the text'],
      ['c', 'the text'],
    ]);
    expect(await typed('/a /etc/hosts')).toEqual([['a', '/etc/hosts']]);
    expect(await typed('/a /nosuch x')).toEqual([['a', '/nosuch x']]);
    expect(await typed('/a /a x')).toEqual([['a', '/a x']]);
    expect(await typed('/a x /b')).toEqual([['a', 'x /b']]);
  });

  it('takes six, and ends with the first that does not go in here', async () => {
    const many = (await typed('/a /b /c /d /e /f /g x')) as unknown[][];
    expect(many.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(many[5]?.[1]).toBe('/g x');
    expect(await typed('/a /fork /b x')).toEqual([['a', '/fork /b x']]);
    expect(await typed('/fork /a x')).toEqual([['fork', '/a x']]);
    expect(await typed('/a /compact x')).toEqual([['a', '/compact x']]);
  });

  it('may be a word of the program, which goes before a skill', async () => {
    expect(await typed('/compact keep the plan')).toEqual({
      kind: 'builtin',
      name: 'compact',
      args: 'keep the plan',
    });
  });

  it('may be nothing that is known, which the model never sees', async () => {
    expect(await typed('/reveiw x')).toEqual({
      kind: 'unknown',
      name: 'reveiw',
      message: 'Unknown command: /reveiw. Did you mean /review?',
    });
    expect(await typed('/usr')).toMatchObject({ kind: 'unknown' });
    expect(await typed('/hepl')).toMatchObject({ message: expect.stringContaining('/help?') });
    expect(await typed(`/${'x'.repeat(5000)}`)).toMatchObject({ kind: 'unknown' });
  });
});
