import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRewindablePath, WorkspaceFiles } from './workspace-files.js';

let home: string;
let root: string;
let files: WorkspaceFiles;
const draft = '.draft';
const bytes = Buffer.from('new\n');

beforeEach(() => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'rewind-files-')));
  root = path.join(home, 'root');
  fs.mkdirSync(path.join(root, 'd'), { recursive: true });
  fs.mkdirSync(path.join(home, 'outside'));
  fs.writeFileSync(path.join(home, 'outside/secret'), 'secret\n');
  files = new WorkspaceFiles(root);
});
afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

async function writeFile(
  name: string,
  mode = 0o644,
): Promise<ReturnType<WorkspaceFiles['placeDraft']>> {
  const drafted = await files.draftFile(name, bytes, { draft, mode });
  return drafted.ok ? files.placeDraft(name, draft) : drafted;
}

function makeLink(name: string, target: string): ReturnType<WorkspaceFiles['placeDraft']> {
  const drafted = files.draftLink(name, target, draft);
  return drafted.ok ? files.placeDraft(name, draft) : drafted;
}

const at = (name: string): string => path.join(root, name);

describe('writing into a workspace', () => {
  it('puts a file in its place with its mode, and again', async () => {
    for (let time = 0; time < 2; time++) {
      expect(await writeFile('d/a', 0o751)).toEqual({ ok: true, value: 'done' });
    }
    expect(fs.readFileSync(at('d/a'), 'utf8')).toBe('new\n');
    expect(fs.statSync(at('d/a')).mode & 0o7777).toBe(0o751);
    expect(fs.readdirSync(at('d'))).toEqual(['a']);
  });

  it('replaces a link, and does not write through it', async () => {
    fs.symlinkSync('../../outside/secret', at('d/a'));
    expect((await writeFile('d/a')).ok).toBe(true);
    expect(fs.lstatSync(at('d/a')).isFile()).toBe(true);
    expect(fs.readFileSync(path.join(home, 'outside/secret'), 'utf8')).toBe('secret\n');
  });

  it('does not go through a directory that is a link', async () => {
    fs.symlinkSync('../outside', at('out'));
    const tries = [
      await writeFile('out/secret'),
      makeLink('out/secret', 'x'),
      files.remove('out/secret'),
      files.setMode('out/secret', 0o777),
      files.makeDirectory('out/made', 0o755),
      await files.read('out/secret'),
      files.list('out'),
    ];
    expect(tries.map(({ ok }) => ok)).toEqual(tries.map(() => false));
    expect(await files.find('out/secret')).toEqual({ ok: true, value: undefined });
    expect(fs.readdirSync(path.join(home, 'outside'))).toEqual(['secret']);
    expect(fs.readFileSync(path.join(home, 'outside/secret'), 'utf8')).toBe('secret\n');
  });

  it('does not change the mode of what a link leads to', () => {
    fs.chmodSync(path.join(home, 'outside/secret'), 0o600);
    fs.symlinkSync('../outside/secret', at('a'));
    expect(files.setMode('a', 0o777).ok).toBe(false);
    expect(fs.statSync(path.join(home, 'outside/secret')).mode & 0o777).toBe(0o600);
  });

  it('parts a file from its other names instead of changing them', async () => {
    fs.linkSync(path.join(home, 'outside/secret'), at('a'));
    expect((await writeFile('a')).ok).toBe(true);
    expect(fs.readFileSync(path.join(home, 'outside/secret'), 'utf8')).toBe('secret\n');
  });

  it('takes away files, links and empty directories only', () => {
    fs.writeFileSync(at('d/a'), '');
    expect(files.remove('d')).toEqual({ ok: true, value: 'not-empty' });
    expect(files.remove('d/a')).toEqual({ ok: true, value: 'done' });
    expect(files.remove('d/a')).toEqual({ ok: true, value: 'done' });
    expect(files.remove('d')).toEqual({ ok: true, value: 'done' });
    expect(fs.readdirSync(root)).toEqual([]);
  });

  it('makes directories and links', async () => {
    expect(files.makeDirectory('e', 0o750).ok).toBe(true);
    expect(fs.statSync(at('e')).mode & 0o777).toBe(0o750);
    expect(makeLink('e/l', '/nowhere').ok).toBe(true);
    expect(await files.find('e/l')).toEqual({
      ok: true,
      value: { kind: 'link', target: '/nowhere' },
    });
  });

  it('says in words what does not work', async () => {
    expect(await writeFile('none/a')).toEqual({
      ok: false,
      error: 'its directory is not there',
    });
    fs.mkdirSync(at('full/x'), { recursive: true });
    expect((await writeFile('full')).ok).toBe(false);
    expect(fs.readdirSync(root).sort()).toEqual(['d', 'full']);
  });
});

