import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileSeal, isUnbroken, sealOf } from './file-seal.js';
import { nodeFileSystem } from './node-fs.js';

let root = '';
const at = (name: string): string => path.join(root, name);
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'seal-')));
  mkdirSync(at('all/sub'), { recursive: true });
  writeFileSync(at('all/one.md'), 'one');
  writeFileSync(at('all/sub/two.md'), 'two');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** As somebody would who looked long after the last change. */
async function sealed(later = 60_000): Promise<FileSeal | undefined> {
  const seen = async (name: string) => {
    const stat = await nodeFileSystem.lstat(at(path.join('all', name)));
    if (stat === undefined) throw new Error(`no ${name}`);
    return { path: name, stat };
  };
  const folders = [await seen(''), await seen('sub')];
  const files = [await seen('one.md'), await seen('sub/two.md')];
  return sealOf({ real: at('all'), folders, files }, Date.now() + later);
}

const holds = (seal: unknown) => isUnbroken(nodeFileSystem, at('all'), seal);

describe('a seal', () => {
  it('holds while nothing changes, and after it was written down', async () => {
    const seal = await sealed();
    expect(await holds(seal)).toBe(true);
    expect(await holds(JSON.parse(JSON.stringify(seal)))).toBe(true);
  });

  it.each<[string, () => void]>([
    ['a file of the same length is written', () => writeFileSync(at('all/one.md'), 'eno')],
    ['times are set back behind a write', rewriteWithOldTimes],
    ['a file is put in the place of another', () => putInPlace('all/sub/two.md')],
    ['a mode is changed', () => chmodSync(at('all/sub/two.md'), 0o666)],
    ['a file comes', () => writeFileSync(at('all/sub/three.md'), '')],
    ['a file goes', () => rmSync(at('all/one.md'))],
    ['a folder comes', () => mkdirSync(at('all/more'))],
    ['a file gets another name', () => linkSync(at('all/one.md'), at('twin.md'))],
    ['a link to the same file takes its place', () => linkInPlace('all/one.md')],
    ['a link to the same folder takes its place', () => linkInPlace('all/sub')],
    ['a link leads to all of it', () => linkInPlace('all')],
    ['nothing is left', () => rmSync(at('all'), { recursive: true })],
  ])('is broken when %s', async (_, change) => {
    const seal = await sealed();
    await pause();
    change();
    expect(await holds(seal)).toBe(false);
  });

  it('is not set on what was changed a moment before', async () => {
    expect(await sealed(0)).toBeUndefined();
    expect(await sealed(1_500)).toBeUndefined();
  });

  it('is not set on what comes from another disk, or has no times to go by', async () => {
    const stat = await nodeFileSystem.lstat(at('all'));
    if (stat === undefined) throw new Error('not there');
    const { ctimeMs: _, ...timeless } = stat;
    const folders = [{ path: '', stat }];
    const seal = (file: typeof stat) =>
      sealOf({ real: root, folders, files: [{ path: 'a', stat: file }] }, Date.now() + 60_000);
    expect(seal(stat)).toBeDefined();
    expect(seal({ ...stat, device: 0 })).toBeUndefined();
    expect(seal(timeless)).toBeUndefined();
  });

  describe('by what a file begins with', () => {
    const byText = async (begins: string): Promise<FileSeal | undefined> => {
      const stat = await nodeFileSystem.lstat(at('all'));
      if (stat === undefined) throw new Error('not there');
      const files = [{ path: 'one.md', begins }];
      const seen = { real: at('all'), folders: [{ path: '', stat }], files };
      return sealOf(seen, Date.now() + 60_000);
    };

    it.each<[string, () => void]>([
      ['it is written again', () => writeFileSync(at('all/one.md'), 'one')],
      ['it goes on in another way', () => writeFileSync(at('all/one.md'), 'one and more')],
    ])('holds when %s', async (_, change) => {
      const seal = await byText('on');
      change();
      expect(await holds(JSON.parse(JSON.stringify(seal)))).toBe(true);
    });

    it.each<[string, () => void]>([
      ['it begins otherwise', () => writeFileSync(at('all/one.md'), 'One')],
      ['it is shorter', () => writeFileSync(at('all/one.md'), 'o')],
      ['it is empty', () => writeFileSync(at('all/one.md'), '')],
      ['it is no text any more', () => writeFileSync(at('all/one.md'), 'one\0')],
      ['it has become large', () => writeFileSync(at('all/one.md'), `one${'x'.repeat(70_000)}`)],
      ['a link takes its place', () => linkInPlace('all/one.md')],
      ['it is gone', () => rmSync(at('all/one.md'))],
      ['another comes', () => writeFileSync(at('all/more.md'), 'on')],
    ])('is broken when %s', async (_, change) => {
      const seal = await byText('on');
      await pause();
      change();
      expect(await holds(seal)).toBe(false);
    });

    it('is not set without a beginning, and broken when it lost one', async () => {
      expect(await byText('')).toBeUndefined();
      const seal = await byText('on');
      expect(await holds({ ...seal, begins: [] })).toBe(false);
      expect(await holds({ ...seal, begins: [''] })).toBe(false);
      expect(await holds({ ...seal, begins: [1] })).toBe(false);
      expect(await holds({ ...seal, begins: undefined })).toBe(false);
    });
  });

  it('is broken when it is not whole', async () => {
    const seal = await sealed();
    if (seal === undefined) throw new Error('none');
    const { facts, files } = seal;
    for (const odd of [
      undefined,
      null,
      'seal',
      {},
      { ...seal, facts: facts.slice(1) },
      { ...seal, facts: [...facts].reverse() },
      { ...seal, facts: facts.map(String) },
      { ...seal, files: files.slice(1) },
      { ...seal, files: [1, 2] },
      { ...seal, folders: [] },
      { ...seal, device: seal.device + 1 },
      { ...seal, real: at('sub') },
    ]) {
      expect(await holds(odd)).toBe(false);
    }
  });
});

/** A write at least this much later has another time. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

function rewriteWithOldTimes(): void {
  const { atime, mtime } = { atime: new Date(1_000), mtime: new Date(1_000) };
  writeFileSync(at('all/one.md'), 'eno');
  utimesSync(at('all/one.md'), atime, mtime);
}

function putInPlace(name: string): void {
  writeFileSync(at('other'), readFileSync(at(name)));
  renameSync(at('other'), at(name));
}

function linkInPlace(name: string): void {
  renameSync(at(name), at('moved'));
  symlinkSync(at('moved'), at(name));
}
