import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { PROGRAM } from './program.js';
import { run } from './worlds.js';

const SETTINGS = {
  '.claude/settings.json': {
    json: { permissions: { allow: ['Bash(touch *)'], deny: ['Bash(git push *)'] } },
  },
};

const session = () =>
  run({
    home: SETTINGS,
    script: [
      { id: 'toolu_first', tool: 'Bash', input: { command: 'touch a' } },
      {
        id: 'toolu_second',
        tool: 'Bash',
        input: { command: `git push https://me:${'s'.repeat(20)}@host.example/r` },
      },
      'end',
    ] as never,
  });

function command(done: ScenarioRun, ...args: string[]) {
  const [program = '', ...first] = PROGRAM;
  return spawnSync(program, [...first, ...args], {
    cwd: done.project.directory,
    env: { PATH: process.env.PATH, HOME: done.project.home },
    encoding: 'utf8',
  });
}

function journalOf(done: ScenarioRun): string {
  const projects = path.join(done.project.home, '.portcullis/journal');
  const [project = ''] = readdirSync(projects);
  const [file = ''] = readdirSync(path.join(projects, project));
  return path.join(projects, project, file);
}

describe('the journal of a session', () => {
  it('holds every decision, for its owner alone, without secrets', async () => {
    const done = await session();
    const file = journalOf(done);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain('s'.repeat(20));
    const entries = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entries.map((entry) => [entry.receipt.tool, entry.receipt.decision])).toEqual([
      ['Bash', 'allow'],
      ['Bash', 'deny'],
    ]);
    expect(entries[0]).toMatchObject({ v: 1, n: 1, cwd: done.project.directory });
    expect(entries[0].receipt.command).toBe('touch a');
    expect(entries[1].prev).toBe(entries[0].hash);
  });

  it('goes on when the session does', async () => {
    const done = await session();
    await run({
      world: done.world,
      args: ['--continue'],
      script: [{ tool: 'Bash', input: { command: 'touch b' } }, 'end'],
    });
    expect(readFileSync(journalOf(done), 'utf8').trimEnd().split('\n')).toHaveLength(3);
    expect(command(done, 'why', '--verify')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('unchanged, 3 decisions'),
    });
  });

  it('is not kept where the session is not', async () => {
    const done = await run({
      args: ['--no-session-persistence'],
      script: [{ tool: 'Bash', input: { command: 'ls' } }, 'end'],
    });
    expect(() => journalOf(done)).toThrow();
  });

  it('that cannot be written does not hold calls up, and is told', async () => {
    const done = await run({
      home: { ...SETTINGS, '.portcullis/journal': 'in the way' },
      format: 'text',
      script: [
        { tool: 'Bash', input: { command: 'touch a' } },
        { tool: 'Bash', input: { command: 'touch b' } },
        'end',
      ],
    });
    expect(done.exitCode).toBe(0);
    expect(done.project.exists('b')).toBe(true);
    expect(done.stderr.match(/not written to the journal/g)).toHaveLength(1);
  });
});

describe('portcullis why', () => {
  it('prints the last decision: guards, rule with its place, time', async () => {
    const done = await session();
    const { status, stdout } = command(done, 'why');
    expect(status).toBe(0);
    expect(stdout).toContain('refused  Bash(git push');
    expect(stdout).toMatch(/deny rules +denies +[\d.]+ ms +Bash\(git push \*\)/);
    expect(stdout).toContain('.claude/settings.json:');
    expect(stdout).toContain('unchanged, 2 decisions');
  });

  it('prints one by its id or the beginning of it, as text or data', async () => {
    const done = await session();
    const first = JSON.parse(readFileSync(journalOf(done), 'utf8').split('\n')[0] ?? '');
    const id = first.receipt.toolUseId as string;
    expect(command(done, 'why', id).stdout).toContain('allowed  Bash(touch a)');
    const data = JSON.parse(command(done, 'why', id, '--json').stdout);
    expect(data).toMatchObject({ n: 1, receipt: { toolUseId: id }, chain: { ok: true } });
    expect(command(done, 'why', '--session', first.session.slice(0, 8)).status).toBe(0);
  });

  it('says what it cannot find', async () => {
    const done = await session();
    expect(command(done, 'why', 'toolu_none')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('toolu_none'),
    });
    expect(command(done, 'why', '--session', 'none').status).toBe(1);
    expect(command(done, 'why', '--jsn')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--json'),
    });
  });

  it('says that somebody changed the journal, and where', async () => {
    const done = await session();
    const file = journalOf(done);
    writeFileSync(file, readFileSync(file, 'utf8').replace('touch a', 'touch z'));
    expect(command(done, 'why').stdout).toContain('BROKEN at line 1');
    expect(command(done, 'why', '--verify').status).toBe(1);
  });
});