describe('what somebody saves while it is put back', () => {
  const stampOf = async (name: string): Promise<string> => {
    const seen = await files.see(name);
    return seen.ok ? seen.value.stamp : '';
  };
  const CHANGED = { ok: false, error: 'changed while it was being restored' };

  it.each<[string, () => void]>([
    ['in place', () => fs.writeFileSync(at('d/a'), 'theirs\n')],
    [
      'by a rename',
      () => {
        fs.writeFileSync(at('d/a.new'), 'old!\n');
        fs.renameSync(at('d/a.new'), at('d/a'));
      },
    ],
    ['by removing it', () => fs.rmSync(at('d/a'))],
  ])('stays, %s', async (_, save) => {
    fs.writeFileSync(at('d/a'), 'old!\n');
    const stamp = await stampOf('d/a');
    await files.draftFile('d/a', bytes, { draft, mode: 0o644 });
    save();
    const left = fs.existsSync(at('d/a')) ? fs.readFileSync(at('d/a'), 'utf8') : undefined;
    expect(files.placeDraft('d/a', draft, stamp)).toEqual(CHANGED);
    expect(files.setMode('d/a', 0o600, stamp)).toEqual(CHANGED);
    if (left !== undefined) expect(files.remove('d/a', stamp)).toEqual(CHANGED);
    expect(fs.readdirSync(at('d'))).toEqual(left === undefined ? [] : ['a']);
    if (left !== undefined) expect(fs.readFileSync(at('d/a'), 'utf8')).toBe(left);
  });

  it('stays where nothing was', async () => {
    const stamp = await stampOf('d/a');
    await files.draftFile('d/a', bytes, { draft, mode: 0o644 });
    fs.writeFileSync(at('d/a'), 'theirs\n');
    expect(files.placeDraft('d/a', draft, stamp)).toEqual(CHANGED);
    expect(fs.readFileSync(at('d/a'), 'utf8')).toBe('theirs\n');
  });
});

describe('what stands there', () => {
  it('is not read when it is too large, and nobody waits for a file that grows', async () => {
    fs.writeFileSync(at('big'), 'x'.repeat(101));
    files = new WorkspaceFiles(root, 100);
    expect(await files.find('big')).toMatchObject({
      ok: true,
      value: { kind: 'file', size: 101, unstored: 'too-large' },
    });
    expect(await files.read('big')).toEqual({ ok: false, error: 'it is too large to be kept' });

    fs.writeFileSync(at('grows'), Buffer.alloc(8 << 20));
    files = new WorkspaceFiles(root);
    const found = files.find('grows');
    fs.appendFileSync(at('grows'), 'more');
    expect(await found).toEqual({ ok: false, error: 'another process is writing to it' });
  });

  it('lets everybody else have their turn while it is read', async () => {
    fs.writeFileSync(at('long'), Buffer.alloc(40 << 20));
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await files.find('long');
    isOver = true;
    expect(turns).toBeGreaterThan(1);
  });

  it('gets a mode of its own when it has names elsewhere', () => {
    fs.chmodSync(path.join(home, 'outside/secret'), 0o600);
    fs.linkSync(path.join(home, 'outside/secret'), at('a'));
    expect(files.setMode('a', 0o777)).toEqual({ ok: true, value: 'shared' });
    expect(fs.statSync(path.join(home, 'outside/secret')).mode & 0o777).toBe(0o600);
  });

  it('has to be a directory where one is made', () => {
    fs.writeFileSync(at('a'), '', { mode: 0o600 });
    fs.symlinkSync('../outside', at('l'));
    expect(files.makeDirectory('a', 0o755).ok).toBe(false);
    expect(files.makeDirectory('l', 0o700).ok).toBe(false);
    expect(fs.statSync(at('a')).mode & 0o777).toBe(0o600);
  });
});

describe('the root', () => {
  it('is the directory that stood there at first, and no other', async () => {
    fs.writeFileSync(at('a'), 'a\n');
    expect(files.trouble()).toBeUndefined();
    fs.renameSync(root, path.join(home, 'moved'));
    fs.mkdirSync(at('d'), { recursive: true });
    fs.writeFileSync(at('a'), 'another\n');
    const why = 'the workspace directory was replaced by another one since it was opened';
    expect(files.trouble()).toBe(why);
    expect(await files.find('a')).toEqual({ ok: false, error: why });
    expect(files.remove('a')).toEqual({ ok: false, error: why });
    expect(await writeFile('d/new')).toEqual({ ok: false, error: why });
    expect(fs.readdirSync(at('d'))).toEqual([]);
    fs.rmSync(root, { recursive: true });
    expect(files.trouble()).toBe('its directory is not there');
  });

  it('is not found by a link either that leads to another one', () => {
    fs.renameSync(root, path.join(home, 'moved'));
    fs.symlinkSync('outside', root);
    expect(files.trouble()).toBeDefined();
    expect(files.remove('secret').ok).toBe(false);
    expect(fs.readdirSync(path.join(home, 'outside'))).toEqual(['secret']);
  });

  it.runIf(process.platform === 'linux')('ends where something else is mounted', async () => {
    const all = new WorkspaceFiles('/');
    const why = { ok: false, error: 'another file system is mounted there' };
    expect(await all.find('proc/version')).toEqual(why);
    expect(all.remove('proc/none')).toEqual(why);
  });
});

describe('paths that may be touched', () => {
  it.each(['a', 'a/b', '-rf', 'x\ny', '..a', 'gitignore', 'a b'])('%j may', (name) => {
    expect(isRewindablePath(name)).toBe(true);
  });

  it.each([
    '',
    '/a',
    'a/../../x',
    '..',
    '.',
    'a//b',
    'a/',
    'a\0b',
    '.git/config',
    'x/.GIT/hooks/a',
    'a\uFFFD',
  ])('%j may not', async (name) => {
    expect(isRewindablePath(name)).toBe(false);
    expect((await writeFile(name)).ok).toBe(false);
  });
});
