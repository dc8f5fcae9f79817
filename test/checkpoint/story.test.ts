import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScenarioRun } from '../../src/testing/scenario.js';
import { PROGRAM } from '../e2e/program.js';
import { runBuilt as run } from '../e2e/worlds.js';

const SERVER = path.resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
);

/** Every path with its kind, mode and bytes. */
function picture(directory: string): Readonly<Record<string, string>> {
  const seen: Record<string, string> = {};
  const walk = (below: string): void => {
    for (const name of readdirSync(path.join(directory, below)).sort()) {
      if (name === '.git') continue;
      const at = path.join(below, name);
      const full = path.join(directory, at);
      const stat = lstatSync(full);
      const mode = (stat.mode & 0o777).toString(8);
      if (stat.isSymbolicLink()) seen[at] = `link ${readlinkSync(full)}`;
      else if (stat.isDirectory()) {
        seen[at] = `directory ${mode}`;
        walk(at);
      } else seen[at] = `file ${mode} ${readFileSync(full).toString('base64')}`;
    }
  };
  walk('.');
  return seen;
}

const bash = (command: string, more: Readonly<Record<string, unknown>> = {}) => ({
  tool: 'Bash',
  input: { command, ...more },
});

function command(done: ScenarioRun, ...args: readonly string[]) {
  const [program = '', ...first] = PROGRAM;
  const ended = spawnSync(program, [...first, ...args], {
    cwd: done.project.directory,
    env: { PATH: process.env.PATH, HOME: done.project.home },
    encoding: 'utf8',
  });
  return { code: ended.status, stderr: ended.stderr, stdout: ended.stdout };
}

const FILES = {
  'edited.txt': 'one\ntwo\n',
  'appended.txt': 'a\n',
  'deleted.txt': 'gone\n',
  'moved.txt': 'moves\n',
  'sed.txt': 'red\n',
  'python.txt': 'before\n',
  'checked-out.txt': 'committed\n',
  'mine.txt': 'mine\n',
  'script.sh': '#!/bin/sh\n',
  'empty/keep/x': 'x',
  link: { symlink: 'edited.txt' },
} as const;

describe('undo of what a session did, whoever did it', () => {
  it('brings every byte and mode back, and keeps what the person wrote in between', async () => {
    let before: ReturnType<typeof picture> = {};
    let directory = '';
    const done = await run({
      git: true,
      files: FILES,
      home: { '.claude.json': { json: {} } },
      args: [
        '--allowedTools',
        'Write,Edit,Bash,mcp__files',
        '--mcp-config',
        JSON.stringify({
          mcpServers: { files: { command: process.execPath, args: [SERVER, '.'] } },
        }),
      ],
      prompt: 'change everything',
      stdin: '',
      script: [
        bash('pwd'),
        { tool: 'Write', input: { file_path: 'new.txt', content: 'new\n' } },
        { blocks: [{ tool: 'Read', input: { file_path: 'edited.txt' } }] },
        { tool: 'Edit', input: { file_path: 'edited.txt', old_string: 'two', new_string: '2' } },
        bash(
          'echo more >> appended.txt; rm deleted.txt; mv moved.txt elsewhere.txt; mkdir -p a/b/c; echo x > a/b/y',
        ),
        bash(
          `python3 -c "open('python.txt','w').write('after'); import os; os.chmod('script.sh', 0o755)"`,
        ),
        bash(
          "sed -i s/red/blue/ sed.txt; ln -sf python.txt link; rm -r empty; printf '\\000\\001\\377' > binary",
        ),
        bash('echo dirty > checked-out.txt'),
        () => {
          writeFileSync(path.join(directory, 'mine.txt'), 'mine, and edited by me\n');
          return bash('git checkout -q checked-out.txt');
        },
        bash('sleep 0.3; echo late > late.txt', { run_in_background: true }),
        bash('sleep 0.6; true'),
        {
          tool: 'mcp__files__write_file',
          input: { path: 'served.txt', content: 'by a server\n' },
        },
        'done',
      ],
      onStart({ pid }) {
        directory = readlinkSync(`/proc/${pid}/cwd`);
        chmodSync(path.join(directory, 'script.sh'), 0o640);
        before = picture(directory);
      },
    });
    expect({ code: done.exitCode, stderr: done.stderr }).toEqual({ code: 0, stderr: '' });

    const preview = JSON.parse(command(done, 'rewind', '1', '--dry-run', '--json').stdout);
    const paths = (items: readonly { path: string }[]) => items.map((item) => item.path);
    expect(paths(preview.restored)).toEqual(
      expect.arrayContaining([
        ...['new.txt', 'edited.txt', 'appended.txt', 'deleted.txt', 'moved.txt', 'elsewhere.txt'],
        ...['python.txt', 'script.sh', 'sed.txt', 'link', 'empty/keep/x', 'binary', 'a/b/y'],
        ...['late.txt', 'served.txt'],
      ]),
    );
    expect(paths(preview.restored)).not.toContain('mine.txt');

    const changed = picture(directory);
    const back = command(done, 'rewind', '1');
    expect({ code: back.code, stderr: back.stderr }).toEqual({ code: 0, stderr: '' });
    const mine = picture(directory)['mine.txt'];
    expect(Buffer.from((mine ?? '').split(' ')[2] ?? '', 'base64').toString()).toBe(
      'mine, and edited by me\n',
    );
    expect(picture(directory)).toEqual({ ...before, 'mine.txt': mine });

    expect(command(done, 'rewind', 'redo').code).toBe(0);
    expect(picture(directory)).toEqual(changed);

    const { session, points } = JSON.parse(command(done, 'rewind', '--json').stdout);
    const [{ messageId }] = points;
    const flags = ['--resume', session, '--rewind-files', messageId];
    expect(command(done, ...flags)).toMatchObject({ code: 0, stderr: '' });
    expect(picture(directory)).toEqual({ ...before, 'mine.txt': mine });

    const changes = JSON.parse(command(done, 'changes', '--json').stdout).changes as {
      path: string;
      authors: { kind: string; tool?: string }[];
    }[];
    const authorsOf = (wanted: string) =>
      changes
        .find(({ path: one }) => one === wanted)
        ?.authors.map(({ kind, tool }) => tool ?? kind);
    expect(authorsOf('mine.txt')).toEqual(['user']);
    expect(authorsOf('served.txt')).toEqual(['mcp__files__write_file']);
    expect(authorsOf('new.txt')).toEqual(['Write']);
    expect(authorsOf('late.txt')).toContain('Bash');
  }, 300_000);
});
