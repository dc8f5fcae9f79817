import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { PROGRAM } from './program.js';
import { expectContinues, run, transcripts, warnings } from './worlds.js';

/** Runs the program with a mount of its own, made by the shell text. `$@` is the program. */
const mounted = (mounts: string): readonly string[] => [
  'unshare',
  '-m',
  'sh',
  '-c',
  `set -e; ${mounts}; exec "$@"`,
  'sh',
  ...PROGRAM,
];
const canMount =
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs -o size=64k none /mnt']).status === 0;
/** Named in the report when the machine does not let us mount. */
const itMounted = canMount ? it : it.skip;
const NEEDS = canMount ? '' : ' (skipped: needs unshare -m and mount)';

const WRITES = ['--allowedTools', 'Write', 'Bash'];
const TWO_CALLS = [
  { tool: 'Write', input: { file_path: 'a.txt', content: 'written' } },
  { tool: 'Bash', input: { command: 'cat a.txt' } },
  'Done.',
] as const;

/** Told twice: when the first line is lost, with the reason, and at the end, with what stayed lost. */
function expectLost(done: ScenarioRun, reason: RegExp): void {
  const lost = done.frames.filter((frame) => frame.subtype === 'session_writes_lost');
  expect(lost).toMatchObject([
    { error_code: expect.stringMatching(reason) },
    { error_code: 'unsaved at exit' },
  ]);
}

describe.concurrent('directories that cannot be written', () => {
  itMounted(`a read-only project: the tool says so, the run goes on${NEEDS}`, async () => {
    const done = await run(
      { args: WRITES, script: TWO_CALLS },
      mounted('mount --bind . . && mount -o remount,bind,ro . && cd "$PWD"'),
    );
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.toolResult(0)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/read-only|EROFS/),
    });
    await expectContinues(done);
  });

  itMounted(`a read-only home: one warning, the work is done${NEEDS}`, async () => {
    const done = await run(
      { args: WRITES, script: TWO_CALLS },
      mounted('mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME"'),
    );
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.project.read('a.txt')).toBe('written');
    expectLost(done, /read-only|EROFS/);
    expect(transcripts(done)).toEqual([]);
  });

  it('a file in place of the configuration directory: one warning, the work is done', async () => {
    const done = await run({
      home: { '.claude': 'not a directory' },
      format: 'text',
      args: WRITES,
      script: TWO_CALLS,
    });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'Done.\n', scriptProblems: [] });
    expect(warnings(done).filter((line) => line.includes('transcript'))).toHaveLength(2);
    expect(done.project.read('a.txt')).toBe('written');
  });

  it('a home that does not exist is made when it is needed', async () => {
    const home = { HOME: '/nonexistent/portcullis-test/home' };
    const done = await run({ env: home, args: ['--no-session-persistence'], script: ['ok'] });
    expect(done).toMatchObject({ exitCode: 0, stderr: '' });
    const other = await run({
      files: { 'x.txt': '' },
      env: { CLAUDE_CONFIG_DIR: path.join(done.project.root, 'not/there/yet') },
      script: ['ok'],
    });
    expect(other).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('no home at all is no reason to fail', async () => {
    const done = await run({
      format: 'text',
      env: { HOME: undefined },
      args: ['--no-session-persistence'],
      script: ['ok'],
    });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'ok\n' });
  });
});

describe.concurrent('a disk that is full', () => {
  itMounted(`keeps the run going, with one warning and the right exit code${NEEDS}`, async () => {
    const long = 'x'.repeat(40_000);
    const done = await run(
      {
        args: WRITES,
        script: [
          { blocks: [long, { tool: 'Write', input: { file_path: 'a.txt', content: 'written' } }] },
          { blocks: [long, { tool: 'Bash', input: { command: 'cat a.txt' } }] },
          'Done.',
        ],
      },
      mounted('mkdir -p "$HOME/.claude" && mount -t tmpfs -o size=64k none "$HOME/.claude"'),
    );
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.result).toMatchObject({ subtype: 'success', result: 'Done.' });
    expectLost(done, /no space|ENOSPC/);
    expect(done.project.read('a.txt')).toBe('written');
  });

  itMounted(`is told to a person in words${NEEDS}`, async () => {
    const done = await run(
      { format: 'text', prompt: 'x'.repeat(80_000), script: ['Done.'] },
      mounted('mkdir -p "$HOME/.claude" && mount -t tmpfs -o size=64k none "$HOME/.claude"'),
    );
    expect(done).toMatchObject({ exitCode: 0, stdout: 'Done.\n' });
    expect(warnings(done)).toHaveLength(2);
    expect(done.stderr).toMatch(/transcript cannot be written.*(no space|ENOSPC)/);
  });
});

