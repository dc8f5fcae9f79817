import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CallHost, callHost } from '../../../test/support/tool-call.js';
import type { Permit } from '../../permissions/gate/permit.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import type { TouchedPath } from '../tool.js';
import { readTool } from './read.js';
import { isSameVersion } from './read-state.js';
import { LINE_CHARS } from './read-text.js';

const read = readTool({ fs });
let host: CallHost;
const at = (name: string) => path.join(host.cwd, name);
const make = (name: string, content: string | Uint8Array) => writeFileSync(at(name), content);
const open = (file_path: string, more: object = {}) => host.call(read, { file_path, ...more });
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

beforeEach(() => {
  host = callHost();
});

describe('Read of text', () => {
  it('numbers lines and takes relative paths', async () => {
    make('a.txt', 'one\ntwo\n');
    const { text, structured } = await open('a.txt');
    expect(text).toBe('1\tone\n2\ttwo');
    expect(structured).toEqual({
      type: 'text',
      file: {
        filePath: at('a.txt'),
        content: 'one\ntwo',
        numLines: 2,
        startLine: 1,
        totalLines: 2,
      },
    });
    expect(host.readState.get(at('a.txt'))?.whole).toBe(true);
  });

  it('names its file for the gate', () => {
    expect(read.subject({ file_path: 'x/../src/a.ts' }, host.context.workspace)).toEqual({
      paths: [{ path: at('src/a.ts'), access: 'read' }],
      summary: 'Read src/a.ts',
    });
    expect(read.concurrencySafe({ file_path: 'a' })).toBe(true);
  });

  it('gives a range; offset 0 means 1; parts add up to the whole', async () => {
    make('a.txt', numbered(10));
    expect((await open('a.txt', { offset: 3, limit: 2 })).text).toBe('3\tline 3\n4\tline 4');
    expect((await open('a.txt', { offset: 0, limit: 2 })).text).toBe('1\tline 1\n2\tline 2');
    expect(host.readState.get(at('a.txt'))?.whole).toBe(false);
    await open('a.txt', { offset: 5 });
    expect(host.readState.get(at('a.txt'))?.whole).toBe(true);
    expect(await open('a.txt', { offset: 11 })).toMatchObject({
      text: expect.stringContaining('past its end'),
    });
  });

  it('shows 2000 lines of a longer file and says how to go on', async () => {
    make('a.txt', numbered(2001));
    const { text, structured } = await open('a.txt');
    expect(text).toContain('2000\tline 2000\n[PARTIAL: lines 1-2000 of 2001.');
    expect(text).toContain('offset=2001');
    expect(structured.file).toMatchObject({ numLines: 2000, totalLines: 2001 });
    expect(host.readState.get(at('a.txt'))?.whole).toBe(false);
    expect((await open('a.txt', { allow_large: true })).text).not.toContain('PARTIAL');
  });

  it('counts the numbers of many short lines, however small the file is', async () => {
    make('a.txt', '\n'.repeat(20_000));
    expect((await open('a.txt', { limit: 30_000 })).text).toContain('more than one Read shows');
    const { structured } = await open('a.txt', { allow_large: true });
    expect(structured.file).toMatchObject({ numLines: 8000, totalLines: 20_000 });
    make('b.txt', '\n'.repeat(12_500));
    expect((await open('b.txt', { limit: 12_500 })).structured.file).toMatchObject({
      numLines: 12_500,
    });
    make('c.txt', '\n'.repeat(12_501));
    expect((await open('c.txt', { limit: 12_501 })).isError).toBe(true);
  });

  it('stops at the token cap, but refuses a stated range above it', async () => {
    make('a.txt', `${'x'.repeat(1000)}\n`.repeat(250));
    const { text, structured } = await open('a.txt');
    expect(text.length).toBeLessThan(101_000);
    expect(text).toContain('PARTIAL');
    expect(structured.file).toMatchObject({ truncatedByTokenCap: true });
    const refused = await open('a.txt', { limit: 200 });
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(/limit=\d+ or less/);
    expect((await open('a.txt', { limit: 90 })).isError).toBe(false);
  });

  it('cuts only very long lines, and then has not seen the whole', async () => {
    make('5000.txt', 'y'.repeat(5000));
    expect((await open('5000.txt')).text).toBe(`1\t${'y'.repeat(5000)}`);
    make('a.txt', 'x'.repeat(LINE_CHARS + 1));
    expect((await open('a.txt')).text).toContain('[1 more characters in this line]');
    expect(host.readState.get(at('a.txt'))?.whole).toBe(false);
  });

  it('says that a file is empty', async () => {
    make('a.txt', '');
    const { text, isError } = await open('a.txt');
    expect(text).toContain('is empty');
    expect(isError).toBe(false);
    expect(host.readState.get(at('a.txt'))?.whole).toBe(true);
  });

  it('understands CRLF, byte order marks and UTF-16', async () => {
    make('crlf.txt', 'a\r\nb\r\n');
    expect((await open('crlf.txt')).text).toBe('1\ta\n2\tb');
    make('bom.txt', '\ufeffa\n');
    expect((await open('bom.txt')).text).toBe('1\ta');
    make('16.txt', Buffer.from('\ufeffhé\n', 'utf16le'));
    expect((await open('16.txt')).text).toBe('1\thé\n[The file is stored as UTF-16LE.]');
  });

  it('replaces what is not UTF-8 and says so', async () => {
    make('a.txt', Buffer.from([0x61, 0xe9, 0x62]));
    const { text } = await open('a.txt');
    expect(text).toContain('1\ta�b');
    expect(text).toContain('Not valid UTF-8');
  });

  it('remembers a file under its real path', async () => {
    make('a.txt', 'x');
    symlinkSync('a.txt', at('link.txt'));
    await open('link.txt');
    expect(host.readState.get(at('a.txt'))?.whole).toBe(true);
  });

  it('streams a range out of a huge file and refuses to read all of it', async () => {
    make('huge.txt', `${numbered(1000)}last`);
    truncateSync(at('huge.txt'), 300 * 1024 * 1024);
    expect((await open('huge.txt')).text).toContain('offset and limit');
    const { text, structured } = await open('huge.txt', { offset: 999, limit: 2 });
    // The rest is a hole of NUL bytes, which makes it binary.
    expect(text).toContain('binary');
    expect(structured).toEqual({});
    make('huge2.txt', `${'0123456789'.repeat(10)}\n`.repeat(700_000));
    const part = await open('huge2.txt', { offset: 600_000, limit: 2 });
    expect(part.text).toBe(
      `600000\t${'0123456789'.repeat(10)}\n600001\t${'0123456789'.repeat(10)}`,
    );
    expect((await open('huge2.txt')).text).toContain('offset and limit');
    expect((await open('huge2.txt', { allow_large: true })).text).toContain('[PARTIAL: lines 1-');
    expect((await open('huge2.txt', { limit: 3 })).text).toMatch(/^1\t0123.*\n2\t.*\n3\t0123\d*9$/);
    expect((await open('huge2.txt', { offset: 800_000 })).text).toContain('has 700000 lines');
    expect((await open('huge2.txt', { offset: 699_999 })).text).not.toContain('PARTIAL');
  });
});

