import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memberPath, privateDirectory } from './private-files.js';

const top = mkdtempSync(path.join(tmpdir(), 'portcullis-private-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

describe('private files', () => {
  it('are for their owner alone, under a name that nobody can guess', () => {
    const one = privateDirectory(top, 'p-');
    const other = privateDirectory(top, 'p-');
    expect(path.basename(one.path)).toMatch(/^p-[0-9a-f]{32}$/);
    expect(one.path).not.toBe(other.path);
    one.write('a/b/c.txt', 'text');
    expect(readFileSync(path.join(one.path, 'a/b/c.txt'), 'utf8')).toBe('text');
    expect(statSync(one.path).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(one.path, 'a/b')).mode & 0o077).toBe(0);
    expect(statSync(path.join(one.path, 'a/b/c.txt')).mode & 0o777).toBe(0o600);
    one.remove();
    expect(statSync(one.path, { throwIfNoEntry: false })).toBeUndefined();
    other.remove();
  });

  it('are never written over, nor through a link', () => {
    const place = privateDirectory(top, 'p-');
    place.write('x', 'first');
    expect(() => place.write('x', 'second')).toThrow('cannot be made');
    symlinkSync('/etc', path.join(place.path, 'link'));
    expect(() => place.write('link/passwd', 'x')).toThrow('cannot be made');
    symlinkSync(path.join(top, 'target'), path.join(place.path, 'file'));
    expect(() => place.write('file', 'x')).toThrow('cannot be made');
    expect(statSync(path.join(top, 'target'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('do not go where somebody was first', () => {
    const place = privateDirectory(top, 'p-');
    mkdirSync(place.path);
    expect(() => place.write('x', 'text')).toThrow('EEXIST');
    place.remove();
    expect(statSync(place.path).isDirectory()).toBe(true);
  });

  it.each([
    '',
    '.',
    '..',
    '../x',
    'a/../../x',
    'a/../b',
    '/etc/passwd',
    'a//b',
    './a',
    'a/',
    'C:\\x',
    'a\\..\\..\\x',
    '\\\\host\\x',
    'a\0b',
  ])('refuse the name %j', (name) => {
    expect(() => memberPath('/private', name)).toThrow('no name for a file');
  });
});
