import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bookWorld, never } from './book-rig.js';

const ALWAYS = 'project/.claude/rules/a/always.md';
const WAITING = 'project/.claude/rules/b/waiting.md';
const HEAD = '---\npaths: src/**\n---\n';
const RULES = { [ALWAYS]: 'R_ALWAYS', [WAITING]: `${HEAD}R_WAITING` };

describe('rules', () => {
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