describe('Read refuses', () => {
  it('directories, naming what lists them', async () => {
    const { text, isError } = await open('.');
    expect(isError).toBe(true);
    expect(text).toMatch(/directory.*Glob.*ls/);
  });

  it('binary files', async () => {
    make('a.bin', Buffer.from([1, 0, 2]));
    expect((await open('a.bin')).text).toMatch(/binary/);
  });

  it('pipes and devices, without waiting', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    expect(await open('pipe')).toMatchObject({ isError: true });
    symlinkSync('/dev/zero', at('zero'));
    expect((await open('zero')).text).toMatch(/device/);
  });

  it.each([
    ['/dev/zero', 'device'],
    ['/dev/../dev/fd/0', 'device'],
    ['/proc/self/environ', 'state of a process'],
    ['/proc/1/root/etc/passwd', 'state of a process'],
    ['/tmp/../proc/self', 'state of a process'],
    ['/proc/cpuinfo', undefined],
    ['/device/x', undefined],
    ['proc/self/environ', undefined],
  ])('the name %s before anybody is asked: %s', async (file_path, why) => {
    const problems = await read.validate({ file_path });
    expect(problems).toEqual(
      why === undefined ? [] : [{ path: '/file_path', message: expect.stringContaining(why) }],
    );
  });

  it('a text of more than 256 KB, unless a part of it is meant', async () => {
    make('big.txt', 'line of text\n'.repeat(30_000));
    expect(await open('big.txt')).toMatchObject({ isError: true });
    expect((await open('big.txt')).text).toContain('Give offset and limit');
    expect((await open('big.txt', { offset: 29_999 })).text).toContain('30000\tline of text');
    make('fits.txt', 'x'.repeat(256 * 1024));
    expect((await open('fits.txt')).isError).not.toBe(true);
  });

  it('missing files, naming one that is near', async () => {
    make('config.json', '{}');
    mkdirSync(at('sub'));
    expect((await open('confg.json')).text).toContain(`Did you mean ${at('config.json')}?`);
    expect((await open('config.yaml')).text).toContain(`Did you mean ${at('config.json')}?`);
    expect((await open('nothing-like-it')).text).toBe(`${at('nothing-like-it')} does not exist.`);
    expect((await open('no/where/x')).text).toContain('nor does the directory');
    expect((await open('config.json/x')).text).toContain('is a file');
  });

  it('paths that no system has', async () => {
    expect(await open('a\0b')).toMatchObject({ isError: true });
    expect(await open('n'.repeat(300))).toMatchObject({ isError: true });
  });
});

