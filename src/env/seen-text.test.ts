import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSameVersion } from './file-version.js';
import type { FileStat } from './fs.js';
import { nodeFileSystem } from './node-fs.js';
import { SeenText } from './seen-text.js';

let top: string;
let file: string;

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'portcullis-seen-'));
  mkdirSync(path.join(top, 'd'));
  file = path.join(top, 'd', 'a.md');
  writeFileSync(file, 'one');
});

afterEach(() => rmSync(top, { recursive: true, force: true }));

const seen = (): SeenText => {
  const text = nodeFileSystem.readSmallNow?.(file);
  if (text === undefined) throw new Error('it was not read');
  return new SeenText(nodeFileSystem, file, { text });
};
const stat = (): FileStat => {
  const found = nodeFileSystem.statNow?.(file);
  if (found === undefined) throw new Error('it is not there');
  return found;
};

describe('a text that was seen', () => {
  it('is of the version that says it, and of no later one', () => {
    const one = seen();
    const first = stat();
    expect(isSameVersion(one, first)).toBe(true);
    expect(isSameVersion(first, one)).toBe(true);
    expect(isSameVersion(one, one)).toBe(true);
    expect(one.facts()).toEqual(first);
    writeFileSync(file, 'two');
    expect(isSameVersion(one, stat())).toBe(false);
    expect(one.facts()).toEqual(first);
    expect(one.factsNow()).toBeUndefined();
  });

  it.each<[string, () => void]>([
    ['is written anew', () => writeFileSync(file, 'two')],
    [
      'is written anew with the times of before',
      () => {
        const { atime, mtime } = statSync(file);
        writeFileSync(file, 'two');
        utimesSync(file, atime, mtime);
      },
    ],
    [
      'is replaced by an older one, of which nothing was changed',
      () => {
        mkdirSync(path.join(top, 'other'));
        writeFileSync(path.join(top, 'other', 'a.md'), 'two');
        renameSync(path.join(top, 'd'), path.join(top, 'gone'));
        renameSync(path.join(top, 'other'), path.join(top, 'd'));
      },
    ],
    ['is gone', () => rmSync(file)],
    [
      'is a link to the same text',
      () => {
        renameSync(file, path.join(top, 'b.md'));
        symlinkSync(path.join(top, 'b.md'), file);
      },
    ],
    [
      'is a directory',
      () => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ])('is of no version when the file %s before anybody asks', (_, change) => {
    const one = seen();
    change();
    expect(one.facts()).toBeUndefined();
    const now = nodeFileSystem.statNow?.(file);
    expect(now !== undefined && isSameVersion(one, now)).toBe(false);
    // What was there in between does not come back.
    rmSync(file, { recursive: true, force: true });
    writeFileSync(file, 'one');
    expect(isSameVersion(one, stat())).toBe(false);
  });

  it('has the facts that were asked for when it was read', () => {
    const given = stat();
    const one = new SeenText(nodeFileSystem, file, { text: 'one', stat: given });
    writeFileSync(file, 'two');
    expect(one.facts()).toBe(given);
    expect(isSameVersion(one, stat())).toBe(false);
    expect(one.factsNow()).toBeUndefined();
  });
});
