import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from './clock.js';
import { type FileMemory, fileMemoryOf, openFileMemory } from './file-memory.js';
import type { FileStat } from './fs.js';
import { nodeFileSystem } from './node-fs.js';
import { rememberedList, rememberedNow } from './remembered-list.js';
import { SeenText } from './seen-text.js';

let top: string;
let root: string;
let file: string;
let stateDirectory: string;

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'portcullis-memory-'));
  root = path.join(top, 'project');
  stateDirectory = path.join(top, 'state');
  mkdirSync(root);
  file = path.join(root, 'a.md');
  writeFileSync(file, 'one');
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(top, { recursive: true, force: true });
});

const open = (): FileMemory => openFileMemory({ stateDirectory, root });
const stat = (at = file): FileStat => {
  const found = nodeFileSystem.statNow?.(at);
  if (found === undefined) throw new Error(`there is no ${at}`);
  return found;
};
/** As if some time had passed since the files were written. */
const later = (ms = 10_000): void => {
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now + ms);
};
const kept = (): string => {
  const directory = path.join(stateDirectory, 'files');
  return path.join(directory, readdirSync(directory)[0] ?? '');
};
/** Notes what the file says, for the next start. */
const noteAndKeep = (): void => {
  const memory = open();
  memory.note('text', file, stat(), 'one');
  memory.keep();
};
/** The memory answers for file systems whose times are the kernel's own. */
const isHonest = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630].includes(
  statfsSync(tmpdir()).type,
);

describe.runIf(process.platform === 'linux' && isHonest)('what files said', () => {
  it('is known to the next start, for the same version of the same file and name', () => {
    later();
    noteAndKeep();
    expect(open().recall('text', file, stat())).toBe('one');
    expect(open().recall('other', file, stat())).toBeUndefined();
    expect(open().recall('constructor', file, stat())).toBeUndefined();
    expect(open().recall('text', `${file}x`, stat())).toBeUndefined();
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    expect(lstatSync(path.dirname(kept())).mode & 0o777).toBe(0o700);
    expect(readdirSync(path.dirname(kept()))).toHaveLength(1);
  });

  it('is taken when the file is not of the last moments', () => {
    const isNoted = (version: FileStat): boolean => {
      const memory = open();
      let isAsked = false;
      memory.note('text', file, version, () => {
        isAsked = true;
        return 'one';
      });
      expect(memory.recall('text', file, version)).toBe(isAsked ? 'one' : undefined);
      return isAsked;
    };
    expect(isNoted(stat())).toBe(false);
    later();
    expect(isNoted(stat())).toBe(true);
    expect(isNoted({ ...stat(), device: -1 })).toBe(false);
  });

  it('is noted of a text that was seen when all is kept, where the file still says it', () => {
    const other = path.join(root, 'b.md');
    writeFileSync(other, 'two');
    later();
    const memory = open();
    for (const [at, text] of [
      [file, 'one'],
      [other, 'two'],
    ] as const) {
      const seen = new SeenText(nodeFileSystem, at, { text });
      memory.note('text', at, seen, () => text);
    }
    expect(memory.recall('text', file, stat())).toBeUndefined();
    const { atime, mtime } = statSync(other);
    writeFileSync(other, '222');
    utimesSync(other, atime, mtime);
    memory.keep();
    expect(open().recall('text', file, stat())).toBe('one');
    expect(open().knows(other)).toBe(false);
  });

  it('is not noted of a text that was seen while the file is of the last moments', () => {
    const memory = open();
    const seen = new SeenText(nodeFileSystem, file, { text: 'one' });
    // Found out now; that some time passes afterwards makes it no better.
    expect(seen.facts()).toEqual(stat());
    memory.note('text', file, seen, 'one');
    memory.note('text', file, new SeenText(nodeFileSystem, file, { text: 'one', stat: stat() }), 1);
    memory.keep();
    expect(existsSync(stateDirectory)).toBe(false);
  });

  it('is not believed of a file of the same size whose time was set back', () => {
    later();
    const { mtimeMs } = statSync(file);
    noteAndKeep();
    writeFileSync(file, 'two');
    utimesSync(file, mtimeMs / 1000, mtimeMs / 1000);
    expect(stat().size).toBe(3);
    expect(open().recall('text', file, stat())).toBeUndefined();
  });

  it('is not believed of another file that was put in its place', () => {
    later();
    const other = path.join(root, 'b.md');
    writeFileSync(other, 'two');
    const { mtimeMs } = statSync(file);
    utimesSync(other, mtimeMs / 1000, mtimeMs / 1000);
    noteAndKeep();
    renameSync(other, file);
    expect(open().recall('text', file, stat())).toBeUndefined();
  });

  it('is not believed of a link that was turned', () => {
    later();
    const link = path.join(root, 'link.md');
    const other = path.join(root, 'b.md');
    writeFileSync(other, 'two');
    symlinkSync(file, link);
    const memory = open();
    memory.note('text', link, stat(link), 'one');
    memory.keep();
    expect(open().recall('text', link, stat(link))).toBe('one');
    unlinkSync(link);
    symlinkSync(other, link);
    expect(open().recall('text', link, stat(link))).toBeUndefined();
  });

  it.each([
    ['device', { device: 1 }],
    ['inode', { inode: 1 }],
    ['size', { size: 4 }],
    ['mtimeMs', { mtimeMs: 1 }],
    ['ctimeMs', { ctimeMs: 1 }],
  ])('is not believed when %s differs', (_name, other) => {
    later();
    noteAndKeep();
    expect(open().recall('text', file, { ...stat(), ...other })).toBeUndefined();
  });

  it('is not kept of a file that was changed just now, nor when the clock stands before its times', () => {
    for (const ms of [0, 1_900, -60_000]) {
      later(ms);
      noteAndKeep();
      expect(existsSync(path.join(stateDirectory, 'files'))).toBe(false);
      vi.restoreAllMocks();
    }
    later();
    utimesSync(file, Date.now() / 1000 + 1e6, Date.now() / 1000 + 1e6);
    noteAndKeep();
    expect(existsSync(path.join(stateDirectory, 'files'))).toBe(false);
  });

  it.each([
    [Number.NaN],
    [-0],
    [new Date(0)],
    [{ inner: [new Map()] }],
    [[undefined]],
    [() => () => 'one'],
    [10n],
    [Object.create({ of: 'elsewhere' })],
  ])('is not kept when it would come back as something else: %s', (odd) => {
    later();
    const memory = open();
    memory.note('text', file, stat(), odd);
    expect(memory.recall('text', file, stat())).toBeUndefined();
    memory.keep();
    expect(existsSync(path.join(stateDirectory, 'files'))).toBe(false);
  });

  it('is not kept of a file on another device, nor of one whose times are not known', () => {
    later();
    const memory = open();
    memory.note('text', file, { ...stat(), device: 1 }, 'one');
    const { ctimeMs: _, ...timeless } = stat();
    memory.note('text', file, timeless, 'one');
    memory.keep();
    expect(existsSync(path.join(stateDirectory, 'files'))).toBe(false);
  });
});

