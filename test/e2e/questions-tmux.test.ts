import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { ProjectFiles } from '../../src/testing/temp-project.js';
import { describeWith } from '../support/programs.js';
import { PROGRAM } from './program.js';
import { openTerminal, type Terminal } from './terminal.js';
import { run } from './worlds.js';

const open: Terminal[] = [];
afterEach(async () => {
  for (const terminal of open.splice(0)) await terminal.close();
});

async function terminal(options: Parameters<typeof openTerminal>[0]): Promise<Terminal> {
  const opened = await openTerminal(options);
  open.push(opened);
  return opened;
}

const SLEEP = { tool: 'Bash', input: { command: 'sleep 2' } } as const;
const TOUCH = { tool: 'Bash', input: { command: 'touch made' } } as const;
const SLEEPS = ['--allowedTools', 'Bash(sleep *)'];

describeWith(['tmux'], 'only what is typed after a question answers it', () => {
  it.each(['y', 'a', 'p'])('a half-typed %s is a draft, and Enter alone is a no', async (key) => {
    const shell = await terminal({ args: SLEEPS, script: [SLEEP, TOUCH, 'After it.'] });
    await shell.shows('/help lists commands');
    shell.line('make it');
    await shell.shows('→ Bash sleep 2');
    shell.press(key);
    await shell.shows('Answer [y');
    shell.press('Enter');
    // The draft is back at the prompt.
    await shell.shows(new RegExp(`Interrupted[^]*\\n> ${key}\\s*$`));
    expect(shell.project.exists('made')).toBe(false);
    expect(shell.project.exists('.claude/settings.local.json')).toBe(false);
  });

  it('typing that goes on while the question comes is no answer either', async () => {
    const shell = await terminal({ args: SLEEPS, script: [SLEEP, TOUCH, 'After it.'] });
    await shell.shows('/help lists commands');
    shell.line('make it');
    await shell.shows('→ Bash sleep 2');
    const stop = Date.now() + 3_500;
    while (Date.now() < stop) {
      shell.press('m');
      await pause(100);
    }
    shell.press('y', 'Enter');
    await shell.shows('Answer [y');
    expect(shell.project.exists('made')).toBe(false);
    shell.line('n');
    await shell.shows('Interrupted');
    expect(shell.project.exists('made')).toBe(false);
  });

  const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] };
  const startQuestions: readonly [string, ProjectFiles, string][] = [
    ['trust', { '.claude/settings.json': { json: { hooks } } }, 'Trust this folder?'],
    ['an include', { 'CLAUDE.md': 'See @/etc/hostname' }, 'Include them?'],
  ];
  it.each(startQuestions)('typed before the start, for %s', async (_, files, question) => {
    const shell = await terminal({
      files,
      script: [],
    });
    // The program has not read anything yet.
    shell.line('y');
    shell.press('y');
    await shell.shows(question);
    await shell.shows('Answer [');
    shell.press('Enter');
    const seen = await shell.shows(/Not trusted|Not used|Not included/);
    expect(seen).not.toMatch(/Trusted until|Approved/);
  });

  it('typed ahead of the questions of /rewind', async () => {
    const DELETE = { tool: 'Bash', input: { command: 'rm kept.txt' } };
    const shell = await terminal({
      files: { 'kept.txt': 'kept\n' },
      args: ['--allowedTools', 'Bash'],
      script: [DELETE, SLEEP, 'Deleted.'],
    });
    await shell.shows('/help lists commands');
    shell.line('delete it');
    await shell.shows('→ Bash sleep 2');
    shell.line('/rewind 1');
    shell.line('1');
    await shell.shows('Answer [1-');
    shell.press('C-c');
    // The line typed ahead is part of the conversation.
    await shell.shows(/Choose[\s\S]*\n>\s*$/);
    expect(JSON.stringify(shell.server.requests[2]?.body)).toContain('"text":"1"');
    expect(shell.project.exists('kept.txt')).toBe(false);
  });
});

describeWith(['tmux'], 'Ctrl+C at the prompt', () => {
  it('clears what is typed first, and leaves when pressed again', async () => {
    const ended = { matcher: '', hooks: [{ type: 'command', command: 'cat > ended.json' }] };
    const shell = await terminal({
      script: [],
      args: ['--settings', JSON.stringify({ hooks: { SessionEnd: [ended] } })],
    });
    await shell.shows('/help lists commands');
    shell.press('h', 'a', 'l', 'f');
    await shell.shows('> half');
    shell.press('C-c');
    await shell.shows(/Press Ctrl\+C again to quit\.\n>\s*$/);
    shell.press('C-c');
    expect(await shell.exitCode()).toBe(130);
    expect(JSON.parse(shell.project.read('ended.json'))).toMatchObject({
      reason: 'prompt_input_exit',
    });
    expect(shell.server.requests).toEqual([]);
  });
});

describe('a pipe', () => {
  it.each(['y', 'a', 'p'])('does not answer a permission question with %s', async (key) => {
    const done = await run({ script: ['unused'], args: ['--version'] });
    const [node = '', program = ''] = PROGRAM;
    const script = path.join(done.project.root, 'script.json');
    done.project.write('../script.json', JSON.stringify([TOUCH, 'After it.']));
    const { stdout, status } = spawnSync(node, [program, '--script', script], {
      cwd: done.project.directory,
      env: { PATH: process.env.PATH, HOME: done.project.home },
      input: `make it\n${key}\n`,
      encoding: 'utf8',
    });
    expect(stdout).toContain('After it.');
    expect(status).toBe(0);
    expect(done.project.exists('made')).toBe(false);
    expect(existsSync(path.join(done.project.directory, '.claude'))).toBe(false);
  });
});
