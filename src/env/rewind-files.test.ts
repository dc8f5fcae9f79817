import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRewindablePath, openRewindFiles, type RewindFiles } from './rewind-files.js';

let home: string;
let root: string;
let files: RewindFiles;
const draft = '.draft';
const bytes = Buffer.from('new\n');

beforeEach(() => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'rewind-files-')));
  root = path.join(home, 'root');
  fs.mkdirSync(path.join(root, 'd'), { recursive: true });
  fs.mkdirSync(path.join(home, 'outside'));
  fs.writeFileSync(path.join(home, 'outside/secret'), 'secret\n');
  files = openRewindFiles(root);
});
afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

const at = (name: string): string => path.join(root, name);

describe('writing into a workspace', () => {
  it('puts a file in its place with its mode, and again', () => {
    for (let time = 0; time < 2; time++) {
      expect(files.writeFile('d/a', bytes, { draft, mode: 0o751 })).toEqual({
        ok: true,
        value: 'done',
      });
    }
    expect(fs.readFileSync(at('d/a'), 'utf8')).toBe('new\n');
    expect(fs.statSync(at('d/a')).mode & 0o7777).toBe(0o751);
    expect(fs.readdirSync(at('d'))).toEqual(['a']);
  });

  it('replaces a link, and does not write through it', () => {
    fs.symlinkSync('../../outside/secret', at('d/a'));
    expect(files.writeFile('d/a', bytes, { draft, mode: 0o644 }).ok).toBe(true);
    expect(fs.lstatSync(at('d/a')).isFile()).toBe(true);
    expect(fs.readFileSync(path.join(home, 'outside/secret'), 'utf8')).toBe('secret\n');
  });

  it('does not go through a directory that is a link', () => {
    fs.symlinkSync('../outside', at('out'));
    const tries = [
      files.writeFile('out/secret', bytes, { draft, mode: 0o644 }),
      files.makeLink('out/secret', 'x', { draft }),
      files.remove('out/secret'),
      files.setMode('out/secret', 0o777),
      files.makeDirectory('out/made', 0o755),
      files.read('out/secret'),
      files.list('out'),
    ];
    expect(tries.map(({ ok }) => ok)).toEqual(tries.map(() => false));
    expect(files.find('out/secret')).toEqual({ ok: true, value: undefined });
    expect(fs.readdirSync(path.join(home, 'outside'))).toEqual(['secret']);
    expect(fs.readFileSync(path.join(home, 'outside/secret'), 'utf8')).toBe('secret\n');
  });

  it('does not change the mode of what a link leads to', () => {
    fs.chmodSync(path.join(home, 'outside/secret'), 0o600);
    fs.symlinkSync('../outside/secret', at('a'));
    expect(files.setMode('a', 0o777).ok).toBe(false);
    expect(fs.statSync(path.join(home, 'outside/secret')).mode & 0o777).toBe(0o600);
  });

  it('parts a file from its other names instead of changing them', () => {
    fs.linkSync(path.join(home, 'outside/secret'), at('a'));
    expect(files.writeFile('a', bytes, { draft, mode: 0o644 }).ok).toBe(true);
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

  it('makes directories and links', () => {
    expect(files.makeDirectory('e', 0o750).ok).toBe(true);
    expect(fs.statSync(at('e')).mode & 0o777).toBe(0o750);
    expect(files.makeLink('e/l', '/nowhere', { draft }).ok).toBe(true);
    expect(files.find('e/l')).toEqual({ ok: true, value: { kind: 'link', target: '/nowhere' } });
  });

  it('says in words what does not work', () => {
    expect(files.writeFile('none/a', bytes, { draft, mode: 0o644 })).toEqual({
      ok: false,
      error: 'its directory is not there',
    });
    fs.mkdirSync(at('full/x'), { recursive: true });
    expect(files.writeFile('full', bytes, { draft, mode: 0o644 }).ok).toBe(false);
    expect(fs.readdirSync(root).sort()).toEqual(['d', 'full']);
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
  ])('%j may not', (name) => {
    expect(isRewindablePath(name)).toBe(false);
    expect(files.writeFile(name, bytes, { draft, mode: 0o644 }).ok).toBe(false);
  });
});