describe.runIf(process.platform === 'linux' && isHonest)('a memory is passed over', () => {
  it.each<[string, () => void]>([
    ['cut short', () => truncateSync(kept(), 100)],
    ['empty', () => truncateSync(kept(), 0)],
    ['no JSON', () => writeFileSync(kept(), 'x')],
    ['no object', () => writeFileSync(kept(), '[]')],
    ['readable by others', () => chmodSync(kept(), 0o644)],
    ['writable by its group', () => chmodSync(kept(), 0o620)],
    ['of another version', () => edit((text) => text.replace(/"version":"/, '"version":"9'))],
    ['of another format', () => edit((text) => text.replace(/"format":\d+/, '"format":0'))],
    ['of another project', () => edit((text) => text.replace(/"root":"/, '"root":"/x'))],
    ['of another device', () => edit((text) => text.replace(/"device":\d+/, '"device":1'))],
    [
      'with entries of another shape',
      () => edit((text) => text.replace(/"files":\[\[/, '"files":[[1,')),
    ],
    [
      'a link',
      () => {
        renameSync(kept(), path.join(top, 'elsewhere'));
        symlinkSync(path.join(top, 'elsewhere'), path.join(stateDirectory, 'files', nameOfKept()));
      },
    ],
  ])('that is %s', (_what, change) => {
    later();
    noteAndKeep();
    change();
    expect(open().recall('text', file, stat())).toBeUndefined();
  });

  it.runIf(process.getuid?.() === 0)('that belongs to somebody else', () => {
    later();
    noteAndKeep();
    chownSync(kept(), 12_345, 12_345);
    expect(open().recall('text', file, stat())).toBeUndefined();
  });

  it('that a repository would bring along', () => {
    later();
    stateDirectory = path.join(root, '.portcullis');
    noteAndKeep();
    expect(existsSync(stateDirectory)).toBe(false);
    mkdirSync(stateDirectory);
    expect(open().recall('text', file, stat())).toBeUndefined();
  });

  it('that cannot be written, and nothing is said', () => {
    later();
    writeFileSync(stateDirectory, 'a file');
    expect(noteAndKeep).not.toThrow();
  });
});

describe.runIf(process.platform === 'linux' && isHonest)('a drawer', () => {
  it('has notes of its own in a file of its own, and is kept with the rest', () => {
    later();
    const memory = open();
    memory.note('text', file, stat(), 'one');
    memory.drawer('trust').note('text', file, stat(), 'two');
    expect(memory.drawer('trust')).toBe(memory.drawer('trust'));
    expect(memory.recall('text', file, stat())).toBe('one');
    memory.keep();
    expect(readdirSync(path.dirname(kept()))).toHaveLength(2);
    expect(open().recall('text', file, stat())).toBe('one');
    expect(open().drawer('trust').recall('text', file, stat())).toBe('two');
    expect(open().drawer('other').knows(file)).toBe(false);
  });

  it('that nobody asked about is neither read nor written', () => {
    later();
    const memory = open();
    memory.drawer('trust').look(file, stat());
    memory.note('text', file, stat(), 'one');
    memory.keep();
    expect(readdirSync(path.dirname(kept()))).toHaveLength(1);
  });

  it('shares what was looked at', () => {
    const memory = open();
    const seen = stat();
    memory.drawer('trust').look(file, seen);
    expect(memory.lookedAt(file)).toBe(seen);
    expect(memory.drawer('trust').lookedAt(file)).toBeUndefined();
  });

  it.each([
    ['at its last write', 5_000, 5_000, 6_000],
    ['after its last write', 5_000, 6_000, 5_000],
  ])('answers for a file that was last changed %s', (_when, mtimeMs, ctimeMs, other) => {
    const version: FileStat = { ...stat(), mtimeMs, ctimeMs };
    const memory = open();
    memory.note('text', file, version, 'one');
    memory.keep();
    expect(open().recall('text', file, version)).toBe('one');
    expect(open().recall('text', file, { ...version, ctimeMs: other })).toBeUndefined();
    expect(open().recall('text', file, { ...version, ctimeMs: 0 })).toBeUndefined();
  });
});

/** Keeps the mode, so that only the content decides. */
function edit(change: (text: string) => string): void {
  writeFileSync(kept(), change(readFileSync(kept(), 'utf8')));
}

function nameOfKept(): string {
  return `${root.replace(/[^A-Za-z0-9]/g, '-')}.json`;
}

describe('a look', () => {
  it('holds once, for moments, and for one project', () => {
    const memory = fileMemoryOf({ stateDirectory, root });
    expect(fileMemoryOf({ stateDirectory, root })).toBe(memory);
    expect(fileMemoryOf({ stateDirectory, root: top })).not.toBe(memory);
    const seen = new SeenText(nodeFileSystem, file, { text: 'seen' });
    memory.look(file, seen);
    expect(memory.lookedAt(file)).toBe(seen);
    expect(memory.lookedAt(file)).toBeUndefined();
    memory.look(file, stat());
    const now = systemClock.monotonic();
    vi.spyOn(systemClock, 'monotonic').mockReturnValue(now + 5_000);
    expect(memory.lookedAt(file)).toBeUndefined();
  });
});

describe.runIf(process.platform === 'linux' && isHonest)('the list of a directory', () => {
  it('is that of last time until something comes, goes or gets another name', async () => {
    later();
    mkdirSync(path.join(root, 'sub'));
    symlinkSync(file, path.join(root, 'link'));
    const memory = open();
    const first = await rememberedList(nodeFileSystem, root, memory);
    expect(first).toEqual(await nodeFileSystem.list(root));
    expect(rememberedNow(nodeFileSystem, root, open())).toEqual(first);
    memory.keep();
    const again = open();
    expect(rememberedNow(nodeFileSystem, root, again)).toEqual(first);
    renameSync(file, path.join(root, 'c.md'));
    expect(rememberedNow(nodeFileSystem, root, again)).toEqual(await nodeFileSystem.list(root));
    expect(await rememberedList(nodeFileSystem, root, again)).toEqual(
      await nodeFileSystem.list(root),
    );
  });

  it('is listed anew when what is remembered is no list', async () => {
    later();
    const memory = open();
    for (const odd of ['fa.md', ['fa.md', 7], ['xa.md'], { 0: 'fa.md' }]) {
      memory.note('list', root, stat(root), odd);
      expect(rememberedNow(nodeFileSystem, root, memory)).toEqual(await nodeFileSystem.list(root));
      memory.note('list', root, stat(root), odd);
      expect(await rememberedList(nodeFileSystem, root, memory)).toHaveLength(1);
    }
    await expect(rememberedList(nodeFileSystem, file, memory)).rejects.toThrow();
    expect(rememberedNow(nodeFileSystem, file, memory)).toBeUndefined();
    expect(rememberedNow(nodeFileSystem, path.join(root, 'none'), memory)).toEqual([]);
  });
});
