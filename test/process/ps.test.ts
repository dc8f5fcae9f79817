import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startTimeOf } from '../../src/platform/process/process-tree.js';
import { type CommandRun, runPortcullis } from '../support/run-command.js';
import { isGone, shell, temporaryDirectory, testSupervisor, until } from './helpers.js';

afterEach(() => vi.unstubAllEnvs());

/** Larger than any pid that Linux gives out. */
const NOBODY = 2 ** 30;
const MARKER = 'abcdef012345/7/';

function stateHere(): string {
  const state = temporaryDirectory();
  vi.stubEnv('PORTCULLIS_HOME', state);
  return state;
}

function ps(...argv: string[]): Promise<CommandRun> {
  return runPortcullis('ps', ...argv);
}

/** A process in a group of its own that does not go politely. */
async function stubborn(env: Record<string, string>, script = ''): Promise<number> {
  const child = spawn(
    '/bin/sh',
    ['-c', `trap "" TERM; ${script} echo; while :; do sleep 1; done`],
    {
      detached: true,
      env: { PATH: '/usr/bin:/bin', ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const { pid = 0 } = child;
  onTestFinished(() => {
    if (!isGone(pid)) process.kill(-pid, 'SIGKILL');
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return pid;
}

/** What a program that is gone would have left on disk. */
function leaveBehind(state: string, children: readonly Record<string, unknown>[]): void {
  mkdirSync(path.join(state, 'children'), { recursive: true });
  const owner = { pid: NOBODY, startTime: '1', sessionId: 'gone-session' };
  writeFileSync(
    path.join(state, 'children', `${NOBODY}.abcdef012345.json`),
    JSON.stringify({ owner, children }),
  );
}

describe.runIf(process.platform === 'linux')('portcullis ps', () => {
  it('lists the children of a program that runs, and leaves them alone', async () => {
    const state = stateHere();
    expect((await ps()).text).toBe('No child processes run.\n');
    const supervisor = testSupervisor({ stateDirectory: state });
    const child = supervisor.start(
      shell('sleep 100', { label: 'mcp files\u001b[2J', longLived: true, kind: 'mcp' }),
    );
    const [row] = JSON.parse((await ps('--json')).text);
    expect(row).toMatchObject({
      label: 'mcp files\u001b[2J',
      kind: 'mcp',
      pid: child.pid,
      group: child.pid,
      ownerPid: process.pid,
      command: '/bin/sh -c sleep 100',
      orphan: false,
    });
    const { text } = await ps();
    expect(text).toContain('mcp files\\u001b[2J');
    expect(text).not.toContain('ORPHAN');
    expect((await ps('--reap')).text).toBe('No orphans.\n');
    expect(isGone(child.pid ?? 0)).toBe(false);
  });

  it('marks orphans and ends them for good, and who left their group too', async () => {
    const state = stateHere();
    const pids = temporaryDirectory();
    const escaped = 'setsid sh -c \'trap "" TERM; echo >"$P/$$"; while :; do sleep 1; done\' &';
    const pid = await stubborn({ PORTCULLIS_CHILD_OF: MARKER, P: pids }, escaped);
    await until(() => readdirSync(pids).length === 1);
    leaveBehind(state, [
      { pid, startTime: startTimeOf(pid), label: 'mcp x', since: Date.now(), marker: MARKER },
    ]);
    const { text } = await ps();
    expect(text).toContain('mcp ORPHAN');
    expect(text).toContain('portcullis ps --reap');
    const reaped = await ps('--reap');
    expect(reaped).toMatchObject({ code: 0, text: `${pid} mcp x: ended\n` });
    expect([pid, ...readdirSync(pids).map(Number)].filter((one) => !isGone(one))).toEqual([]);
    expect(readdirSync(path.join(state, 'children'))).toEqual([]);
  });

  it('never touches a process that has been given the number of an orphan since', async () => {
    const state = stateHere();
    const pid = await stubborn({});
    leaveBehind(state, [
      { pid, startTime: '12345', label: 'mcp x', since: 1, marker: MARKER },
      // A forged marker would be found in every environment.
      { pid: NOBODY - 1, startTime: '1', label: 'mcp y', since: 1, marker: '/' },
    ]);
    expect((await ps('--reap')).text).toBe('No orphans.\n');
    expect(isGone(pid)).toBe(false);
  });

  it('leaves a group alone of which nothing proves that it was ours', async () => {
    const state = stateHere();
    // Its leader ends at once, what it started stays in the group.
    const leader = spawn('/bin/sh', ['-c', 'sleep 100 & echo $!'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let member = '';
    leader.stdout.on('data', (chunk) => {
      member += chunk;
    });
    await new Promise((resolve) => leader.once('exit', resolve));
    await until(() => member !== '');
    onTestFinished(() => void process.kill(Number(member), 'SIGKILL'));
    leaveBehind(state, [{ pid: leader.pid, startTime: '1', label: 'mcp x', since: 1 }]);
    const reaped = await ps('--reap', '--json');
    expect(reaped.code).toBe(1);
    expect(JSON.parse(reaped.text)).toMatchObject([{ outcome: 'not-provably-ours' }]);
    expect(isGone(Number(member))).toBe(false);
  });

  it('takes no other words', async () => {
    await expect(ps('all')).rejects.toThrow('too many arguments');
    await expect(ps('--all')).rejects.toThrow("unknown option '--all'");
  });
});