describe.concurrent('a working directory that goes away', () => {
  it('is a clear error when it is gone before the start', async () => {
    const done = await run({ format: 'text' }, [
      'sh',
      '-c',
      'mkdir gone && cd gone && rmdir ../gone && exec "$@"',
      'sh',
      ...PROGRAM,
    ]);
    expect(done).toMatchObject({ exitCode: 1, stdout: '', requests: [] });
    expect(done.stderr).toContain('the working directory does not exist any more');
    expect(done.stderr).not.toContain('.js:');
  });

  it('is told to the model when it goes during the run, and the run ends in order', async () => {
    const done = await run({
      args: ['--allowedTools', 'Bash', 'Write'],
      script: [
        { tool: 'Bash', input: { command: 'echo here' } },
        (view) => {
          const directory =
            /^Primary working directory: (.*)$/m.exec(view.anyUser)?.[1] ?? 'missing';
          rmSync(directory, { recursive: true });
          return { tool: 'Bash', input: { command: 'echo still here' } };
        },
        { tool: 'Read', input: { file_path: 'a.txt' } },
        'The directory is gone.',
      ],
      files: { 'a.txt': 'x' },
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.toolResult(1)).toMatchObject({
      isError: true,
      text: expect.stringMatching(/director/),
    });
    expect(done.toolResult(2).isError).toBe(true);
    expect(transcripts(done)).toHaveLength(1);
  });
});

describe.concurrent('settings that cannot be read', () => {
  it('that are no JSON stop the start, with file and line', async () => {
    const done = await run({
      format: 'text',
      files: { '.claude/settings.json': '{\n  "permissions": {\n    "deny": ["Bash"],\n  }\n}\n' },
    });
    expect(done).toMatchObject({ exitCode: 3, stdout: '', requests: [] });
    expect(done.stderr).toContain('.claude/settings.json:4');
    expect(done.stderr).toContain('not valid JSON');
  });

  it('that are no JSON are told to a host in a frame', async () => {
    const done = await run({ home: { '.claude/settings.json': 'nonsense' } });
    expect(done.exitCode).toBe(3);
    expect(done.result).toMatchObject({
      subtype: 'error_during_execution',
      errors: [expect.stringContaining('settings.json:1')],
    });
  });

  it('that are a directory stop the start', async () => {
    const done = await run({
      format: 'text',
      files: { '.claude/settings.json': { directory: true } },
    });
    expect(done).toMatchObject({ exitCode: 3, stdout: '', requests: [] });
    expect(done.stderr).toContain('.claude/settings.json');
  });

  it('that are empty are none', async () => {
    const done = await run({
      format: 'text',
      files: { '.claude/settings.json': '' },
      home: { '.claude/settings.json': '\n' },
      script: ['ok'],
    });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'ok\n', stderr: '' });
  });
});

describe.concurrent('files with strange contents', () => {
  it('that are no UTF-8 are read with the bytes marked, and never damaged', async () => {
    const bytes = Buffer.concat([
      Buffer.from('caf'),
      Buffer.from([0xe9, 0xff]),
      Buffer.from('\nend\n'),
    ]);
    const done = await run({
      files: { 'latin1.txt': { base64: bytes.toString('base64') } },
      args: ['--allowedTools', 'Edit'],
      script: [
        { tool: 'Read', input: { file_path: 'latin1.txt' } },
        {
          tool: 'Edit',
          input: { file_path: 'latin1.txt', old_string: 'end', new_string: 'END' },
        },
        'ok',
      ],
    });
    expect(done.exitCode).toBe(0);
    expect(done.toolResult(0).text).toContain('end');
    const after = readFileSync(done.project.at('latin1.txt'));
    // Either the edit keeps the foreign bytes or it is refused; what may not happen is U+FFFD on disk.
    expect(after.includes(Buffer.from('\ufffd'))).toBe(false);
    await expectContinues(done);
  });

  it('instructions that are no UTF-8 or a directory do not stop the run', async () => {
    const odd = await run({
      files: { 'CLAUDE.md': { base64: Buffer.from([0x48, 0x69, 0xff, 0xfe]).toString('base64') } },
      script: ['ok'],
    });
    expect(odd.exitCode).toBe(0);
    const directory = await run({ files: { 'CLAUDE.md': { directory: true } }, script: ['ok'] });
    expect(directory.exitCode).toBe(0);
  });

  it('a transcript with damaged and torn lines can still be gone on with', async () => {
    const first = await run({ prompt: 'FIRST', script: ['one'] });
    const [file] = transcripts(first);
    const text = file?.text ?? '';
    writeFileSync(file?.path ?? '', `\u0000\u0000garbage\n${text}{"type":"user","uuid":"to`);
    const next = await run({ world: first.world, args: ['--continue'], script: ['two'] });
    expect(next.exitCode).toBe(0);
    expect(JSON.stringify(next.requests[0]?.body)).toContain('FIRST');
    const third = await run({ world: first.world, args: ['--continue'], script: ['three'] });
    expect(JSON.stringify(third.requests[0]?.body)).toContain('two');
  });
});
