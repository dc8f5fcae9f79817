import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProjectFiles } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { run } from '../e2e/worlds.js';

/** A session that runs these commands, and then goes back to before them. */
async function changedAndBack(given: {
  readonly commands: readonly string[];
  readonly files?: ProjectFiles;
  readonly home?: ProjectFiles;
  readonly git?: boolean;
}) {
  const { commands, files = {}, home = {}, git = false } = given;
  const done = await run({
    files,
    home,
    git,
    args: ['--allowedTools', 'Bash'],
    script: [...commands.map((command) => ({ tool: 'Bash', input: { command } })), 'done'],
  });
  expect({ code: done.exitCode, stderr: done.stderr }).toEqual({ code: 0, stderr: '' });
  const [program = '', ...first] = PROGRAM;
  const back = spawnSync(program, [...first, 'rewind', '1', '--json'], {
    cwd: done.project.directory,
    env: { PATH: process.env.PATH, HOME: done.project.home },
    encoding: 'utf8',
  });
  return { ...done, back: JSON.parse(back.stdout) as { kind: string; failed: unknown[] } };
}

describe('going back', () => {
  it('replaces links and never writes through them', async () => {
    const { project, back } = await changedAndBack({
      files: { 'a.txt': 'a\n', 'b.txt': 'b\n' },
      home: { 'notes.txt': 'mine\n' },
      commands: ['ln -sf ~/notes.txt a.txt', 'ln -f ~/notes.txt b.txt'],
    });
    expect(back).toMatchObject({ kind: 'done', failed: [] });
    expect(lstatSync(project.at('a.txt')).isFile()).toBe(true);
    expect([project.read('a.txt'), project.read('b.txt')]).toEqual(['a\n', 'b\n']);
    expect(readFileSync(path.join(project.home, 'notes.txt'), 'utf8')).toBe('mine\n');
  });

  it('leaves files outside alone that a command reached through a link', async () => {
    const { project, back } = await changedAndBack({
      home: { 'notes.txt': 'mine\n' },
      commands: ['ln -s ~/notes.txt a; echo x > a'],
    });
    expect(back).toMatchObject({ kind: 'done', failed: [] });
    expect(existsSync(project.at('a'))).toBe(false);
    // What the command did there is reported or not, and never touched.
    expect(readFileSync(path.join(project.home, 'notes.txt'), 'utf8')).toBe('x\n');
  });

  it('runs no filter, hook or monitor of the repository', async () => {
    const { project, back } = await changedAndBack({
      git: true,
      files: {
        '.gitattributes': '* filter=x diff=x\n',
        'a.txt': 'a\n',
        // On a command line these would be asked about.
        'set.sh': [
          "git config filter.x.clean 'touch PWNED_MARK;cat'",
          "git config filter.x.smudge 'touch PWNED_MARK;cat'",
          "git config diff.x.textconv 'touch PWNED_MARK;cat'",
          "git config core.fsmonitor 'touch PWNED_MARK'",
        ].join('\n'),
      },
      commands: ['sh set.sh && git config core.fsmonitor | grep PWNED_MARK', 'echo b > a.txt'],
    });
    expect(back).toMatchObject({ kind: 'done', failed: [] });
    expect(project.read('a.txt')).toBe('a\n');
    expect(project.exists('PWNED_MARK')).toBe(false);
  });

  it('takes names for what they are, whatever they look like', async () => {
    const long = 'x'.repeat(250);
    const { project, back } = await changedAndBack({
      files: { 'keep.txt': 'kept\n' },
      commands: [
        String.raw`touch -- '-rf' $'x\ny' '..x' ' ' '*' ${long}; mkdir -p '...'; echo z > '.../z'`,
      ],
    });
    expect(back).toMatchObject({ kind: 'done', failed: [] });
    expect(readdirSync(project.directory)).toEqual(['keep.txt']);
  });
});

describe('what is kept for going back', () => {
  it('lies outside of the project and is readable by nobody else', async () => {
    const { project } = await changedAndBack({
      files: { '.env': 'TOKEN=abc\n' },
      commands: ['echo TOKEN=def > .env'],
    });
    expect(readdirSync(project.directory)).toEqual(['.env']);
    const store = path.join(project.home, '.portcullis/checkpoints');
    const entries = readdirSync(store, { recursive: true, withFileTypes: true });
    const open = entries.filter((entry) => {
      const { mode } = lstatSync(path.join(entry.parentPath, entry.name));
      return (mode & 0o077) !== 0;
    });
    expect(entries.length).toBeGreaterThan(2);
    expect(open.map(({ name }) => name)).toEqual([]);
    expect(lstatSync(store).mode & 0o077).toBe(0);
  });
});
