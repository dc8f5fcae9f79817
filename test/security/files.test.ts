import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TempProject } from '../../src/testing/temp-project.js';
import { attempt, MARK } from './attempt.js';

const read = (file_path: string) => ({ tool: 'Read', input: { file_path } });
const write = (file_path: string) => ({ tool: 'Write', input: { file_path, content: 'x' } });

/** A folder beside the project, outside of it. */
function outside(project: TempProject, name = 'outside'): string {
  const directory = path.join(project.root, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'secret.txt'), 'OUTSIDE CONTENT');
  return directory;
}

describe('where the project ends', () => {
  it('a folder whose name begins like that of the project is another one', async () => {
    const done = await attempt({
      prepare: (project) => outside(project, 'project-evil'),
      calls: [read('../project-evil/secret.txt'), 'cat ../project-evil/secret.txt'],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(JSON.stringify(done.results)).not.toContain('OUTSIDE CONTENT');
  });

  it('a link inside leads to where it leads', async () => {
    const done = await attempt({
      prepare: (project) => symlinkSync(outside(project), project.at('link')),
      calls: [read('link/secret.txt'), 'cat link/secret.txt'],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(JSON.stringify(done.results)).not.toContain('OUTSIDE CONTENT');
  });

  it('a new file below a link is outside too', async () => {
    const done = await attempt({
      prepare: (project) => symlinkSync(outside(project), project.at('escape')),
      config: { permissionMode: 'acceptEdits' },
      calls: [write('escape/new.txt'), 'touch escape/new.txt'],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(done.project.exists('../outside/new.txt')).toBe(false);
  });

  it('a link to nothing is judged by where it would write', async () => {
    const done = await attempt({
      prepare: (project) => symlinkSync(`${outside(project)}/new.txt`, project.at('new.txt')),
      config: { permissionMode: 'acceptEdits' },
      calls: [write('new.txt'), 'echo x > new.txt'],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(done.project.exists('../outside/new.txt')).toBe(false);
  });

  it('a sign in front of a path does not change where it is', async () => {
    const done = await attempt({ calls: [read('@/etc/passwd'), read('/etc/passwd')] });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(JSON.stringify(done.results)).not.toContain('root:');
  });

  it('steps upwards are counted', async () => {
    const done = await attempt({
      home: { '.bashrc': 'mine' },
      config: { permissionMode: 'acceptEdits' },
      calls: [write('../home/.bashrc'), write('a/../../home/.bashrc')],
    });
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
    expect(done.project.read('../home/.bashrc')).toBe('mine');
  });

  it('a link that a command planted is followed by no tool', async () => {
    const done = await attempt({
      home: { '.ssh/known_hosts': '' },
      prepare: (project) => symlinkSync(`${project.home}/.ssh`, project.at('keys')),
      config: { permissionMode: 'acceptEdits' },
      calls: [write('keys/authorized_keys')],
    });
    expect(done.results[0]?.ran).toBe(false);
    expect(done.project.exists('../home/.ssh/authorized_keys')).toBe(false);
  });

  it('settings are not written through a link', async () => {
    const done = await attempt({
      prepare: (project) => symlinkSync(outside(project), project.at('.claude')),
      config: { permissionMode: 'acceptEdits' },
      calls: [write('.claude/settings.json')],
    });
    expect(done.results[0]?.ran).toBe(false);
    expect(done.project.exists('../outside/settings.json')).toBe(false);
  });
});

describe('what is no ordinary file', () => {
  it('devices and pipes are not read', async () => {
    const done = await attempt({
      prepare(project) {
        symlinkSync('/dev/zero', project.at('CLAUDE.md'));
        symlinkSync('/dev/stdin', project.at('a.png'));
        execFileSync('mkfifo', [project.at('b')]);
      },
      settings: { permissions: { allow: ['Read'] } },
      calls: [read('a.png'), read('b')],
    });
    expect(done.refusedStart).toBeUndefined();
    expect(done.results.map(({ ran }) => ran)).toEqual([false, false]);
  });
});

describe('text of the model in programs that tools start', () => {
  it('a pattern is no option', async () => {
    const evil = { text: `#!/bin/sh\ntouch ${MARK}\n`, mode: 0o755 };
    const done = await attempt({
      files: { 'a.txt': 'hello\n', 'evil.sh': evil },
      calls: [
        { tool: 'Grep', input: { pattern: '--pre=./evil.sh' } },
        { tool: 'Grep', input: { pattern: 'hello', glob: '--pre=./evil.sh' } },
        { tool: 'Glob', input: { pattern: `-Xtouch ${MARK}` } },
      ],
    });
    expect(done.marked).toBe(false);
  });

  it('arguments never pass through a shell', async () => {
    const evil = `x; touch ${MARK}; \`touch ${MARK}\` $(touch ${MARK})`;
    const done = await attempt({
      files: { 'a.txt': 'hello\n' },
      config: { permissionMode: 'acceptEdits' },
      calls: [
        { tool: 'Grep', input: { pattern: evil, path: evil } },
        { tool: 'Glob', input: { pattern: evil, path: evil } },
        { tool: 'Read', input: { file_path: evil } },
        { tool: 'Write', input: { file_path: evil, content: evil } },
      ],
    });
    expect(done.results).toHaveLength(4);
    expect(done.marked).toBe(false);
  });
});

describe('names of the place itself', () => {
  it('the identity in the configuration of the repository is data', async () => {
    const done = await attempt({
      git: true,
      prepare: (project) =>
        writeFileSync(
          project.at('.git/config'),
          `[user]\n\temail = "a@b.c\\"; touch ${MARK}; \\""\n`,
        ),
      calls: ['ls'],
    });
    expect(done.results[0]?.ran).toBe(true);
    expect(done.marked).toBe(false);
  });

  it('the name of the folder is data', async () => {
    const name = `x\`touch ${MARK}\`;touch ${MARK}`;
    const done = await attempt({
      prepare: (project) => mkdirSync(path.join(project.directory, name)),
      calls: [`cd '${name}' && pwd`, 'ls'],
    });
    expect(done.results.every(({ ran }) => ran)).toBe(true);
    expect(done.marked).toBe(false);
    expect(done.project.exists(`${name}/${MARK}`)).toBe(false);
  });
});
