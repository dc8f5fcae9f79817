import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from './program.js';
import { runBuilt as run } from './worlds.js';

const project = makeTempProject({
  files: {
    'script.json': '["answered"]',
    'bad.json': '{"replies": 3}',
    'list.json': '[]',
    '.claude/agents/long.md': `---\nname: long\ndescription: ${'word '.repeat(60)}\n---\nx\n`,
  },
});
afterAll(() => project.remove());

function portcullis(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  at: { readonly directory: string; readonly home: string } = project,
) {
  const [node = '', program = ''] = PROGRAM;
  const done = spawnSync(node, [program, ...args], {
    cwd: at.directory,
    env: { PATH: process.env.PATH ?? '', HOME: at.home, ...env },
    input: '',
    encoding: 'utf8',
  });
  return { code: done.status, out: done.stdout, said: done.stderr };
}

const SCRIPT = ['--script', 'script.json'];

describe('a command line that cannot be understood', () => {
  it.each<[string[], number, RegExp]>([
    [['-p', '--modell', 'gpt-x', 'fix it'], 2, /unknown option '--modell'; did you mean --model\?/],
    [['-p', '-z', 'fix it'], 2, /unknown option '-z'/],
    [['config', '--foo'], 2, /unknown option '--foo'/],
    [['-p', ...SCRIPT, '/nosuch'], 2, /^$/],
    [['-p', ...SCRIPT, '--add-dir', 'none', '--', 'x'], 2, /--add-dir: "none" is not a directory/],
    [
      ['-p', ...SCRIPT, '--json-schema', 'notjson', 'x'],
      2,
      /--json-schema: "notjson" cannot be read: there is no such file/,
    ],
    [
      ['-p', ...SCRIPT, '--append-system-prompt-file', 'none.md', 'x'],
      2,
      /--append-system-prompt-file: "none\.md" cannot be read/,
    ],
    [['-p', '--script', 'bad.json', 'x'], 3, /that --script or PORTCULLIS_SCRIPT names/],
    [['-p', ...SCRIPT, '--mcp-config', 'none.json', '--', 'x'], 3, /--mcp-config "none\.json"/],
    [['-p', 'x'], 3, /or OPENAI_BASE_URL for/],
    [['mcp', 'add', 'srv', 'npx', '-e', 'A=1'], 2, /"-e" follows the command/],
  ])('%j', (args, code, words) => {
    const done = portcullis(args);
    expect(done).toMatchObject({ code });
    expect(done.said).toMatch(words);
    expect(done.said).not.toContain('a restriction could not be honoured');
    expect(done.out).not.toContain('answered');
  });

  it('prints the version also after other flags', () => {
    expect(portcullis(['--debug', '-v']).out).toMatch(/\(Portcullis \d/);
    expect(portcullis(['--verbose', '--version'])).toMatchObject({ code: 0, said: '' });
  });
});

describe('bad input is told in one line with the remedy, and starts nothing', () => {
  it.each<[string, string[], RegExp]>([
    [
      'an unknown flag',
      ['-p', ...SCRIPT, '--foo', 'x'],
      /unknown option '--foo'; portcullis --help/,
    ],
    ['a near miss', ['-p', ...SCRIPT, '--modle', 'y', 'x'], /did you mean --model\?/],
    ['a misspelt restriction', ['-p', ...SCRIPT, '--max-turn', '3', 'x'], /--max-turns\?/],
    ['a flag without its value', ['-p', ...SCRIPT, '--model'], /--model needs a value: --model <n/],
    ['a flag before a flag', ['-p', '--model', ...SCRIPT, 'x'], /the flag --script follows/],
    ['a misspelt command', ['explian', 'Bash(ls)'], /did you mean: portcullis explain/],
    ['an unknown subcommand', ['auth', 'stats'], /did you mean: portcullis auth status/],
    ['an unknown option', ['sessions', '--jsno'], /did you mean --json\?; portcullis sessions --h/],
    ['an option without its value', ['sessions', '--limit'], /'-n, --limit <count>'/],
    ['a surplus argument', ['sessions', 'x'], /too many arguments/],
    ['a missing directory', ['-p', ...SCRIPT, '--add-dir', 'none', '--', 'x'], /not a directory/],
    ['a schema that is no JSON', ['-p', ...SCRIPT, '--json-schema', '{x', 'x'], /not valid JSON/],
    [
      'a schema that is not an object',
      ['-p', ...SCRIPT, '--json-schema', 'list.json', 'x'],
      /JSON obj/,
    ],
    [
      'agents that are no object',
      ['-p', ...SCRIPT, '--agents', 'list.json', 'x'],
      /--agents is not/,
    ],
    ['--resume without an id', ['-p', ...SCRIPT, '--resume'], /portcullis sessions lists them/],
    ['a setup without a terminal', ['setup'], /there is no terminal; use --yes/],
  ])('%s', (_name, args, words) => {
    const done = portcullis(args);
    expect(done).toMatchObject({ code: 2, out: '' });
    expect(done.said).toMatch(words);
    expect(done.said.trimEnd().split('\n')).toHaveLength(1);
    expect(done.said).toMatch(/^portcullis: /);
    expect(existsSync(path.join(project.home, '.claude/projects'))).toBe(false);
  });
});

describe('a prompt without -p', () => {
  it.each([
    [['fix the bug']],
    [['--verbose', 'fix the bug']],
    [['fix', 'the', 'bug']],
    [['--', 'demo']],
  ])('%j opens a conversation with it', (words) => {
    const done = portcullis([...SCRIPT, ...words]);
    expect(done.code).toBe(0);
    expect(done.out).toContain('answered');
  });
});

describe('what the program prints', () => {
  it('cuts long descriptions with a mark', () => {
    expect(portcullis(['agents', 'list', '--trust']).out).toMatch(/word…\n/);
  });

  it('prints help for 80 columns, of the program and of a command', () => {
    for (const words of [
      ['--help'],
      ['help'],
      ['sessions', '--help'],
      ['help', 'auth', 'status'],
    ]) {
      const { code, out, said } = portcullis(words);
      expect({ code, said }).toEqual({ code: 0, said: '' });
      for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    }
    const { out } = portcullis(['--help']);
    for (const words of ['\nPermissions\n', '  -p, --print ', '  explain ', 'Stop after this many'])
      expect(out).toContain(words);
    expect(portcullis(['help', 'sessions']).out).toBe(portcullis(['sessions', '-h']).out);
  });

  it('tells a retry with its number, the wait and, the first time, the remedy', () => {
    const { said } = portcullis(['-p', 'x'], {
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      ANTHROPIC_API_KEY: 'k',
      CLAUDE_CODE_MAX_RETRIES: '2',
    });
    expect(said).toMatch(/trying again in \d+\.\d s \(1 of 2\) · Check ANTHROPIC_BASE_URL/);
    expect(said).toMatch(/trying again in \d+\.\d s \(2 of 2\)\n/);
  });
});

describe('what a session changed', () => {
  it('is shown without escapes, and a rewind that kept all of it says so', async () => {
    const evil = 'a\u001b]0;OWNED\u0007b\n';
    const done = await run({
      args: ['--permission-mode', 'acceptEdits'],
      script: [{ tool: 'Write', input: { file_path: 'made.txt', content: evil } }, 'end'],
    });
    const diff = portcullis(['changes', '--diff'], {}, done.project).out;
    expect(diff).toContain('+a\\u001b]0;OWNED\\u0007b\n');
    expect(diff).not.toMatch(/[\u001b\u0007]/);
    const preview = portcullis(['rewind', '1', '--dry-run'], {}, done.project).out;
    expect(preview).toContain('to be restored (1):');
    done.project.write('made.txt', 'by the user');
    const kept = portcullis(['rewind', '1'], {}, done.project);
    expect(kept).toMatchObject({ code: 1 });
    expect(kept.said).toContain('nothing was restored; --overwrite');
    expect(portcullis(['rewind', '99'], {}, done.project).said).toContain(
      'portcullis rewind points',
    );
    expect(portcullis(['rewind', '1', '--overwrite'], {}, done.project).code).toBe(0);
    expect(done.project.exists('made.txt')).toBe(false);
  });
});