describe('Read of a file that the gate has looked at', () => {
  const found = (name: string, kind: 'file' | 'directory', real = at(name)) => ({
    access: 'read' as const,
    spellings: { literal: at(name), real, resolved: [real], kind },
  });
  const asked: string[] = [];
  const watched: FileSystem = {
    ...fs,
    stat: (one) => {
      asked.push(`stat ${path.basename(one)}`);
      return fs.stat(one);
    },
    realPath: (one) => {
      asked.push(`realPath ${path.basename(one)}`);
      return fs.realPath(one);
    },
  };
  const run = (name: string, ...touched: TouchedPath[]) => {
    asked.length = 0;
    const context = { ...host.context, touched };
    return readTool({ fs: watched }).run({ file_path: name }, context, {} as Permit);
  };

  it('is not looked up again', async () => {
    make('a.txt', 'one\n');
    symlinkSync('a.txt', at('link'));
    expect(await run('link', found('link', 'file', at('a.txt')))).toMatchObject({
      content: '1\tone',
    });
    expect(asked).toEqual([]);
    expect(host.readState.get(at('a.txt'))?.whole).toBe(true);
    expect(await run('a.txt', found('other', 'file'))).toMatchObject({
      isError: true,
      content: expect.stringContaining('was not judged with this call'),
    });
    expect(asked).toEqual([]);
  });

  it('gives the same as where it is looked up', async () => {
    make('text.txt', numbered(3));
    make('empty.txt', '');
    make('binary', Buffer.from([1, 0, 2]));
    make('broken', Buffer.from([0x61, 0xff, 0x62]));
    make('large.txt', numbered(40_000));
    make('book.ipynb', JSON.stringify({ cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    make('broken.pdf', '%PDF-1.7\nnothing');
    const names = [
      'text.txt',
      'empty.txt',
      'binary',
      'broken',
      'large.txt',
      'book.ipynb',
      'broken.pdf',
    ];
    for (const name of names) {
      const looked = await run(name);
      expect(asked).toContain(`stat ${name}`);
      const seen = host.readState.get(at(name));
      expect(await run(name, found(name, 'file'))).toEqual(looked);
      expect(asked).toEqual([]);
      expect(host.readState.get(at(name))).toEqual(seen);
    }
  });

  it('is refused when something else has taken its place', async () => {
    mkdirSync(at('now'));
    expect(await run('now', found('now', 'file'))).toMatchObject({
      isError: true,
      content: expect.stringContaining('is a directory'),
    });
    execFileSync('mkfifo', [at('pipe')]);
    expect(await run('pipe', found('pipe', 'file'))).toMatchObject({
      isError: true,
      content: expect.stringContaining('not a regular file'),
    });
    make('gone1.txt', '');
    expect(await run('gone.txt', found('gone.txt', 'file'))).toMatchObject({
      isError: true,
      content: expect.stringContaining('Did you mean'),
    });
  });

  it('does not count as seen under its name when another file was swapped in', async () => {
    make('judged.txt', 'judged\n');
    make('swapped.txt', 'swapped\n');
    symlinkSync('swapped.txt', at('link'));
    await run('link', found('link', 'file', at('judged.txt')));
    const seen = host.readState.get(at('judged.txt'));
    const now = { stat: await fsStat('judged.txt'), bytes: await fs.readBytes(at('judged.txt')) };
    expect(seen !== undefined && isSameVersion(seen, now)).toBe(false);
    expect(host.readState.get(at('swapped.txt'))).toBeUndefined();
  });

  const fsStat = async (name: string) => (await fs.stat(at(name))) ?? { mtimeMs: 0, size: 0 };
});

describe('Read of bytes in several encodings', () => {
  it('is not confused by a broken file before', async () => {
    make('broken', Buffer.from([0x61, 0xff, 0x62]));
    expect((await open('broken')).text).toContain('Not valid UTF-8');
    make('fine', 'ä\r\nb\r\n');
    expect((await open('fine')).text).toBe('1\tä\n2\tb');
  });
});
