import { describe, expect, it } from 'vitest';
import type { SourcedRule } from '../../settings/types.js';
import { parseCommandPattern } from './command-pattern.js';
import { matchesDomain, parseDomain } from './domain.js';
import { fits } from './match.js';
import { parseRules, type RuleKind, splitRuleList } from './rules.js';

const sourced = (text: string): SourcedRule => ({
  value: { text, root: '/p' },
  source: 'project',
  file: '/p/.claude/settings.json',
  line: 7,
  trusted: true,
});

function parse(kind: RuleKind, text: string) {
  const texts = { allow: [], ask: [], deny: [], [kind]: [sourced(text)] };
  return parseRules(texts, { cwd: '/p', home: '/home/me', knownTools: ['MyTool'] });
}

describe('command patterns', () => {
  it.each([
    ['mkdir d1', 'mkdir d1', true],
    ['mkdir d1', 'mkdir d1 d2', false],
    ['mkdir:*', 'mkdir', true],
    ['mkdir:*', 'mkdir a', true],
    ['mkdir:*', 'mkdirp a', false],
    ['mkdir *', 'mkdir', true],
    ['mkdir *', 'mkdir a b', true],
    ['mkdir *', 'mkdir-x', false],
    ['ls*', 'lsof', true],
    ['npm run test:*', 'npm run test', true],
    ['npm run test:*', 'npm run test:unit', false],
    ['npm run test:*', 'npm run tests', false],
    ['git:* push', 'git push', false],
    ['git:* push', 'git:x push', true],
    ['git * main', 'git push origin main', true],
    ['* --version', 'node --version', true],
    ['touch a\\(1\\)', 'touch a(1)', true],
    ['touch \\*', 'touch *', true],
    ['touch \\*', 'touch b', false],
  ])('%s against %s: %s', (pattern, command, expected) => {
    expect(fits(parseCommandPattern(pattern), command)).toBe(expected);
  });
});

describe('rules', () => {
  it.each<[RuleKind, string, string[], boolean]>([
    ['deny', 'Bash', ['Bash'], true],
    ['deny', 'bash', ['Bash'], true],
    ['deny', 'Bash()', ['Bash'], true],
    ['deny', 'Bash(*)', ['Bash'], true],
    ['deny', 'B*', ['Bash'], true],
    ['deny', '*', ['mcp__a__b'], true],
    ['deny', 'mcp__*', ['mcp__a__b'], true],
    ['deny', 'mcp__*', ['Bash'], false],
    ['deny', 'MCP__srv'.toLowerCase(), ['mcp__srv__tool'], true],
    ['deny', 'mcp__SRV', ['mcp__srv__tool'], true],
    ['allow', 'mcp__srv', ['mcp__srv__tool'], true],
    ['allow', 'mcp__srv__*', ['mcp__srv__tool'], true],
    ['allow', 'mcp__srv', ['mcp__srv2__tool'], false],
    ['allow', 'mcp__srv__tool', ['mcp__srv__tool'], true],
    ['allow', 'mcp__srv__tool', ['mcp__srv__tool2'], false],
    ['allow', 'mcp__srv__get_*', ['mcp__srv__get_x'], true],
    ['allow', 'Task', ['Agent'], true],
    ['allow', 'KillShell', ['TaskStop'], true],
    ['allow', 'MyTool', ['MyTool'], true],
  ])('%s %s for %j: %s', (kind, text, names, expected) => {
    const { rules, problems } = parse(kind, text);
    expect(problems).toEqual([]);
    expect(rules[kind].map((rule) => rule.matchesTool(names))).toEqual([expected]);
  });

  it.each<[RuleKind, string]>([
    ['deny', 'Bsh(rm *)'],
    ['ask', 'Reed'],
    ['deny', 'Bash(rm *'],
    ['deny', '(rm *)'],
    ['deny', ''],
    ['deny', 'Bash (rm)x'],
    ['deny', 'Read(!.env)'],
    ['deny', 'Read(~other/.ssh/**)'],
    ['deny', 'WebFetch(example.com)'],
    ['deny', 'WebFetch(domain:https://x/y)'],

    ['deny', 'TodoWrite(foo)'],
  ])('a restriction that cannot be honoured is fatal: %s %s', (kind, text) => {
    const { rules, problems } = parse(kind, text);
    expect(rules[kind]).toEqual([]);
    expect(problems).toMatchObject([
      { severity: 'fatal', file: '/p/.claude/settings.json', line: 7 },
    ]);
    expect(problems[0]?.message).toContain(`"${text}"`);
  });

  it('names the nearest spelling', () => {
    expect(parse('deny', 'Bsah(rm *)').problems[0]?.remedy).toBe('Did you mean Bash?');
  });

  it.each(['bash(ls)', 'Bash(ls', 'B*', 'mcp__*', 'mcp__*__x', 'Nope', 'Read(!x)'])(
    'a grant that cannot be understood is lost with a warning: %s',
    (text) => {
      const { rules, problems } = parse('allow', text);
      expect(rules.allow).toEqual([]);
      expect(problems).toMatchObject([{ severity: 'warning' }]);
    },
  );

  it('reads parameters in restrictions only', () => {
    expect(parse('deny', 'Bash(run_in_background:true)').rules.deny[0]?.spec.kind).toBe('field');
    expect(parse('allow', 'Bash(run_in_background:true)').rules.allow).toEqual([]);
    expect(parse('deny', 'Agent(model:opus)').rules.deny[0]?.spec).toMatchObject({
      field: 'model',
    });
    expect(parse('deny', 'Agent(Explore)').rules.deny[0]?.spec).toMatchObject({
      field: 'subagent_type',
    });
  });
});

describe('domains', () => {
  it.each([
    ['domain:example.com', 'https://example.com/a', true],
    ['domain:example.com', 'https://EXAMPLE.com./a', true],
    ['domain:example.com', 'https://sub.example.com/', false],
    ['domain:example.com', 'https://attacker.invalid/?u=example.com', false],
    ['domain:example.com', 'https://example.com@attacker.invalid/', false],
    ['domain:example.com', 'https://example.com%2eattacker.invalid/', false],
    ['domain:*.example.com', 'https://a.b.example.com/', true],
    ['domain:*.example.com', 'https://example.com/', false],
    ['domain:*.example.com', 'https://evilexample.com/', false],
    ['domain:*', 'https://any.invalid/', true],
    ['domain:*', 'file:///etc/passwd', false],
    ['domain:a*.example.com', 'https://ab.example.com/', true],
    ['domain:a*.example.com', 'https://ab.c.example.com/', false],
    ['domain:example.com', 'not a url', false],
  ])('%s against %s: %s', (spec, url, expected) => {
    const pattern = parseDomain(spec);
    expect(pattern !== undefined && matchesDomain(pattern, url)).toBe(expected);
  });
});

describe('lists of rules on the command line', () => {
  it.each([
    [['Bash(git log:*),Read Edit'], ['Bash(git log:*)', 'Read', 'Edit']],
    [
      ['Bash(a, b)', 'Write'],
      ['Bash(a, b)', 'Write'],
    ],
    [['Bash(touch a\\) b) Read'], ['Bash(touch a\\) b)', 'Read']],
    [[' , '], []],
    [['Bash(echo (x)),Read'], ['Bash(echo (x))', 'Read']],
  ])('%j', (given, expected) => {
    expect(splitRuleList(given)).toEqual(expected);
  });
});
