// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a variable in a rule is a case
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import type { SourcedRule } from '../../settings/types.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { matchesPath, parsePathPattern } from './path-pattern.js';
import { parseRules, type RuleKind } from './rules.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: { 'a.txt': 'a', '.env': 'e', 'src/x.ts': 'x', 'secrets/key': 'k', 'etc/x': 'x' },
  });
});
afterAll(() => project.remove());

type Lists = Partial<Record<RuleKind, readonly string[]>>;
type Row = [lists: Lists, tool: string, input: Record<string, unknown>, outcome: string];

const skill = (name: string, args?: string) =>
  args === undefined ? { skill: name } : { skill: name, args };

describe('rules by tool', () => {
  it.each<Row>([
    [
      { allow: ['WebFetch(domain:example.com)'] },
      'WebFetch',
      { url: 'https://example.com./x' },
      'runs',
    ],
    [
      { allow: ['WebFetch(domain:*.example.com)'] },
      'WebFetch',
      { url: 'https://example.com/' },
      'asks',
    ],
    [
      { allow: ['WebFetch(domain:*.example.com)'] },
      'WebFetch',
      { url: 'https://a.b.example.com' },
      'runs',
    ],
    [
      { allow: ['WebFetch(domain:api-*.example.com)'] },
      'WebFetch',
      { url: 'https://api-1.example.com' },
      'runs',
    ],
    [
      { allow: ['WebFetch(domain:api-*.example.com)'] },
      'WebFetch',
      { url: 'https://api-1.evil.example.com' },
      'asks',
    ],
    [
      { deny: ['webfetch(domain:EXAMPLE.com)'], allow: ['WebFetch'] },
      'WebFetch',
      { url: 'https://example.com' },
      'denied',
    ],
    [
      { deny: ['WebFetch(domain:example.com)'], allow: ['WebFetch'] },
      'WebFetch',
      { url: 'https://example.org' },
      'runs',
    ],
    [{ allow: ['WebSearch'] }, 'WebSearch', { query: 'x' }, 'runs'],
    [{ deny: ['WebSearch'] }, 'WebSearch', { query: 'x' }, 'denied'],
    [{ allow: ['mcp__srv'] }, 'mcp__srv__do', {}, 'runs'],
    [{ allow: ['mcp__srv__*'] }, 'mcp__srv__do', {}, 'runs'],
    [{ allow: ['mcp__srv__get_*'] }, 'mcp__srv__set_x', {}, 'asks'],
    [{ allow: ['mcp__srv'], deny: ['mcp__srv__do'] }, 'mcp__srv__do', {}, 'denied'],
    [{ allow: ['mcp__srv'], deny: ['mcp__*'] }, 'mcp__srv__do', {}, 'denied'],
    [{ allow: ['mcp__srv'], deny: ['mcp__*__do'] }, 'mcp__srv__do', {}, 'denied'],
    [{ allow: ['mcp__srv'], deny: ['*'] }, 'mcp__srv__do', {}, 'denied'],
    [
      { allow: ['mcp__srv'], ask: ['mcp__srv__do(force:true)'] },
      'mcp__srv__do',
      { force: true },
      'asks',
    ],
    [
      { allow: ['mcp__srv'], ask: ['mcp__srv__do(force:true)'] },
      'mcp__srv__do',
      { force: false },
      'runs',
    ],
    [
      { allow: ['mcp__srv'], deny: ['mcp__srv__do(name : a*)'] },
      'mcp__srv__do',
      { name: 'Abc' },
      'denied',
    ],
    [{ allow: ['mcp__srv'], deny: ['mcp__srv__do(name:*)'] }, 'mcp__srv__do', {}, 'runs'],
    [
      { allow: ['mcp__srv'], deny: ['mcp__srv__do(name:*)'] },
      'mcp__srv__do',
      { name: ['x'] },
      'runs',
    ],
    [{ allow: ['Agent(explore)'] }, 'Agent', { subagent_type: 'explore' }, 'runs'],
    [{ allow: ['Agent(explore)'] }, 'Agent', { subagent_type: 'Explore' }, 'asks'],
    [
      { allow: ['Agent'], deny: ['Task(Explore)'] },
      'Agent',
      { subagent_type: 'explore' },
      'denied',
    ],
    [
      { allow: ['Agent'], deny: ['Agent(plugin:reviewer)'] },
      'Agent',
      { subagent_type: 'plugin:reviewer' },
      'denied',
    ],
    [
      { allow: ['Agent'], deny: ['Agent(model:opus*)'] },
      'Agent',
      { subagent_type: 'x', model: 'opus-4' },
      'denied',
    ],
    [{ allow: ['Agent'], deny: ['Agent(isolation:*)'] }, 'Agent', { subagent_type: 'x' }, 'runs'],
    [{ allow: ['Skill(deploy)'] }, 'Skill', skill('deploy'), 'runs'],
    [{ allow: ['Skill(deploy)'] }, 'Skill', skill('deploy', '--prod'), 'asks'],
    [{ allow: ['Skill(deploy *)'] }, 'Skill', skill('deploy', '--prod'), 'runs'],
    [{ allow: ['Skill(deploy *)'] }, 'Skill', skill('deploy'), 'runs'],
    [{ allow: ['Skill(deploy *)'] }, 'Skill', skill('deployer'), 'asks'],
    [{ allow: ['Skill(team:*)'] }, 'Skill', skill('team:review', 'x'), 'runs'],
    [{ allow: ['Skill(team:*)'] }, 'Skill', skill('teams:review'), 'asks'],
    [{ allow: ['Skill'], deny: ['Skill(deploy)'] }, 'Skill', skill('Deploy', '--prod'), 'denied'],
    [{ allow: ['Skill'], deny: ['Skill(team:review)'] }, 'Skill', skill('team:review'), 'denied'],
    [
      { allow: ['Bash'], deny: ['Bash(run_in_background:true)'] },
      'Bash',
      { command: 'x', run_in_background: true },
      'denied',
    ],
    [{ allow: ['Bash'], deny: ['Bash(run_in_background:true)'] }, 'Bash', { command: 'x' }, 'runs'],
    [{ allow: ['Bash(command:*)'] }, 'Bash', { command: 'command -v ls' }, 'runs'],
    [{ allow: ['Bash'], deny: ['Bash(:*)'] }, 'Bash', { command: 'ls' }, 'denied'],
    [{ allow: ['Bash'], deny: ['Bash(rm  -rf:*)'] }, 'Bash', { command: 'rm -rf x' }, 'denied'],
    [{ allow: ['Bash'], deny: ['B*'] }, 'Bash', { command: 'ls' }, 'denied'],
    [
      { allow: ['Bash'], deny: ['bash(npm   publish *)'] },
      'Bash',
      { command: 'npm publish' },
      'denied',
    ],
    [{ allow: ['Bash(npm run test:*)'] }, 'Bash', { command: 'npm run test:unit' }, 'asks'],
    [{ allow: ['Bash(ls*)'] }, 'Bash', { command: 'lsblk' }, 'runs'],
    [{ allow: ['Bash(git * main)'] }, 'Bash', { command: 'git push origin main' }, 'runs'],
  ])('%j: %s %j %s', async (lists, tool, input, expected) => {
    const rig = gateRig({ cwd: project.directory, home: project.home, ...lists });
    expect(await rig.outcome(tool, input)).toBe(expected);
  });

  it.each<Row>([
    [{ deny: ['Read(/secrets/**)'] }, 'Read', { file_path: 'secrets/key' }, 'denied'],
    [{ deny: ['Read(/etc/passwd)'] }, 'Read', { file_path: '/etc/passwd' }, 'denied'],
    [{ deny: ['Read(/etc/x)'] }, 'Read', { file_path: 'etc/x' }, 'denied'],
    [{ deny: ['Read(//etc/x)'] }, 'Read', { file_path: 'etc/x' }, 'runs'],
    [{ deny: ['Read(./src/../.env)'] }, 'Read', { file_path: '.env' }, 'denied'],
    [{ deny: ['write(./src/**)'] }, 'Write', { file_path: 'src/new.ts' }, 'denied'],
    [{ deny: ['Write(./src/**)'] }, 'Edit', { file_path: 'src/x.ts' }, 'denied'],
    [{ deny: ['NotebookEdit(./src/**)'] }, 'Write', { file_path: 'src/n' }, 'denied'],
    [{ deny: ['Edit(**)'] }, 'Write', { file_path: 'src/new.ts' }, 'denied'],
    [{ deny: ['Edit(**)'] }, 'Edit', { file_path: '/tmp/elsewhere' }, 'denied'],
    [{ allow: ['Bash'], deny: ['Edit(**)'] }, 'Bash', { command: 'touch src/n' }, 'denied'],
    [{ allow: ['Bash'], deny: ['Write(**)'] }, 'Edit', { file_path: 'src/x.ts' }, 'denied'],
    [{ allow: ['Bash'], deny: ['Read(**)'] }, 'Bash', { command: 'cat src/x.ts' }, 'denied'],
    [{ allow: ['Write'], ask: ['Edit(**)'] }, 'Write', { file_path: 'src/new.ts' }, 'asks'],
    [{ allow: ['Write'], deny: ['Edit(*)'] }, 'Write', { file_path: 'src/new.ts' }, 'runs'],
    [{ deny: ['Glob(./secrets/**)'] }, 'Read', { file_path: 'secrets/key' }, 'denied'],
    [{ deny: ['Grep(./secrets/**)'] }, 'Bash', { command: 'cat secrets/key' }, 'denied'],
    [{ deny: ['Read(SRC/**)'] }, 'Read', { file_path: 'src/x.ts' }, 'denied'],
    [{ deny: ['Read(**/*.ts)'] }, 'Read', { file_path: 'src/x.ts' }, 'denied'],
    [{ deny: ['Read(*.ts)'] }, 'Read', { file_path: 'src/x.ts' }, 'denied'],
    [{ deny: ['Read(./*.ts)'] }, 'Read', { file_path: 'src/x.ts' }, 'runs'],
    [{ deny: ['Read(src)'] }, 'Read', { file_path: 'src/x.ts' }, 'denied'],
    [{ deny: ['Read(src/)'] }, 'Read', { file_path: 'src/x.ts' }, 'denied'],
    [{ deny: ['Read(.env)'] }, 'Read', { file_path: 'file:///etc/../.env' }, 'denied'],
    [{}, 'Read', { file_path: '@/etc/passwd' }, 'asks'],
    [{}, 'Read', { file_path: '@~/x' }, 'asks'],
    [{}, 'Read', { file_path: 'file:///etc/passwd' }, 'asks'],
    [{}, 'Read', { file_path: '@types/x' }, 'runs'],
  ])('paths, %j: %s %j %s', async (lists, tool, input, expected) => {
    const rig = gateRig({ cwd: project.directory, home: project.home, ...lists });
    expect(await rig.outcome(tool, input)).toBe(expected);
  });
});

