import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { Budget, TooComplexError } from '../gate/budget.js';
import { parseRules } from '../rules/rules.js';
import { createPathJudge } from './paths.js';
import { searchTree, type Tree, type TreeLook, untilTooLong } from './tree-walk.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'a/1': '',
      'a/2': '',
      'a/b/3': '',
      'a/b/c/.env': '',
      'locked/.env': '',
      'store/key.pem': '',
      'node_modules/m/.env': '',
      'exact/node_modules/m/.env': '',
      'shown/.ignore': '!.env\n',
      'shown/.env': '',
      'quiet/.env': '',
      'plain/.gitignore': 'key\n',
      'plain/key': '',
      'kept/.git/HEAD': '',
      'kept/.gitignore': 'key\n',
      'kept/key': '',
      'kept/inner/.git/HEAD': '',
      'kept/inner/key': '',
      'long/.git/HEAD': '',
      'long/.gitignore': `key\n${'#\n'.repeat(5_001)}!key\n`,
      'long/key': '',
      'quiet/sub/.hidden/.env': '',
    },
  });
  mkdirSync(project.at('hollow/secret/deep'), { recursive: true });
  mkdirSync(project.at('links'));
  symlinkSync(project.at('store'), project.at('links/store'));
  symlinkSync(project.at('links'), project.at('links/again'));
});
afterAll(() => {
  chmodSync(project.at('locked'), 0o700);
  project.remove();
});

function look(
  rule: string,
  start: string,
  options: {
    tree?: Partial<Tree>;
    look?: Partial<TreeLook>;
    budget?: Budget;
    access?: 'read' | 'write';
  } = {},
) {
  const { directory: cwd, home } = project;
  const value = { text: rule, root: cwd };
  const { rules } = parseRules(
    { allow: [], ask: [], deny: [{ value, source: 'user', trusted: true }] },
    { cwd, home },
  );
  const judge = createPathJudge(nodeFileSystem, { roots: [cwd], home, budget: options.budget });
  const directory = project.at(start);
  const names = [{ path: directory, access: options.access ?? 'read' }] as const;
  const tree = { directory, names, follows: false, depth: Number.POSITIVE_INFINITY, skips: {} };
  const place = { judge, home, until: untilTooLong(), elevated: false };
  return searchTree(rules.deny, { ...tree, ...options.tree }, { ...place, ...options.look });
}

describe('a look through a tree', () => {
  it('finds what a rule covers, at any depth and in any case', async () => {
    const path = project.at('a/b/c/.env');
    expect(await look('Read(.env)', 'a')).toMatchObject({ kind: 'covered', path });
    expect(await look('Read(.ENV)', 'a')).toMatchObject({ kind: 'covered', path });
    expect(await look('Read(./a/*/c/**)', '.')).toMatchObject({ kind: 'covered', path });
    expect(await look('Read(./b/**)', '.')).toBeUndefined();
  });

  it('takes an empty directory for nothing to read, but for something to change', async () => {
    expect(await look('Read(./hollow/secret/**)', 'hollow')).toBeUndefined();
    const found = await look('Edit(./hollow/secret/**)', 'hollow', { access: 'write' });
    expect(found).toMatchObject({ path: project.at('hollow/secret') });
  });

  it('ends with a doubt when there is too much, or it takes too long', async () => {
    const short = look('Read(*.none)', 'a', { budget: new Budget(30) });
    await expect(short).rejects.toThrow(TooComplexError);
    const late = { until: 0 };
    expect(await look('Read(*.none)', 'a', { look: late })).toMatchObject({ kind: 'unseen' });
    const budget = new Budget(300);
    expect(await look('Read(*.none)', 'a', { budget })).toBeUndefined();
  });

  it('does not look where no rule can reach', async () => {
    const budget = new Budget(0);
    expect(await look('Read(./elsewhere/**)', 'a', { budget })).toBeUndefined();
  });

  it('looks for names at any depth in copies only when these are named to be read', async () => {
    expect(await look('Read(*.none)', '.')).toBeUndefined();
    expect(await look('Read(m/**)', 'exact')).toBeUndefined();
    expect(await look('Read(./exact/node_modules/m/**)', 'exact')).toMatchObject({
      kind: 'covered',
    });
    expect(await look('Read(.env)', 'node_modules')).toMatchObject({ kind: 'covered' });
    expect(await look('Read(.env)', 'node_modules', { access: 'write' })).toBeUndefined();
  });

  it('follows links only for programs that do, and never in circles', async () => {
    expect(await look('Read(*.pem)', 'links')).toBeUndefined();
    const found = await look('Read(*.pem)', 'links', { tree: { follows: true } });
    expect(found).toMatchObject({ path: project.at('links/store/key.pem') });
    const named = await look('Read(./store/**)', 'links', { tree: { follows: true } });
    expect(named).toMatchObject({ kind: 'covered' });
    expect(await look('Read(*.none)', 'links', { tree: { follows: true } })).toBeUndefined();
  });

  it('takes a directory that cannot be read for a doubt only where the command may read it', async () => {
    chmodSync(project.at('locked'), 0o000);
    // An administrator reads it all the same.
    const isOpen = await nodeFileSystem.list(project.at('locked')).then(
      () => true,
      () => false,
    );
    chmodSync(project.at('locked'), isOpen ? 0o700 : 0o000);
    const mine = await look('Read(.env)', 'locked');
    const others = await look('Read(.env)', 'locked', { look: { elevated: true } });
    expect(mine?.kind).toBe(isOpen ? 'covered' : undefined);
    expect(others?.kind).toBe(isOpen ? 'covered' : 'unseen');
  });

  it('leaves out hidden names, unless an ignore file takes them in again', async () => {
    const tree = { skips: { hidden: true } };
    expect(await look('Read(.env)', 'quiet', { tree })).toBeUndefined();
    expect(await look('Read(.env)', 'shown', { tree })).toMatchObject({ kind: 'covered' });
    const shown = { skips: { hidden: true, shown: (name: string) => name === '.env' } };
    expect(await look('Read(.env)', 'quiet', { tree: shown })).toMatchObject({ kind: 'covered' });
  });

  it('goes by the ignore files of the repository that it is in, and of no other', async () => {
    const tree: Partial<Tree> = { skips: { hidden: true, ignored: 'search' } };
    const at = async (start: string) => {
      const found = await look('Read(key)', start, { tree });
      return found?.kind === 'covered' ? found.path : undefined;
    };
    expect(await at('plain')).toBe(project.at('plain/key'));
    expect(await at('kept')).toBe(project.at('kept/inner/key'));
    expect(await at('kept/inner')).toBe(project.at('kept/inner/key'));
  });

  it('leaves nothing out by an ignore file that is too long to be read', async () => {
    const tree: Partial<Tree> = { skips: { hidden: true, ignored: 'search' } };
    expect(await look('Read(key)', 'long', { tree })).toMatchObject({ kind: 'covered' });
  });
});
