import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openTerminal, type Terminal } from '../e2e/terminal.js';
import { describeWith } from '../support/programs.js';
import { type RunningConsole, startConsole } from './console.js';

const open: (Terminal | RunningConsole)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function terminal(options: Parameters<typeof openTerminal>[0]): Promise<Terminal> {
  const opened = await openTerminal(options);
  open.push(opened);
  return opened;
}

async function consoleOf({ project }: Terminal): Promise<RunningConsole> {
  const started = await startConsole(project.home);
  open.push(started);
  return started;
}

const TOUCH = { tool: 'Bash', input: { command: 'touch made.txt', description: 'make' } };

describeWith(['tmux'], 'a session in a terminal and the console', () => {
  it('answers from the console while the terminal asks, bound to what was shown, with the person in the receipt', async () => {
    const tty = await terminal({ script: [TOUCH, 'Made it.'] });
    const page = await consoleOf(tty);
    await tty.shows('> ');
    tty.line('make a file');
    const { inbox } = await page.until(({ inbox: rows }) => rows.length === 1);
    const [row] = inbox;
    expect(row).toMatchObject({
      question: { kind: 'permission', agent: { path: 'main' } },
      tooLong: false,
    });
    const { key, id: question, hash } = row ?? {};
    const allow = { behavior: 'allow' };
    const wrong = await page.post('/api/answer', { key, question, hash: 'x', answer: allow });
    expect(wrong.status).toBe(400);
    expect(tty.project.exists('made.txt')).toBe(false);
    const right = await page.post('/api/answer', { key, question, hash, answer: allow });
    expect(await right.json()).toEqual({ outcome: 'accepted' });
    await tty.shows('Made it.');
    expect(tty.project.exists('made.txt')).toBe(true);
    const late = await page.post('/api/answer', { key, question, hash, answer: allow });
    expect(await late.json()).toEqual({ outcome: 'closed' });
    const cwd = encodeURIComponent(tty.project.directory);
    const receipts = (await (await page.get(`/api/receipts?cwd=${cwd}`)).json()) as {
      rows: { receipt: { decidedBy: string } }[];
      chains: { chain: { ok: boolean } }[];
    };
    expect(receipts.rows[0]?.receipt.decidedBy).toMatch(/^console \(\S+\)$/);
    expect(receipts.chains).toMatchObject([{ chain: { ok: true } }]);
  });

  it('is a socket and a file for this user alone, gone with the session, and none where that is turned off', async () => {
    const tty = await terminal({ script: ['Hello.'] });
    const page = await consoleOf(tty);
    await page.until(({ sessions }) => sessions[0]?.state === 'idle');
    const directory = path.join(tty.project.home, '.portcullis/live');
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const [file = ''] = readdirSync(directory).filter((name) => name.endsWith('.json'));
    expect(statSync(path.join(directory, file)).mode & 0o777).toBe(0o600);
    const live = JSON.parse(readFileSync(path.join(directory, file), 'utf8'));
    expect(statSync(live.socket).mode & 0o777).toBe(0o600);
    tty.line('/exit');
    await page.until(({ sessions }) => sessions.length === 0);
    expect(readdirSync(directory)).toEqual([]);
    const off = await terminal({ script: ['Hi.'], env: { PORTCULLIS_SESSION_SOCKET: 'off' } });
    await off.shows('> ');
    off.line('hello');
    await off.shows('Hi.');
    expect(() => readdirSync(path.join(off.project.home, '.portcullis/live'))).toThrow();
  });

  it("refuses a wrong token, a process that lies about itself, and an agent's shell", async () => {
    const steal = [
      "const fs = require('fs'), net = require('net'), d = process.env.HOME + '/.portcullis/live/';",
      "const l = JSON.parse(fs.readFileSync(d + fs.readdirSync(d).find((n) => n.endsWith('.json'))));",
      'const s = net.connect(l.socket);',
      "s.write(JSON.stringify({ token: l.token, pid: process.pid }) + '\\n');",
      "s.on('data', (b) => { const m = JSON.parse(b);",
      "if (m.prove) { fs.openSync(m.prove); s.write('{}\\n'); return; }",
      "fs.writeFileSync('said.json', JSON.stringify(m)); process.exit(); });",
    ].join('\n');
    const tty = await terminal({
      script: [{ tool: 'Bash', input: { command: 'node steal.cjs', description: 'x' } }, 'Done.'],
      files: { 'steal.cjs': steal },
      args: ['--dangerously-skip-permissions'],
      env: { IS_SANDBOX: '1' },
    });
    const page = await consoleOf(tty);
    await page.until(({ sessions }) => sessions[0]?.state === 'idle');
    const directory = path.join(tty.project.home, '.portcullis/live');
    const [file = ''] = readdirSync(directory).filter((name) => name.endsWith('.json'));
    const live = JSON.parse(readFileSync(path.join(directory, file), 'utf8'));
    expect(await hello(live.socket, { token: 'x', pid: process.pid })).toMatchObject({
      refused: 'the token is not that of the session',
    });
    expect(await hello(live.socket, { token: live.token, pid: 1 })).toMatchObject({
      refused: 'the process is not the one that it names',
    });
    tty.line('go');
    await tty.shows('Done.');
    expect(JSON.parse(tty.project.read('said.json'))).toMatchObject({
      refused: 'a process of an agent cannot answer for people',
    });
  });
});

/** The last message of a session to a client that proves nothing. */
function hello(socket: string, message: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let last: unknown;
    const client = connect(socket);
    client.once('error', reject);
    client.write(`${JSON.stringify(message)}\n`);
    client.on('data', (data) => {
      last = JSON.parse(String(data));
      client.write('{}\n');
    });
    client.once('close', () => resolve(last));
  });
}

describe('portcullis console', () => {
  it('refuses an address beyond this machine where nobody signs in', () => {
    const [command = '', ...first] = [process.execPath, path.resolve('bin/portcullis')];
    const run = spawnSync(command, [...first, 'console', '--host', '0.0.0.0'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    });
    expect(run.status).not.toBe(0);
    expect(run.stderr).toContain('--password-file');
  });
});