function parse(kind: RuleKind, ...texts: readonly string[]) {
  const sourced = texts.map(
    (text, index): SourcedRule => ({
      value: { text, root: '/p' },
      source: 'user',
      file: '/p/settings.json',
      line: index + 1,
      trusted: true,
    }),
  );
  return parseRules({ allow: [], ask: [], deny: [], [kind]: sourced }, { cwd: '/p', home: '/h' });
}

describe('restrictions that cannot mean what they say', () => {
  it.each([
    ['Bash(command:rm *)', 'Write Bash(rm *).'],
    ['Read(file_path:.env)', 'Write Read(.env).'],
    ['WebFetch(url:https://x)', 'domain:example.com'],
    ['Read($HOME/.ssh/**)', '~/'],
    ['Read(${HOME}/.ssh/**)', '~/'],
    ['Read(%USERPROFILE%\\x)', '~/'],
    ['Read("./.env")', 'Remove the quotes'],
    ['Read(file:///etc/passwd)', 'Write the path'],
    ['Read(https://x.example/)', 'WebFetch'],
    ['Read(~root/x)', '//home'],
    ['Read(!x)', 'list what is meant'],
    ['Bsh', 'Did you mean Bash?'],
    ['WebFtech(domain:x)', 'Did you mean WebFetch?'],
    ['NoSuchThing(x)', 'Name an existing tool'],
    ['mcp__*(x)', 'alone'],
    ['TodoWrite(x)', 'alone'],
  ])('%s is fatal, with a way out', (text, remedy) => {
    const { rules, problems } = parse('deny', text);
    expect(rules.deny).toEqual([]);
    expect(problems).toMatchObject([
      {
        severity: 'fatal',
        file: '/p/settings.json',
        line: 1,
        remedy: expect.stringContaining(remedy),
      },
    ]);
  });

  it.each(['SlashCommandRunner', 'mcp_custom', 'Xyz*', 'EndConversation'])(
    'a plain ban of %s is kept, and listed as banning nothing now',
    (text) => {
      const { rules, problems } = parse('deny', text);
      expect(rules.deny).toHaveLength(1);
      expect(problems).toMatchObject([
        { severity: 'note', message: expect.stringContaining('bans nothing now') },
      ]);
      expect(rules.deny[0]?.matchesTool([text.replace('*', 'abc')])).toBe(true);
    },
  );

  it.each(['TaskOutput', 'KillShell', 'mcp__local_toolkit__*', 'mcp__x', 'Task', 'ListPeers'])(
    'a ban of %s is legal',
    (text) => {
      expect(parse('deny', text).problems).toEqual([]);
    },
  );

  it('an exception beside other rules is left out with a warning', () => {
    const { rules, problems } = parse('deny', 'Read(*.ts)', 'Read(!x.ts)');
    expect(rules.deny).toHaveLength(1);
    expect(problems).toMatchObject([{ severity: 'warning', line: 2 }]);
  });
});

