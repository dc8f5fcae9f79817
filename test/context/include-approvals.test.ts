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
  expect(await store.answerTo(project, real)).not.toBe('approve');
  await store.answer(project, 'approve', [real]);
  expect(await open().answerTo(project, real)).toBe('approve');
  expect(await open().answerTo(project, `${real}x`)).not.toBe('approve');
  expect(await open().answerTo(`${project}2`, real)).not.toBe('approve');
  expect(world.texts(await world.book({ approvals: open() }).open())).toEqual([
    'P @../outside/x.md',
    'X',
  ]);
});

it('what is kept is for its owner alone', async () => {
  const { open, file, project, real } = rig();
  await open().answer(project, 'approve', [real]);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(file())).mode & 0o777).toBe(0o700);
  expect(readFileSync(file(), 'utf8')).not.toContain('P @');
});

it('the last word counts, and a no is remembered', async () => {
  const { open, project, real } = rig();
  const store = open();
  await Promise.all([
    store.answer(project, 'approve', [real]),
    store.answer(project, 'decline', [real, '/b']),
  ]);
  expect(await open().answerTo(project, real)).not.toBe('approve');
  expect(await open().answerTo(project, real)).toBe('decline');
  await store.answer(project, 'approve', [real]);
  expect(await open().answerTo(project, real)).not.toBe('decline');
  expect(await open().answerTo(project, '/b')).toBe('decline');
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
  await open().answer(project, 'approve', [real]);
  spoil(file());
  expect(await open().answerTo(project, real)).not.toBe('approve');
});

it('a repository does not bring its own approvals', async () => {
  const { open, project, real } = rig();
  const inside = path.join(project, '.state');
  mkdirSync(inside);
  await open(inside).answer(project, 'approve', [real]);
  expect(await open(inside).answerTo(project, real)).not.toBe('approve');
});

it('what cannot be kept is said', async () => {
  const { world, open, project, real } = rig();
  world.write({ 'state/includes': 'a file' });
  await expect(open().answer(project, 'approve', [real])).rejects.toThrow('could not be stored');
});
