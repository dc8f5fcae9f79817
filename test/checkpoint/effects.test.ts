import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { PROGRAM } from '../e2e/program.js';
import { run } from '../e2e/worlds.js';

/** A program whose name stands for one that only reads. */
let bin = '';
beforeAll(() => {
  bin = mkdtempSync(path.join(tmpdir(), 'portcullis-bin-'));
  const file = path.join(bin, 'ls');
  writeFileSync(file, '#!/bin/sh\necho written > surprise.txt; echo listing\n');
  chmodSync(file, 0o755);
});
afterAll(() => rmSync(bin, { recursive: true, force: true }));

const play = (settings: unknown) =>
  run({
    files: { 'a.txt': 'a\n' },
    home: { '.claude/settings.json': { json: settings } },
    script: [
      { tool: 'Bash', input: { command: 'ls' } },
      { tool: 'Bash', input: { command: 'sleep 0.5' } },
      'done',
    ],
    args: ['--allowedTools', 'Bash(sleep *)'],
    env: { PATH: `${bin}:${process.env.PATH}` },
  });

/** The receipt of the first call, as the journal has it now. */
function whyOf(done: ScenarioRun): unknown {
  const [program = '', ...first] = PROGRAM;
  const id = /"tool_use_id":"([^"]+)"/.exec(done.stdout)?.[1] ?? '';
  const ended = spawnSync(program, [...first, 'why', id, '--json'], {
    cwd: done.project.directory,
    env: { PATH: process.env.PATH, HOME: done.project.home },
    encoding: 'utf8',
  });
  return JSON.parse(ended.stdout);
}

describe('a command that was judged to change nothing and changed something', () => {
  it('is reported to the person, to the model and in the receipt', async () => {
    const done = await play({});
    expect(done.stdout).toContain('was judged to be read-only, but has changed surprise.txt');
    expect(JSON.stringify(done.requests.at(-1)?.body)).toContain('has changed surprise.txt');
    expect(whyOf(done)).toMatchObject({
      receipt: { effects: { changed: ['surprise.txt'], violated: 'judged to be read-only' } },
    });
    expect(readFileSync(path.join(done.project.directory, 'surprise.txt'), 'utf8')).toBe(
      'written\n',
    );
  });

  it('is undone before the model goes on, where that is set', async () => {
    const done = await play({ portcullis: { effects: { onViolation: 'rollback' } } });
    expect(done.stdout).toContain('All of it has been undone.');
    expect(JSON.stringify(done.requests[1]?.body)).toContain('All of it has been undone.');
    expect(existsSync(path.join(done.project.directory, 'surprise.txt'))).toBe(false);
  });
});