describe('file systems that ignore case', () => {
  it('are told apart for grants alone', () => {
    const base = { cwd: '/p', home: '/h', root: '/p' };
    const exact = parsePathPattern('./Src/**', base, { use: 'grant' });
    const loose = parsePathPattern('./Src/**', { ...base, ignoresCase: true }, { use: 'grant' });
    const strict = parsePathPattern('./Src/**', base, { use: 'restrict' });
    expect(matchesPath(exact, '/p/src/a')).toBe(false);
    expect(matchesPath(loose, '/P/src/a')).toBe(true);
    expect(matchesPath(strict, '/p/SRC/a')).toBe(true);
  });
});

describe('restrictions that would match nothing', () => {
  it.each([
    'Bash(rm\u200b *)',
    'Bash(rm\u00ad *)',
    'Read(./.e\u2060nv)',
    'Read(./.e\u034fnv)',
    'Read(./.env\u{e0020})',
    'Edit(.env),Read(.env)',
  ])('are refused: %j', (text) => {
    const origin = { value: { text, root: '/p' }, source: 'user' } as unknown as SourcedRule;
    const { problems } = parseRules({ allow: [], ask: [], deny: [origin] }, {
      cwd: '/p',
      home: '/h',
    } as Parameters<typeof parseRules>[1]);
    expect(problems).toMatchObject([{ severity: 'fatal' }]);
  });
});
