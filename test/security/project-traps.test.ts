import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { gateRig } from '../support/gate-rig.js';

let rust: TempProject;
let plain: TempProject;
beforeAll(() => {
  const choice = '[toolchain]\npath = "/tmp/evil"\n';
  rust = makeTempProject({
    files: { 'rust-toolchain.toml': choice, 'a/b/x': '' },
  });
  plain = makeTempProject({ files: { a: 'x\n', 'b/rust-toolchain': 'nightly\n' } });
});
afterAll(() => {
  rust.remove();
  plain.remove();
});

describe('a project that chooses the compiler', () => {
  const judged = (project: TempProject, command: string) =>
    gateRig({ cwd: project.directory, home: project.home }).bash(command);

  it.each(['cargo --version', 'rustc -V', 'cd a/b && cargo -V', 'ls; rustc --version'])(
    'is not let start it by %s',
    async (command) => {
      expect(await judged(rust, command)).toBe('asks');
    },
  );

  it('is not met by a look elsewhere', async () => {
    expect(await judged(plain, 'cargo --version')).toBe('runs');
    expect(await judged(plain, 'cd b && cargo --version')).toBe('asks');
    expect(await judged(rust, 'node --version')).toBe('runs');
  });
});

describe('a module that asks for another version of go', () => {
  const judged = async (file: string, text: string, command = 'go version') => {
    const project = makeTempProject({ files: { [file]: text, 'a/b/x': '' } });
    try {
      const rig = gateRig({ cwd: project.directory, home: project.home });
      return await rig.bash(command);
    } finally {
      project.remove();
    }
  };

  it.each([
    ['go.mod', 'module x\n\ngo 1.99\n'],
    ['go.mod', 'module x\ntoolchain go1.20-evil\n'],
    ['go.mod', 'module x\r\n\tgo\t1.21.0\r\n'],
    ['go.work', 'go 1.24.1\n'],
    ['go.mod', 'go 2\n'],
  ])('is not let download and start it: %s %j', async (file, text) => {
    expect(await judged(file, text)).toBe('asks');
    expect(await judged(file, text, 'cd a/b && go version')).toBe('asks');
  });

  it('is not met where the module is older than such requests', async () => {
    expect(await judged('go.mod', 'module x\n\ngo 1.20\n')).toBe('runs');
    expect(await judged('readme', 'go 1.99\n')).toBe('runs');
  });
});

describe('unasked', () => {
  const judged = (command: string) =>
    gateRig({ cwd: plain.directory, home: plain.home }).bash(command);

  it.each([
    'git log --show-signature',
    'git show --show-signature HEAD',
    'git log --format=%GG',
    "git log --pretty='format:%h %G?'",
    "git for-each-ref --format='%(signature:signer)'",
  ])('git does not start gpg: %s', async (command) => {
    expect(await judged(command)).toBe('asks');
  });

  it.each(['ps -axe', 'ps -auxe', 'ps -uxe', 'ps -e -axe', 'ps -u node xe', 'ps -ax -C node'])(
    'ps shows no environments: %s',
    async (command) => {
      expect(await judged(command)).toBe('asks');
    },
  );

  it.each([
    'ps aux',
    'ps -ef',
    'ps -eo pid,etime,cmd',
    'ps -aux',
    'ps -p 1 -o etime',
    'git log --format=%h',
  ])('both still run: %s', async (command) => {
    expect(await judged(command)).toBe('runs');
  });

  it.each([
    "sed 'v;e touch P' a",
    "sed '$v;w P' a",
    "sed '1v 4.2;e touch P' a",
    "sed ':\u3000i\\z;e touch P' a",
    "sed ':\u00a0a;e touch P' a",
    "sed 'b\u2003x;e touch P' a",
    "sed 'p\u00a0;e touch P' a",
    "sed 's/a/b/\u00a0;e touch P' a",
    "sed 'y/a/b/x;e touch P' a",
  ])('sed follows no script that it may read otherwise: %s', async (command) => {
    expect(await judged(command)).toBe('asks');
  });

  it.each([
    "sed -n '1,5p;10q' a",
    "sed '/x/{s/a/b/;p}' a",
    "sed ':a;N;$!ba;s/x/y/g' a",
    "sed -e '/x/d' -e 's/[/]/_/g' a",
    "sed 'y/abc/xyz/' a",
    "sed '1i text' a",
    "sed -n '/a/,/b/{=;p}' a",
  ])('sed still runs: %s', async (command) => {
    expect(await judged(command)).toBe('runs');
  });
});
