import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FileMemory, NO_MEMORY } from '../../src/env/file-memory.js';
import type { FileSystem } from '../../src/env/fs.js';
import { nodeFileSystem } from '../../src/env/node-fs.js';
import { bookWorld, never } from './book-rig.js';

const ALWAYS = 'project/.claude/rules/a/always.md';
const WAITING = 'project/.claude/rules/b/waiting.md';
const HEAD = '---\npaths: src/**\n---\n';
const RULES = { [ALWAYS]: 'R_ALWAYS', [WAITING]: `${HEAD}R_WAITING` };

/** A disk that tells which rule files were looked at, read and resolved. */
function watchedFileSystem() {
  const seen = { lstat: [] as string[], read: [] as string[], realPath: [] as string[] };
  const note = (list: string[], file: string): void => {
    if (file.endsWith('.md') && file.includes('/rules/')) list.push(path.basename(file));
  };
  const { lstatNow, readTextNow } = nodeFileSystem;
  if (lstatNow === undefined || readTextNow === undefined) throw new Error('no look at once');
  const fs: FileSystem = {
    ...nodeFileSystem,
    lstatNow(file) {
      note(seen.lstat, file);
      return lstatNow(file);
    },
    readTextNow(file, options) {
      note(seen.read, file);
      return readTextNow(file, options);
    },
    readBytes(file, options) {
      note(seen.read, file);
      return nodeFileSystem.readBytes(file, options);
    },
    realPath(file) {
      note(seen.realPath, file);
      return nodeFileSystem.realPath(file);
    },
  };
  return { fs, seen };
}

function memoryOf(said: ReadonlyMap<string, unknown>): FileMemory & { noted: string[] } {
  const noted: string[] = [];
  const memory: FileMemory & { noted: string[] } = {
    ...NO_MEMORY,
    noted,
    drawer: (name) => (name === 'rules' ? memory : NO_MEMORY),
    knows: (file) => said.has(path.basename(file)),
    recall: (_, file) => said.get(path.basename(file)),
    note: (_, file) => void noted.push(path.basename(file)),
  };
  return memory;
}

describe('plain rules', () => {
  it('are opened once each, and neither looked at before nor resolved', async () => {
    const world = bookWorld(RULES);
    const { fs, seen } = watchedFileSystem();
    const memory = memoryOf(new Map());
    expect(world.texts(await world.book({ fs, memory }).open())).toEqual(['R_ALWAYS']);
    expect(seen).toEqual({ lstat: [], read: ['always.md', 'waiting.md'], realPath: [] });
    // What applies always has to be read at the next start anyway.
    expect(memory.noted).toEqual(['waiting.md']);
  });

  it('that are known to wait are not read before they come into play', async () => {
    const world = bookWorld(RULES);
    const { fs, seen } = watchedFileSystem();
    const memory = memoryOf(new Map([['waiting.md', ['src/**']]]));
    const book = world.book({ fs, memory });
    expect(world.texts(await book.open())).toEqual(['R_ALWAYS']);
    expect(seen).toEqual({ lstat: ['waiting.md'], read: ['always.md'], realPath: [] });
    const touched = await book.touched([world.at('src/x.ts')], never);
    expect(world.texts(touched)).toEqual(['R_WAITING']);
  });

  it.each([['always'], [[]], [[1]], [{}]])(
    'are read when %o is remembered of them',
    async (said) => {
      const world = bookWorld(RULES);
      const { fs, seen } = watchedFileSystem();
      await world.book({ fs, memory: memoryOf(new Map([['waiting.md', said]])) }).open();
      expect(seen.read).toEqual(['always.md', 'waiting.md']);
    },
  );

  it('that did not change are not resolved again', async () => {
    const world = bookWorld(RULES);
    const { fs, seen } = watchedFileSystem();
    const book = world.book({ fs });
    await book.enforced();
    seen.read.length = 0;
    expect(await book.changed()).toEqual([]);
    expect(await book.enforcedAgain()).toBeUndefined();
    expect(seen).toEqual({ lstat: ['always.md', 'always.md'], read: [], realPath: [] });
  });

  it('are shown and enforced anew when they changed, also with their old times', async () => {
    const world = bookWorld({ ...RULES, [ALWAYS]: 'R_BEFORE' });
    const file = path.join(world.root, ALWAYS);
    const book = world.book();
    await book.enforced();
    utimesSync(file, 1_000, 1_000);
    expect(await book.changed()).toEqual([]);
    writeFileSync(file, 'R_BEHIND');
    utimesSync(file, 1_000, 1_000);
    expect((await book.changed()).map(({ text }) => text)).toEqual(['R_BEHIND']);
    expect(await book.enforcedAgain()).toBeDefined();
  });

  it('are told gone, and shown again when they are back', async () => {
    const world = bookWorld(RULES);
    const file = path.join(world.root, ALWAYS);
    const book = world.book();
    await book.open();
    renameSync(file, `${file}.away`);
    expect((await book.changed()).map(({ text }) => text)).toEqual(['']);
    renameSync(`${file}.away`, file);
    expect((await book.changed()).map(({ text }) => text)).toEqual(['R_ALWAYS']);
  });

  it('that became links are followed with care', async () => {
    const world = bookWorld({ ...RULES, 'outside/secret.md': 'SECRET' });
    const file = path.join(world.root, ALWAYS);
    const book = world.book();
    await book.open();
    rmSync(file);
    symlinkSync(path.join(world.root, 'outside/secret.md'), file);
    expect((await book.changed()).map(({ text }) => text)).toEqual(['']);
    expect(world.skipped(await world.book().open())).toEqual([`${ALWAYS}: external`]);
  });

  it('that are not UTF-8, or no text, are named as before', async () => {
    const world = bookWorld({
      [ALWAYS]: Uint8Array.of(0x41, 0xff, 0x42),
      'project/.claude/rules/a/nul.md': Uint8Array.of(0x41, 0, 0x42),
      'project/.claude/rules/a/sign.md': 'A \ufffd that somebody wrote',
    });
    const found = await world.book().open();
    expect(found.files.map(({ notes }) => notes.length)).toEqual([1, 0]);
    expect(world.skipped(found)).toEqual(['project/.claude/rules/a/nul.md: not text']);
  });

  it('keep to a mark before the text and to the line breaks of others', async () => {
    const world = bookWorld({
      [ALWAYS]: '\ufeffA\r\nB',
      [WAITING]: `\ufeff${HEAD.replaceAll('\n', '\r\n')}W\r\nX`,
    });
    const book = world.book();
    expect(world.texts(await book.open())).toEqual(['A\nB']);
    const touched = await book.touched([world.at('src/x.ts')], never);
    expect(world.texts(touched)).toEqual(['W\nX']);
  });
});
