import { describe, expect, it } from 'vitest';
import { gateMatcher } from './name-matcher.js';

describe('the matcher of a guard', () => {
  it.each([
    [undefined, 'Bash', true],
    ['', 'Bash', true],
    ['*', 'Bash', true],
    ['Bash', 'Bash', true],
    ['bash', 'Bash', true],
    ['Ba', 'Bash', false],
    ['Bash|Write', 'Write', true],
    ['Bash | Write', 'Write', true],
    ['Bash, Write', 'Write', true],
    ['Bash|Write', 'Edit', false],
    ['^ba', 'Bash', true],
    ['ash$', 'Bash', true],
    ['B.*', 'Bash', true],
    ['mcp__calc__add', 'mcp__calc__add', true],
    ['mcp__calc__add', 'mcp__calc__add__more', false],
    ['mcp__calc__*', 'mcp__calc__add', true],
    ['mcp__calc__.*', 'mcp__calc__add', true],
    ['mcp__git*__*', 'mcp__github__push', true],
    ['mcp__git*__*', 'mcp__calc__push', false],
    ['mcp__.*__write', 'mcp__fs__write', true],
  ])('%s for %s: %s', (matcher, name, expected) => {
    const made = gateMatcher(matcher);
    expect(made.problem).toBeUndefined();
    expect(made.matches([name])).toBe(expected);
  });

  it('goes by the other names of a tool too', () => {
    expect(gateMatcher('Task').matches(['Agent', 'Task'])).toBe(true);
  });

  it.each([
    ['mcp__calc', 'mcp__calc__add', true],
    ['mcp__calc', 'mcp__calc', true],
    ['MCP__Calc', 'mcp__calc__add', true],
    ['Bash|mcp__calc', 'mcp__calc__add', true],
    ['Bash|mcp__calc', 'Bash', true],
    ['mcp__calc__', 'mcp__calc__add', true],
    ['mcp__', 'mcp__calc__add', true],
    ['mcp__calc', 'mcp__calculator__add', false],
    ['mcp__calc', 'Bash', false],
    ['mcp__', 'Bash', false],
  ])('takes a server for its tools, and says so: %s for %s: %s', (matcher, name, expected) => {
    const made = gateMatcher(matcher);
    expect(made.problem).toContain('names no tool');
    expect(made.matches([name])).toBe(expected);
  });

  it('guards every tool when it cannot be read, and says so', () => {
    for (const matcher of ['[', '(?!Read).*', '(a+', 'a{9999}', `${'x'.repeat(2_000)}.`]) {
      const made = gateMatcher(matcher);
      expect(made).toMatchObject({
        problem: expect.stringContaining('every tool'),
        unreadable: true,
      });
      expect(made.matches(['Read'])).toBe(true);
    }
  });

  it.each(['|', ',', ' | , ', '||'])('guards every tool when %j names nothing', (matcher) => {
    const made = gateMatcher(matcher);
    expect(made.problem).toContain('names nothing; it is taken to mean every tool');
    expect(made.matches(['Bash'])).toBe(true);
  });

  it.each([
    ['Bash(git push:*)|Write', ['Bash', 'Write'], ['BashOutput', 'Edit']],
    ['Bash(git push:*), Edit(*.ts)', ['Bash', 'Edit'], ['Write']],
    ['Write, Bash.*', ['Write', 'Bash', 'BashOutput'], ['TodoWrite']],
    ['Write|^Bash$', ['Write', 'Bash'], ['BashOutput', 'TodoWrite']],
    ['mcp__calc|Notebook(Edit|Read)', ['mcp__calc__add', 'NotebookEdit'], ['Edit']],
    ['Bash(git push|rm)', ['Bash'], ['Write']],
    ['^(Edit|Write)$,Bash', ['Edit', 'Write', 'Bash'], ['NotebookEdit', 'BashOutput']],
    ['[EW],Re{1,2}ad', ['Edit', 'Read'], ['Bash']],
  ])('reads %s alternative by alternative', (matcher, yes, no) => {
    const { matches } = gateMatcher(matcher);
    expect(yes.filter((name) => matches([name]))).toEqual(yes);
    expect(no.filter((name) => matches([name]))).toEqual([]);
  });

  it.each([
    '"Bash"',
    '/Bash/',
    '{Write,Edit}',
    'Ba\u017fh',
    'Bash tool',
    '!Read',
    'Write|Bash (rm)',
  ])('of tools guards every tool when %s can be the name of none', (matcher) => {
    const made = gateMatcher(matcher, { ofTools: true });
    expect(made).toMatchObject({ unreadable: true });
    expect(made.matches(['Read'])).toBe(true);
  });

  it('guards every tool when one of several alternatives cannot be read', () => {
    const made = gateMatcher('Bash|(?!Read).*');
    expect(made).toMatchObject({ unreadable: true });
    expect(made.matches(['Write'])).toBe(true);
  });

  it('takes a rule for the tool that it names', () => {
    const made = gateMatcher('Bash(rm *)');
    expect(made.problem).toContain('every call of Bash');
    expect([made.matches(['Bash']), made.matches(['Read'])]).toEqual([true, false]);
  });

  it('guards the tool that a text in the form of a rule names as an expression', () => {
    const made = gateMatcher('Notebook(Edit)');
    expect(['NotebookEdit', 'Notebook', 'Edit'].map((name) => made.matches([name]))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
