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
  plain = makeTempProject({ files: { 'a/rust-toolchain': 'nightly\n' } });
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
    expect(await judged(plain, 'cd a && cargo --version')).toBe('asks');
    expect(await judged(rust, 'node --version')).toBe('runs');
  });
});

it('git does not start gpg unasked', async () => {
  for (const command of ['git log --show-signature', 'git show --show-signature HEAD']) {
    expect(await gateRig({ cwd: plain.directory, home: plain.home }).bash(command)).toBe('asks');
  }
});
