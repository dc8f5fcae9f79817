import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { wireHost } from '../support/wire-host.js';
import { PROGRAM } from './program.js';
import { run } from './worlds.js';

interface Place {
  readonly directory: string;
  readonly home: string;
}

function check(place: Place, lines: readonly unknown[]) {
  const [program = '', ...first] = PROGRAM;
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  const done = spawnSync(program, [...first, 'policy', 'check', '--jsonl'], {
    cwd: place.directory,
    env: { PATH: process.env.PATH, HOME: place.home },
    input: `${text.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const answers = done.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...done, answers };
}

const bash = (command: string) => ({ tool: 'Bash', input: { command } });

describe('portcullis policy check --jsonl', () => {
  it('answers a line for a line, in order', () => {
    const project = makeTempProject({ files: { 'a.txt': 'a', '.env': 'x' } });
    const settings = {
      permissions: {
        allow: ['Bash(npm test:*)'],
        deny: ['Read(./.env)'],
        ask: ['Bash(git push:*)'],
      },
      portcullis: { agents: { reviewer: { deny: ['Write'] } } },
    };
    const { answers, status } = check(project, [
      { id: 1, settings, ...bash('npm test') },
      { id: 'two', settings, ...bash('cat .env') },
      { id: 3, settings, ...bash('git push') },
      { id: 4, settings, ...bash('touch x') },
      { id: 5, settings, mode: 'dontAsk', ...bash('touch x') },
      { id: 6, settings, mode: 'acceptEdits', ...bash('touch x') },
      { id: 7, settings, tool: 'Write', agent: 'reviewer', input: { file_path: 'x', content: '' } },
      { id: 8, settings, tool: 'mcp__srv__do', input: {} },
      { id: 9, settings: {}, tool: 'Read', input: { file_path: '@/etc/passwd' } },
      { id: 10, settings: { permissions: { deny: ['Bsh(rm)'] } }, ...bash('ls') },
    ]);
    project.remove();
    expect(status).toBe(0);
    expect(answers).toMatchObject([
      { id: 1, decision: 'allow', rule: expect.stringContaining('Bash(npm test:*)') },
      { id: 'two', decision: 'deny', decidedBy: 'deny rules' },
      { id: 3, decision: 'ask', decidedBy: 'ask rules' },
      { id: 4, decision: 'ask', decidedBy: 'no rule' },
      { id: 5, decision: 'deny', decidedBy: 'mode dontAsk' },
      { id: 6, decision: 'allow' },
      { id: 7, decision: 'deny', decidedBy: 'deny rules' },
      { id: 8, decision: 'ask' },
      { id: 9, decision: 'ask' },
      { id: 10, decision: 'deny', decidedBy: 'settings', reason: expect.stringContaining('Bash') },
    ]);
    for (const { reason } of answers) expect(reason).toEqual(expect.any(String));
  });

  it('marks lines that are no cases, goes on, and ends with 2', () => {
    const project = makeTempProject({});
    const { answers, status } = check(project, [
      '{broken',
      '[]',
      { id: 3, tool: 'Nope', input: {} },
      { id: 4, tol: 'Bash', input: {} },
      { id: 5, mode: 'careless', ...bash('ls') },
      { id: 6, tool: 'Read', input: {} },
      { id: 7, ...bash('ls') },
    ]);
    project.remove();
    expect(status).toBe(2);
    expect(answers).toHaveLength(7);
    expect(answers.slice(0, 6).every(({ error }) => typeof error === 'string')).toBe(true);
    expect(answers.slice(2, 6).map(({ id }) => id)).toEqual([3, 4, 5, 6]);
    expect(answers[6]).toMatchObject({ id: 7, decision: 'allow' });
  });

  it('takes thousands of cases in one process', () => {
    const project = makeTempProject({});
    const cases = Array.from({ length: 3000 }, (_, id) => ({
      id,
      settings: { permissions: { allow: [`Bash(tool${id % 40}:*)`] } },
      ...bash(`tool${id % 40} run ${id} && ls`),
    }));
    const { answers, status } = check(project, cases);
    project.remove();
    expect(status).toBe(0);
    expect(answers.map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
    expect(answers.every(({ decision }) => decision === 'allow')).toBe(true);
  });
});

const PAIRS: readonly (readonly [rules: Record<string, readonly string[]>, command: string])[] = [
  ...[
    'ls',
    'pwd',
    'cat a.txt',
    'cat .env',
    'touch x',
    'mkdir d',
    'git status',
    'echo x > y',
    '(cd src && ls)',
    'cd .. && ls',
    'ls | wc -l',
    'find . -name x -delete',
    'env',
    'echo $(touch z)',
    'git log --output=x',
    'sed -n 1p a.txt',
    'sort -o q a.txt',
  ].map((command) => [{ deny: ['Read(./.env)'] }, command] as const),
  ...[
    'touch x',
    'touch .git/x',
    't\\ouch x2',
    'timeout 5 touch x3',
    'touch x4 && mkdir y',
    'touch x5; ls',
    'FOO=1 touch x6',
    'touch $X',
    'touch x7 > out',
    '(touch x8)',
    'touch x9 &',
    'touch /tmp/../etc/x',
    'touch "a b"',
    'sudo touch x',
    'env touch x',
    '\ttouch x10',
    'touch x11 # note',
  ].map((command) => [{ allow: ['Bash(touch:*)'] }, command] as const),
  ...[
    'chmod +x a.txt',
    'bash -c "chmod +x a.txt"',
    'nice chmod +x a.txt',
    'echo chmod',
    'true',
    '/bin/chmod +x a.txt',
    'x=chmod; $x +x a.txt',
    'find . -exec chmod +x {} \\;',
    'grep chmod a.txt',
    'eval "chmod +x a.txt"',
    'mkdir k',
    'printf x',
    'echo "chmod +x a.txt" | sh',
    "awk 'BEGIN { print 1 }'",
    "cat <<'EOF'\nchmod\nEOF",
    'ls; chmod +x a.txt',
  ].map((command) => [{ allow: ['Bash'], deny: ['Bash(chmod:*)'] }, command] as const),
];

describe('the check and a real run', () => {
  it.each([...new Set(PAIRS.map(([rules]) => JSON.stringify(rules)))])(
    'decide alike under %s',
    async (key) => {
      const permissions = JSON.parse(key) as Record<string, readonly string[]>;
      const commands = PAIRS.filter(([rules]) => JSON.stringify(rules) === key).map(
        ([, command]) => command,
      );
      const done = await run({
        files: { 'a.txt': 'a\n', '.env': 'S=1\n', 'src/x.ts': 'x\n' },
        home: { '.claude/settings.json': { json: { permissions } } },
        script: [{ blocks: commands.map((command) => bash(command)) }, 'end'],
      });
      const { answers } = check(
        { directory: done.project.directory, home: done.project.home },
        commands.map((command, id) => ({ id, settings: { permissions }, ...bash(command) })),
      );
      const denials = done.result?.permission_denials as { tool_input: { command: string } }[];
      const refused = new Set(denials.map(({ tool_input }) => tool_input.command));
      const ran = commands.filter((command) => !refused.has(command));
      const allowed = commands.filter((_, id) => answers[id]?.decision === 'allow');
      expect(allowed).toEqual(ran);
      expect(ran.length).toBeGreaterThan(2);
      expect(refused.size).toBeGreaterThan(2);
    },
  );

  it('covers fifty pairs', () => {
    expect(PAIRS.length).toBeGreaterThanOrEqual(50);
  });
});

function receipts(done: ScenarioRun): Record<string, unknown>[] {
  const root = path.join(done.project.home, '.portcullis/journal');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(path.join(root, name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a build that is asked about, and a look that is not', () => {
  const story = async (portcullis: Record<string, unknown>) => {
    const asked: string[] = [];
    const { scenario } = wireHost({
      canUseTool: (request) => {
        asked.push((request.input as { command: string }).command);
        return { behavior: 'allow', updatedInput: request.input };
      },
    });
    const done = await run({
      home: { '.claude/settings.json': { json: { portcullis } } },
      script: [bash('make'), bash('pwd'), 'end'],
      ...scenario,
      args: ['--permission-prompt-tool', 'stdio'],
    });
    return { asked, done };
  };

  it('says why the second ran without a question', async () => {
    const { asked, done } = await story({});
    expect(asked).toEqual(['make']);
    const text = JSON.stringify(receipts(done));
    expect(text).toContain('allowed when asked');
    expect(text).toContain('every command is covered: read-only');
  });

  it('asks about both when that is wanted', async () => {
    const { asked } = await story({ askReadOnly: true });
    expect(asked).toEqual(['make', 'pwd']);
  });
});

describe('searches', () => {
  it('do not show what may not be read', async () => {
    const done = await run({
      files: { 'a.txt': 'needle\n', 'secrets/key.txt': 'needle SECRET\n' },
      home: {
        '.claude/settings.json': { json: { permissions: { deny: ['Read(./secrets/**)'] } } },
      },
      script: [
        {
          blocks: [
            { tool: 'Grep', input: { pattern: 'needle', output_mode: 'content' } },
            { tool: 'Grep', input: { pattern: 'needle' } },
            { tool: 'Grep', input: { pattern: 'needle', output_mode: 'count' } },
            { tool: 'Glob', input: { pattern: '**/*.txt' } },
          ],
        },
        'end',
      ],
      args: ['--tools', 'Grep,Glob'],
    } as never);
    for (const index of [0, 1, 2, 3]) {
      const { text, isError } = done.toolResult(index);
      expect([index, isError]).toEqual([index, false]);
      expect(text).toContain('a.txt');
      expect(text).not.toContain('left out');
      expect(text).not.toContain('key.txt');
      expect(text).not.toContain('SECRET');
    }
  });
});
