import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PortcullisError } from '../../errors.js';
import { nodeFileSystem as fs } from './node-fs.js';

let root: string;
const at = (...parts: string[]) => path.join(root, ...parts);
const modeOf = (file: string) => statSync(file).mode & 0o777;

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'portcullis-fs-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
});

describe('writeAtomic', () => {
  it('makes files and missing directories, and leaves nothing else behind', async () => {
    await fs.writeAtomic(at('a', 'b', 'c.txt'), 'héllo');
    expect(readFileSync(at('a', 'b', 'c.txt'), 'utf8')).toBe('héllo');
    expect(readdirSync(at('a', 'b'))).toEqual(['c.txt']);
  });

  it.each([0o755, 0o600, 0o640])('keeps the mode %o of an existing file', async (mode) => {
    writeFileSync(at('f'), 'old');
    chmodSync(at('f'), mode);
    await fs.writeAtomic(at('f'), 'new', { mode: 0o666 });
    expect(modeOf(at('f'))).toBe(mode);
    expect(readFileSync(at('f'), 'utf8')).toBe('new');
  });

  it('gives a new file the mode asked for, whatever the umask', async () => {
    await fs.writeAtomic(at('secret'), 'x', { mode: 0o600 });
    expect(modeOf(at('secret'))).toBe(0o600);
    await fs.writeAtomic(at('shared'), 'x', { mode: 0o666 });
    expect(modeOf(at('shared'))).toBe(0o666);
  });

  it.runIf(process.getuid?.() === 0)('keeps the owner when it may', async () => {
    writeFileSync(at('f'), 'old');
    chownSync(at('f'), 1234, 2345);
    await fs.writeAtomic(at('f'), 'new');
    expect(statSync(at('f'))).toMatchObject({ uid: 1234, gid: 2345 });
  });

  it('replaces the file rather than changing it, so that a reader keeps what it opened', async () => {
    writeFileSync(at('f'), 'old');
    const before = statSync(at('f')).ino;
    await fs.writeAtomic(at('f'), 'new');
    expect(statSync(at('f')).ino).not.toBe(before);
  });

  it('writes through a link, also one to nothing yet', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real', 'f'), 'old');
    symlinkSync('real/f', at('link'));
    symlinkSync('real/missing', at('dangling'));
    await fs.writeAtomic(at('link'), 'new');
    await fs.writeAtomic(at('dangling'), 'made');
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(at('real', 'f'), 'utf8')).toBe('new');
    expect(readFileSync(at('real', 'missing'), 'utf8')).toBe('made');
  });

  it('keeps hard links together', async () => {
    writeFileSync(at('one'), 'a longer old text');
    linkSync(at('one'), at('two'));
    await fs.writeAtomic(at('one'), 'new');
    expect(readFileSync(at('two'), 'utf8')).toBe('new');
    expect(statSync(at('one')).nlink).toBe(2);
  });

  it('writes large data whole', async () => {
    const data = Buffer.alloc(3 * 1024 * 1024, 'x');
    await fs.writeAtomic(at('big'), data);
    expect(statSync(at('big')).size).toBe(data.length);
    await fs.writeAtomic(at('big'), 'é'.repeat(300_000));
    expect(statSync(at('big')).size).toBe(600_000);
  });

  it.each([
    ['a directory', 'EISDIR', () => mkdirSync(at('t')), 't', /is a directory/],
    [
      'a path through a file',
      'ENOTDIR',
      () => writeFileSync(at('t'), ''),
      't/x',
      /not a directory/,
    ],
    ['a name too long', 'ENAMETOOLONG', () => {}, 'n'.repeat(300), /name is too long/],
    ['a loop of links', 'ELOOP', () => symlinkSync('t', at('t')), 't', /circle/],
    ['a pipe', '', () => execFileSync('mkfifo', [at('t')]), 't', /pipe/],
  ])('explains %s and leaves no temporary file', async (_what, code, prepare, name, message) => {
    prepare();
    const before = readdirSync(root);
    const failed = await fs.writeAtomic(at(name), 'x').catch((thrown: unknown) => thrown);
    expect(failed).toBeInstanceOf(PortcullisError);
    expect(failed).toMatchObject({ code: 'io', message: expect.stringMatching(message) });
    expect((failed as PortcullisError).message).toContain(at(name));
    expect((failed as PortcullisError).remedy).toBeTruthy();
    if (code !== '') expect((failed as PortcullisError).cause).toBeDefined();
    expect(readdirSync(root)).toEqual(before);
  });

  it('takes a name as long as names can be', async () => {
    const name = 'n'.repeat(255);
    await fs.writeAtomic(at(name), 'x');
    await fs.writeAtomic(at(name), 'y');
    expect(readdirSync(root)).toEqual([name]);
  });

  it('removes its temporary file when the data cannot be written', async () => {
    writeFileSync(at('f'), 'old');
    // Nobody can write what is no data at all.
    await expect(fs.writeAtomic(at('f'), { length: 1 } as unknown as string)).rejects.toThrow();
    expect(readdirSync(root)).toEqual(['f']);
    expect(readFileSync(at('f'), 'utf8')).toBe('old');
  });

  describe.runIf(process.getuid?.() === 0)('as a user with fewer rights', () => {
    /** Runs with the rights of nobody; the files keep what they were given before. */
    async function asNobody<T>(act: () => Promise<T>): Promise<T> {
      process.setegid?.(65534);
      process.seteuid?.(65534);
      try {
        return await act();
      } finally {
        process.seteuid?.(0);
        process.setegid?.(0);
      }
    }

    it('does not get past a read-only mark', async () => {
      chmodSync(root, 0o777);
      writeFileSync(at('f'), 'old');
      chownSync(at('f'), 65534, 65534);
      chmodSync(at('f'), 0o444);
      const failed = asNobody(() => fs.writeAtomic(at('f'), 'new'));
      await expect(failed).rejects.toThrow(/permission denied/);
      expect(readdirSync(root)).toEqual(['f']);
    });

    it('writes in place where the directory takes no new names', async () => {
      chmodSync(root, 0o755);
      writeFileSync(at('f'), 'old');
      chmodSync(at('f'), 0o666);
      await asNobody(() => fs.writeAtomic(at('f'), 'new'));
      expect(readFileSync(at('f'), 'utf8')).toBe('new');
      await expect(asNobody(() => fs.writeAtomic(at('g'), 'x'))).rejects.toThrow(/denied/);
      expect(readdirSync(root)).toEqual(['f']);
    });

    it('writes in place what belongs to somebody else, who keeps it', async () => {
      chmodSync(root, 0o777);
      writeFileSync(at('f'), 'old');
      chownSync(at('f'), 1234, 2345);
      chmodSync(at('f'), 0o666);
      await asNobody(() => fs.writeAtomic(at('f'), 'new'));
      expect(statSync(at('f'))).toMatchObject({ uid: 1234, gid: 2345 });
      expect(readFileSync(at('f'), 'utf8')).toBe('new');
      expect(readdirSync(root)).toEqual(['f']);
    });
  });
});

