import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFileSystem, readTextSync } from './node-fs.js';

let top: string;
let file: string;

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'portcullis-sync-'));
  file = path.join(top, 'a');
});

afterEach(() => rmSync(top, { recursive: true, force: true }));

const read = (at: string, options: { maxBytes?: number; noLink?: boolean } = {}) =>
  readTextSync(at, { maxBytes: 1024 * 1024, ...options });

describe('readTextSync', () => {
  it('gives the text and the version of the same file', async () => {
    for (const text of ['', 'short', 'ä'.repeat(10), 'x'.repeat(64 * 1024), 'y'.repeat(300_000)]) {
      writeFileSync(file, text);
      expect(read(file)).toEqual({ text, stat: await nodeFileSystem.stat(file) });
      expect(read(file).text).toBe(await nodeFileSystem.readText(file));
    }
    writeFileSync(file, '\uFEFFafter a mark');
    expect(read(file).text).toBe('after a mark');
    writeFileSync(file, Buffer.from([0x61, 0xff, 0x62]));
    expect(read(file).text).toBe(await nodeFileSystem.readText(file));
  });

  it('refuses what is larger than it may be, missing, or no regular file', () => {
    writeFileSync(file, 'x'.repeat(11));
    expect(read(file, { maxBytes: 11 }).text).toHaveLength(11);
    expect(() => read(file, { maxBytes: 10 })).toThrow('larger');
    expect(() => read(path.join(top, 'none'))).toThrow('ENOENT');
    expect(() => read(top)).toThrow('directory');
  });

  it.skipIf(process.platform === 'win32')('never waits for a pipe', () => {
    const pipe = path.join(top, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(() => read(pipe)).toThrow('not a regular file');
  });

  it.runIf(process.platform === 'linux')('reads files that do not say how large they are', () => {
    expect(read('/proc/self/status').text).toContain('Name:');
  });

  it.skipIf(process.platform === 'win32')('follows links unless it is told not to', () => {
    writeFileSync(file, 'text');
    const link = path.join(top, 'link');
    symlinkSync(file, link);
    expect(read(link).text).toBe('text');
    expect(() => read(link, { noLink: true })).toThrow();
    expect(read(file, { noLink: true }).text).toBe('text');
  });
});
