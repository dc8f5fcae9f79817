import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CallHost, callHost } from '../../../test/support/tool-call.js';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { createDrafts, writeDraftTool } from './drafts.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

const read = readTool({ fs });
const write = writeTool({ fs });
let host: CallHost;
const at = (name: string) => path.join(host.cwd, name);
const text = (name: string) => readFileSync(at(name), 'utf8');
const readIt = (file_path: string, more: object = {}) => host.call(read, { file_path, ...more });
const writeIt = (file_path: string, content: string) => host.call(write, { file_path, content });

beforeEach(() => {
  host = callHost();
});

describe('Write', () => {
  it('creates files and directories, empty ones too', async () => {
    const made = await writeIt('a/b.txt', 'hi\n');
    expect(made.structured).toEqual({
      type: 'create',
      filePath: at('a/b.txt'),
      content: 'hi\n',
      structuredPatch: [],
      originalFile: null,
    });
    expect(text('a/b.txt')).toBe('hi\n');
    await writeIt('empty', '');
    expect(text('empty')).toBe('');
  });

  it('names its file for the gate', () => {
    const subject = write.subject({ file_path: at('a.ts'), content: '' }, host.context.workspace);
    expect(subject).toEqual({
      paths: [{ path: at('a.ts'), access: 'write' }],
      summary: 'Write a.ts',
    });
    expect(write.concurrencySafe({ file_path: 'a', content: '' })).toBe(false);
  });

  it('replaces only what was read whole', async () => {
    writeFileSync(at('a.txt'), 'one\ntwo\nthree\n');
    expect((await writeIt('a.txt', 'x')).text).toMatch(/not read yet/);
    await readIt('a.txt', { limit: 1 });
    expect((await writeIt('a.txt', 'x')).text).toMatch(/Only a part/);
    expect(text('a.txt')).toBe('one\ntwo\nthree\n');
    await readIt('a.txt');
    const done = await writeIt('a.txt', 'one\n2\nthree\n');
    expect(done.structured).toMatchObject({
      type: 'update',
      originalFile: 'one\ntwo\nthree\n',
      structuredPatch: [{ oldStart: 1, oldLines: 3, lines: [' one', '-two', '+2', ' three'] }],
    });
  });

  it('may replace again what it wrote itself', async () => {
    await writeIt('a.txt', 'x');
    expect((await writeIt('a.txt', 'y')).isError).toBe(false);
    expect(text('a.txt')).toBe('y');
  });

  it('refuses when the file changed, however slightly, but not when only its time did', async () => {
    writeFileSync(at('a.txt'), 'abc');
    await readIt('a.txt');
    utimesSync(at('a.txt'), 1, 1);
    expect((await writeIt('a.txt', 'def')).isError).toBe(false);
    const { mtime } = statSync(at('a.txt'));
    writeFileSync(at('a.txt'), 'xyz');
    utimesSync(at('a.txt'), mtime, mtime);
    const refused = await writeIt('a.txt', 'ghi');
    expect(refused.text).toMatch(/changed since it was read/);
    expect(text('a.txt')).toBe('xyz');
  });

  it('creates anew what was deleted after it was read', async () => {
    await writeIt('a.txt', 'x');
    await fs.remove(at('a.txt'));
    expect((await writeIt('a.txt', 'y')).structured).toMatchObject({ type: 'create' });
  });

  it('keeps CRLF, byte order mark, encoding and mode', async () => {
    writeFileSync(at('a.txt'), '\ufeffa\r\nb\r\n');
    chmodSync(at('a.txt'), 0o755);
    await readIt('a.txt');
    await writeIt('a.txt', 'x\ny\n');
    expect(text('a.txt')).toBe('\ufeffx\r\ny\r\n');
    expect(statSync(at('a.txt')).mode & 0o777).toBe(0o755);
    await writeIt('a.txt', '\ufeffone\r\ntwo\r\n');
    expect(text('a.txt')).toBe('\ufeffone\r\ntwo\r\n');
    writeFileSync(at('16.txt'), Buffer.from('\ufeffé\n', 'utf16le'));
    await readIt('16.txt');
    await writeIt('16.txt', 'ö\n');
    expect(readFileSync(at('16.txt'))).toEqual(Buffer.from('\ufeffö\n', 'utf16le'));
  });

  it('leaves LF alone in a file that is mostly LF', async () => {
    writeFileSync(at('a.txt'), 'a\nb\nc\r\n');
    await readIt('a.txt');
    await writeIt('a.txt', 'x\ny\n');
    expect(text('a.txt')).toBe('x\ny\n');
  });

  it('writes through a link, which the read may have gone through or not', async () => {
    writeFileSync(at('real.txt'), 'a');
    symlinkSync('real.txt', at('link.txt'));
    await readIt('real.txt');
    expect((await writeIt('link.txt', 'b')).isError).toBe(false);
    expect(lstatSync(at('link.txt')).isSymbolicLink()).toBe(true);
    expect(text('real.txt')).toBe('b');
  });

  it('says why it cannot, and leaves nothing behind', async () => {
    mkdirSync(at('dir'));
    expect((await writeIt('dir', 'x')).text).toMatch(/is a directory/);
    const long = await writeIt('n'.repeat(300), 'x');
    expect(long.text).toMatch(/too long/i);
    writeFileSync(at('file'), '');
    expect((await writeIt('file/x', 'x')).text).toMatch(/not a directory/);
    expect(readdirSync(host.cwd).sort()).toEqual(['dir', 'file']);
  });
});

describe('WriteDraft', () => {
  it('completes the Write that was cut off, until its file is written', async () => {
    const drafts = createDrafts();
    const tool = writeDraftTool(drafts);
    const writing = writeTool({ fs, drafts });
    const draft_id = drafts.keep({ path: at('a.txt'), content: 'begin ' });
    const input = { file_path: at('a.txt'), content: 'begin end' };
    expect(tool.completes?.({ draft_id, append: 'end' })).toEqual({ tool: 'Write', input });
    expect((await host.call(writing, input)).isError).toBe(false);
    expect(tool.completes?.({ draft_id })).toBeUndefined();
    expect((await host.call(tool, { draft_id })).text).toMatch(/no draft/);
  });

  it('keeps the draft while its file could not be written', async () => {
    writeFileSync(at('a.txt'), 'old');
    const drafts = createDrafts();
    const writing = writeTool({ fs, drafts });
    const draft_id = drafts.keep({ path: at('a.txt'), content: 'new' });
    const input = { file_path: at('a.txt'), content: 'new' };
    expect(writeDraftTool(drafts).completes?.({ draft_id })?.input).toEqual(input);
    expect((await host.call(writing, input)).text).toMatch(/not read yet/);
    await readIt('a.txt');
    expect((await host.call(writing, input)).isError).toBe(false);
    expect(text('a.txt')).toBe('new');
  });
});
