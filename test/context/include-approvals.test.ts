import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openIncludeApprovals } from '../../src/context/instructions/include-approvals.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { bookWorld } from './book-rig.js';

function rig() {
  const world = bookWorld({ 'project/CLAUDE.md': 'P @../outside/x.md', 'outside/x.md': 'X' });
  const stateDirectory = path.join(world.root, 'state');
  const open = (at = stateDirectory) =>
    openIncludeApprovals({ fs: nodeFileSystem, stateDirectory: at });
  const file = () => {
    const [name = ''] = readdirSync(path.join(stateDirectory, 'includes'));
    return path.join(stateDirectory, 'includes', name);
  };
  return {
    world,
    open,
    file,
    project: world.at('.').replace(/\/$/, ''),
    real: path.join(world.root, 'outside/x.md'),
  };
}

it('an approval is for one project and one resolved path, and lasts', async () => {
  const { world, open, project, real } = rig();
  const store = open();
  expect(await store.approved(project, real)).toBe(false);
  await store.approve(project, [real]);
  expect(await open().approved(project, real)).toBe(true);
  expect(await open().approved(project, `${real}x`)).toBe(false);
  expect(await open().approved(`${project}2`, real)).toBe(false);
  expect(world.texts(await world.book({ approvals: open() }).open())).toEqual([
    'P @../outside/x.md',
    'X',
  ]);
});

it('what is kept is for its owner alone', async () => {
  const { open, file, project, real } = rig();
  await open().approve(project, [real]);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(file())).mode & 0o777).toBe(0o700);
  expect(readFileSync(file(), 'utf8')).not.toContain('P @');
});

it('the last word counts, and a no is remembered', async () => {
  const { open, project, real } = rig();
  const store = open();
  await Promise.all([store.approve(project, [real]), store.decline(project, [real, '/b'])]);
  expect(await open().approved(project, real)).toBe(false);
  expect(await open().declined(project, real)).toBe(true);
  await store.approve(project, [real]);
  expect(await open().declined(project, real)).toBe(false);
  expect(await open().declined(project, '/b')).toBe(true);
});

it.each([
  ['is no JSON', (file: string) => writeFileSync(file, 'yes')],
  [
    'is for another project',
    (file: string) => writeFileSync(file, '{"version":1,"project":"/x","approved":["*"]}'),
  ],
  ['others may write', (file: string) => chmodSync(file, 0o666)],
])('a file that %s approves nothing', async (_what, spoil) => {
  const { open, file, project, real } = rig();
  await open().approve(project, [real]);
  spoil(file());
  expect(await open().approved(project, real)).toBe(false);
});

it('a repository does not bring its own approvals', async () => {
  const { open, project, real } = rig();
  const inside = path.join(project, '.state');
  mkdirSync(inside);
  await open(inside).approve(project, [real]);
  expect(await open(inside).approved(project, real)).toBe(false);
});

it('what cannot be kept is said', async () => {
  const { world, open, project, real } = rig();
  world.write({ 'state/includes': 'a file' });
  await expect(open().approve(project, [real])).rejects.toThrow('could not be stored');
});