describe('reading', () => {
  it('gives bytes and text, without a byte order mark', async () => {
    writeFileSync(at('f'), '\ufeffhé');
    expect(await fs.readText(at('f'))).toBe('hé');
    expect([...(await fs.readBytes(at('f')))].slice(0, 3)).toEqual([0xef, 0xbb, 0xbf]);
    expect(Buffer.from(await fs.readHead(at('f'), 2)).toString('hex')).toBe('efbb');
    expect(await fs.readHead(at('f'), 100)).toHaveLength(6);
  });

  it('gives an empty file, a large one and one of the maximum size', async () => {
    writeFileSync(at('empty'), '');
    writeFileSync(at('large'), Buffer.alloc(1024 * 1024, 'a'));
    expect(await fs.readBytes(at('empty'))).toHaveLength(0);
    expect(await fs.readBytes(at('large'))).toHaveLength(1024 * 1024);
    expect(await fs.readBytes(at('large'), { maxBytes: 1024 * 1024 })).toHaveLength(1024 * 1024);
    await expect(fs.readBytes(at('large'), { maxBytes: 1000 })).rejects.toThrow(/larger than/);
  });

  it.runIf(process.platform === 'linux')('reads files that hide their size', async () => {
    expect(await fs.readText('/proc/self/status')).toContain('Name:');
    await expect(fs.readBytes('/proc/self/status', { maxBytes: 10 })).rejects.toThrow(/larger/);
  });

  it('gives the facts of what it read, and no content of what is too large', async () => {
    writeFileSync(at('f'), 'four');
    const { stat, bytes } = await fs.readWithStat(at('f'), { maxBytes: 4 });
    expect(stat).toEqual(await fs.stat(at('f')));
    expect(Buffer.from(bytes ?? []).toString()).toBe('four');
    const large = await fs.readWithStat(at('f'), { maxBytes: 3 });
    expect(large).toEqual({ stat });
    await expect(fs.readWithStat(root, { maxBytes: 3 })).rejects.toThrow('is a directory');
    await expect(fs.readWithStat(at('none'), { maxBytes: 3 })).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it('throws the system’s error for a missing file, so that callers can tell', async () => {
    await expect(fs.readText(at('none'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await fs.stat(at('none', 'deeper'))).toBeUndefined();
  });

  it('never waits for a pipe or a device', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    await expect(fs.readBytes(at('pipe'))).rejects.toThrow(/not a regular file/);
    await expect(fs.readHead('/dev/zero', 10)).rejects.toThrow(/not a regular file/);
    await expect(fs.readBytes(root)).rejects.toThrow(/directory/);
    expect(await fs.stat(at('pipe'))).toMatchObject({ kind: 'other' });
  });

  it('streams in pieces', async () => {
    writeFileSync(at('f'), Buffer.alloc(2_500_000, 'a'));
    let total = 0;
    for await (const chunk of fs.stream(at('f'))) total += chunk.length;
    expect(total).toBe(2_500_000);
    for await (const chunk of fs.stream(at('f'))) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
  });
});

describe('directories and links', () => {
  it('lists sorted, with kinds', async () => {
    writeFileSync(at('b'), '');
    mkdirSync(at('a'));
    symlinkSync('b', at('c'));
    expect(await fs.list(root)).toEqual([
      { name: 'a', kind: 'directory' },
      { name: 'b', kind: 'file' },
      { name: 'c', kind: 'symlink' },
    ]);
  });

  it('removes files, links and empty directories, trees only when told', async () => {
    mkdirSync(at('tree', 'deep'), { recursive: true });
    symlinkSync('tree', at('link'));
    await fs.remove(at('link'));
    await fs.remove(at('none'));
    await expect(fs.remove(at('tree'))).rejects.toThrow();
    await fs.remove(at('tree'), { recursive: true });
    expect(readdirSync(root)).toEqual([]);
  });

  it('resolves links, of missing files too, and where a link to nothing would lead', async () => {
    mkdirSync(at('real'));
    symlinkSync('real', at('link'));
    symlinkSync('../outside', at('real', 'dangling'));
    symlinkSync('loop', at('loop'));
    expect(await fs.realPath(at('link', 'x', 'y'))).toBe(at('real', 'x', 'y'));
    expect(await fs.realPath(at('link', 'dangling'))).toBe(at('outside'));
    expect(await fs.realPath(at('link', 'dangling', 'z'))).toBe(at('outside', 'z'));
    const deep = Array.from({ length: 50 }, () => 'd');
    expect(await fs.realPath(at('link', 'dangling', ...deep))).toBe(at('outside', ...deep));
    expect(await fs.realPath(at('link', ...deep))).toBe(at('real', ...deep));
    await expect(fs.realPath(at('loop'))).rejects.toThrow();
  });

  it('takes .. of a link to nothing from the place that was reached, as the system does', async () => {
    mkdirSync(at('project'));
    mkdirSync(at('deep', 'er'), { recursive: true });
    symlinkSync('../deep/er', at('project', 'way'));
    symlinkSync('way/../new', at('project', 'link'));
    symlinkSync('nowhere/..', at('project', 'back'));
    symlinkSync('../deep', at('project', 'out'));
    expect(await fs.realPath(at('project', 'link'))).toBe(at('deep', 'new'));
    expect(await fs.realPath(at('project', 'link', 'x'))).toBe(at('deep', 'new', 'x'));
    expect(await fs.realPath(at('project', 'back', 'out', 'x'))).toBe(at('deep', 'x'));
    writeFileSync(at('project', 'link'), '');
    expect(existsSync(at('deep', 'new'))).toBe(true);
  });

  it('ends where links to nothing name each other again and again', async () => {
    for (let n = 0; n < 30; n++) symlinkSync(`${n + 1}/../${n + 1}/../${n + 1}`, at(String(n)));
    await expect(fs.realPath(at('0'))).rejects.toThrow('too many symbolic links');
  });

  it('writes where a link leads, also in a directory that is reached by one', async () => {
    mkdirSync(at('project', '1', '2', '3'), { recursive: true });
    symlinkSync('1/2/3', at('project', 'way'));
    symlinkSync('../../file', at('project', '1', '2', '3', 'link'));
    const link = at('project', 'way', 'link');
    expect(await fs.realPath(link)).toBe(at('project', '1', 'file'));
    await fs.writeAtomic(link, 'new');
    await fs.writeAtomic(link, 'newer');
    expect(readFileSync(at('project', '1', 'file'), 'utf8')).toBe('newer');
    expect(existsSync(at('file'))).toBe(false);
  });
});
