import { chmodSync, linkSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      '.env': 'SECRET=1',
      'secrets/deep/key': 'k',
      'Sub/Config.PEM': 'p',
      'node_modules/m/.env': 'of a package',
      'node_modules/keys/id': 'k',
      'src/a.ts': 'a',
      'src/same.ts': 's',
      'locked/l': 'l',
    },
  });
  const twin = (of: string, name: string): void => linkSync(project.at(of), project.at(name));
  twin('.env', 'plain.txt');
  twin('secrets/deep/key', 'src/b.ts');
  twin('Sub/Config.PEM', 'src/c.ts');
  twin('src/same.ts', 'src/other.ts');
  twin('locked/l', 'free');
  twin('node_modules/m/.env', 'vendored');
  twin('node_modules/keys/id', 'id');
  mkdirSync(path.join(project.home, '.ssh'));
  linkSync(project.at('src/a.ts'), path.join(project.home, '.ssh', 'id_test'));
  symlinkSync(project.at('plain.txt'), project.at('link'));
});
afterAll(() => project.remove());

type Lists = { readonly deny?: readonly string[]; readonly ask?: readonly string[] };
type Call = readonly [tool: string, input: Readonly<Record<string, unknown>>];

function callOf(tool: string, of: string): Call {
  if (tool === 'Bash') return [tool, { command: of }];
  const file_path = project.at(of);
  const fields = { Write: { content: 'x' }, Edit: { old_string: 'a', new_string: 'b' } };
  return [tool, { file_path, ...fields[tool as keyof typeof fields] }];
}

function rig(lists: Lists, fs = nodeFileSystem) {
  const { directory: cwd, home } = project;
  return gateRig({ cwd, home, fs, allow: ['Bash', 'Read', 'Edit'], ...lists });
}

async function messageOf(lists: Lists, call: Call, fs = nodeFileSystem): Promise<string> {
  const verdict = await rig(lists, fs).call(...call);
  return verdict.kind === 'allowed' ? 'allowed' : verdict.message;
}

describe('a restriction holds for every name of a file', () => {
  it.each<[string, 'Read' | 'Write' | 'Edit' | 'Bash', string]>([
    ['Read(./.env)', 'Read', 'plain.txt'],
    ['Read(.env)', 'Read', 'plain.txt'],
    ['Read(**/.env)', 'Read', 'plain.txt'],
    ['Read(.env)', 'Read', 'link'],
    ['Read(.ENV)', 'Edit', 'plain.txt'],
    ['Read(.env)', 'Bash', 'cat plain.txt'],
    ['Read(.env)', 'Bash', 'cd src && cat ../plain.txt'],
    ['Read(.env)', 'Bash', 'cat < plain.txt'],
    ['Read(.env)', 'Bash', 'cat p*.txt'],
    ['Read(./secrets/**)', 'Read', 'src/b.ts'],
    ['Read(secrets/)', 'Read', 'src/b.ts'],
    ['Read(*.pem)', 'Read', 'src/c.ts'],
    ['Read(./sub/*.pem)', 'Read', 'src/c.ts'],
    ['Edit(./locked/**)', 'Edit', 'free'],
    ['Edit(./locked/**)', 'Write', 'free'],
    ['Edit(./locked/**)', 'Bash', 'echo x > free'],
    ['Read(~/.ssh/**)', 'Read', 'src/a.ts'],
    ['Read(./node_modules/keys/**)', 'Read', 'id'],
  ])('%s against %s %s', async (rule, tool, of) => {
    const call = callOf(tool, of);
    expect(await rig({ deny: [rule] }).outcome(...call)).toBe('denied');
    expect(await messageOf({ deny: [rule] }, call)).toContain('is another name of');
    expect(await rig({ ask: [rule] }).outcome(...call)).toBe('asks');
  });

  it.each<[string, 'Read' | 'Edit' | 'Bash', string]>([
    // Two names, none of which a rule is about.
    ['Read(.env)', 'Read', 'src/other.ts'],
    ['Read(./secrets/**)', 'Bash', 'cat src/same.ts'],
    // What may not be changed may be read.
    ['Edit(./locked/**)', 'Read', 'free'],
    // Names for any depth are not looked for among copies.
    ['Read(.env)', 'Read', 'vendored'],
    ['Read(./nowhere/**)', 'Read', 'plain.txt'],
    ['Read(//nowhere/at/all)', 'Read', 'plain.txt'],
  ])('and for no other file: %s, %s %s', async (rule, tool, of) => {
    expect(await rig({ deny: [rule] }).outcome(...callOf(tool, of))).toBe('runs');
  });

  it.runIf(process.getuid?.() !== 0)('in directories that show no names', async () => {
    chmodSync(project.at('secrets'), 0o311);
    try {
      const known = rig({ deny: ['Read(./secrets/deep/**)'] });
      expect(await known.outcome(...callOf('Read', 'src/b.ts'))).toBe('denied');
    } finally {
      chmodSync(project.at('secrets'), 0o755);
    }
  });

  it('is asked about where the files of a rule cannot be gone through', async () => {
    const fs: typeof nodeFileSystem = {
      ...nodeFileSystem,
      list: (at) =>
        at === project.at('secrets')
          ? Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }))
          : nodeFileSystem.list(at),
    };
    const lists = { deny: ['Read(./secrets/**)'] };
    for (const call of [callOf('Read', 'src/other.ts'), callOf('Bash', 'cat src/other.ts')])
      expect(await messageOf(lists, call, fs)).toContain('could be compared');
    expect(await messageOf(lists, callOf('Read', 'node_modules/m/x'), fs)).toBe('allowed');
  });

  it('is asked about where a file of a rule cannot be looked at', async () => {
    const fs: typeof nodeFileSystem = {
      ...nodeFileSystem,
      lstat: (at) =>
        at === project.at('secrets/deep/key')
          ? Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }))
          : nodeFileSystem.lstat(at),
    };
    const lists = { deny: ['Read(./secrets/**)'] };
    expect(await messageOf(lists, callOf('Read', 'src/other.ts'), fs)).toContain(
      'could be compared',
    );
  });
});
