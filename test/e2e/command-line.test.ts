import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from './program.js';
import { run } from './worlds.js';

const project = makeTempProject({
  files: {
    'script.json': '["answered"]',
    'bad.json': '{"replies": 3}',
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
    [['-p', '--modell', 'gpt-x', 'fix it'], 2, /unknown flag --modell; did you mean --model\?/],
    [['-p', '-z', 'fix it'], 2, /unknown flag -z/],
    [['config', '--foo'], 2, /unknown flag --foo/],
    [['-p', ...SCRIPT, '/nosuch'], 2, /^$/],
    [
      ['-p', ...SCRIPT, '--add-dir', '/nonexist', '--', 'x'],
      2,
      /--add-dir: "\/nonexist" is not a directory/,
    ],
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

describe('what the program prints', () => {
  it('cuts long descriptions with a mark, and aligns the help of subcommands', () => {
    expect(portcullis(['agents', 'list', '--trust']).out).toMatch(/word…\n/);
    for (const command of ['agents', 'sandbox', 'mcp']) {
      const rows = portcullis([command, '--help']).out.trimEnd().split('\n').slice(1);
      const width = Math.max(...rows.map((row) => row.search(/ {2}\S[^<[]*$/)));
      expect(width).toBeGreaterThan(0);
      for (const row of rows) expect(row.slice(width, width + 2)).toMatch(/^\s*$/);
    }
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
