import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { parseRules } from '../rules/rules.js';
import { hiddenBy } from './hidden-files.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: { 'real/key.pem': 'k', 'config/real.env': 'A=1', 'src/a.txt': 'a', 'vault/x/y': 'y' },
    home: { 'dotfiles/aws/credentials': 'c' },
  });
  const link = (from: string, to: string): void => {
    mkdirSync(path.dirname(from), { recursive: true });
    symlinkSync(to, from);
  };
  link(project.at('keys'), 'real');
  link(project.at('.env'), 'config/real.env');
  link(project.at('deep/in'), '../vault');
  link(path.join(project.home, '.aws'), 'dotfiles/aws');
  link(project.at('loop'), 'loop');
});
afterAll(() => project.remove());

const deny = ['Read(keys/**)', 'Read(.env)', 'Read(~/.aws/**)', 'Edit(./deep/in/x/**)'];

function rig(lists: { deny?: readonly string[]; ask?: readonly string[] } = { deny }) {
  const { directory: cwd, home } = project;
  const allow = ['Bash', 'Read', 'Edit', 'Write', 'Grep'];
  return gateRig({ cwd, home, roots: [cwd, home], allow, ...lists });
}

describe('a restriction that names a file through a link holds for the real name', () => {
  it.each([
    'cat real/key.pem',
    'cat config/real.env',
    'cat ~/dotfiles/aws/credentials',
    'cat ~/dotfiles/aws/cred*',
    'grep -r k real',
    'grep -r c ~/dotfiles',
    'cp -r ~/dotfiles /tmp/copy',
    'tar cf a.tar config',
    'zip -r a.zip .',
    'rm vault/x/y',
    'echo x > vault/x/new',
    'sed -i s/a/b/ vault/x/y',
  ])('%s', async (command) => {
    expect(await rig().bash(command)).toBe('denied');
    expect(await rig({ ask: deny }).bash(command)).toBe('asks');
  });

  it('for file tools', async () => {
    const { outcome } = rig();
    expect(await outcome('Read', { file_path: project.at('real/key.pem') })).toBe('denied');
    expect(await outcome('Read', { file_path: project.at('config/real.env') })).toBe('denied');
    expect(await outcome('Write', { file_path: project.at('vault/x/new') })).toBe('denied');
    expect(await outcome('Read', { file_path: project.at('vault/x/y') })).toBe('runs');
  });

  it('for what searches show', async () => {
    const { directory: cwd, home } = project;
    const origin = (text: string) =>
      ({ value: { text, root: cwd }, source: 'user', trusted: true }) as const;
    const { rules } = parseRules({ deny: deny.map(origin), ask: [], allow: [] }, { cwd, home });
    const isHidden = hiddenBy(rules, { fs: nodeFileSystem, roots: [cwd], home });
    expect(await isHidden?.(project.at('real/key.pem'))).toBe(true);
    expect(await isHidden?.(project.at('src/a.txt'))).toBe(false);
  });

  it('also when the link is made later', async () => {
    const mine = rig({ deny: ['Read(late/**)'] });
    expect(await mine.bash('cat src/a.txt')).toBe('runs');
    symlinkSync('src', project.at('late'));
    expect(await mine.bash('cat src/a.txt')).toBe('denied');
  });

  it('by one look at each part of their names that is there, and none below what is not', async () => {
    const looks: string[] = [];
    const fs = {
      ...nodeFileSystem,
      lstat: (file: string) => {
        looks.push(file);
        return nodeFileSystem.lstat(file);
      },
    };
    const names = Array.from({ length: 50 }, (_, at) => `nowhere/d${at % 5}/${at}.pem`);
    const texts = [...names, 'keys/a', 'keys/b', 'src/a.txt'].map((name) => `Read(${name})`);
    const { directory: cwd, home } = project;
    await gateRig({ cwd, home, deny: texts, fs }).outcome('Read', { file_path: '/none' });
    const below = looks.filter((file) => file.startsWith(`${cwd}/`)).sort();
    expect(below).toEqual(['keys', 'nowhere', 'src', 'src/a.txt'].map((name) => project.at(name)));
  });
});
