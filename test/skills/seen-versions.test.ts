import {
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAgentWorld } from '../agents/definitions-rig.js';
import { openWorld, skillText } from './rig.js';

const SKILL = '.claude/skills/a/SKILL.md';
const AGENT = '.claude/agents/a.md';
const first = skillText('name: a-name\ndescription: The first words', 'ONE');
const second = skillText('name: a-name\ndescription: The other words', 'TWO');

/** Changes of a file right after the first look at it, by which its own times tell nothing. */
const CHANGES: readonly [string, (file: string) => void][] = [
  ['written', (file) => writeFileSync(file, second)],
  [
    'written with the times of before',
    (file) => {
      const { atime, mtime } = statSync(file);
      writeFileSync(file, second);
      utimesSync(file, atime, mtime);
    },
  ],
  [
    'in another directory of that name',
    (file) => {
      const directory = path.dirname(file);
      mkdirSync(`${directory}-new`);
      writeFileSync(path.join(`${directory}-new`, path.basename(file)), second);
      renameSync(directory, path.join(path.dirname(path.dirname(directory)), 'old'));
      renameSync(`${directory}-new`, directory);
    },
  ],
];

describe.each(CHANGES)('a file that is %s between the first look and the next', (_, change) => {
  it('is another skill', async () => {
    let asked = 0;
    const { book, project } = openWorld({
      files: { [SKILL]: first },
      veto: async () => {
        asked += 1;
        return undefined;
      },
    });
    expect((await book.offered())[0]?.head.description).toBe('The first words');
    const [old] = await book.offered();
    change(project.at(SKILL));
    await expect(old?.body()).rejects.toThrow('has changed');
    expect(await (await book.find('a'))?.body()).toBe('TWO');
    expect((await book.offered())[0]?.head.description).toBe('The other words');
    expect(asked).toBe(1);
  });

  it('is seen when skills are looked for again', async () => {
    const { book, project } = openWorld({
      files: { [SKILL]: first },
    });
    await book.offered();
    change(project.at(SKILL));
    expect(await book.refresh()).toBe(true);
    expect((await book.offered())[0]?.head.description).toBe('The other words');
    expect(await book.refresh()).toBe(false);
  });
});

describe('a file that stays as it was', () => {
  it('is nobody’s change, and is used as it was listed', async () => {
    let asked = 0;
    const { book } = openWorld({
      files: { [SKILL]: first },
      veto: async () => {
        asked += 1;
        return 'no';
      },
    });
    const [listed] = await book.offered();
    expect(await book.refresh()).toBe(false);
    expect((await book.offered())[0]?.head).toEqual(listed?.head);
    expect(await listed?.body()).toBe('ONE');
    expect(await (await book.find('a'))?.body()).toBe('ONE');
    expect(asked).toBe(0);
  });
});

describe('an agent', () => {
  it('is what its file says when it is started, and its prompt is of what was listed', async () => {
    const { book, project } = openAgentWorld({
      files: { [AGENT]: first },
    });
    const listed = (await book.list()).find(({ name }) => name === 'a-name');
    expect(listed?.description).toBe('The first words');
    writeFileSync(project.at(AGENT), second);
    expect(await listed?.prompt()).toBe('ONE');
    const found = await book.find('a-name');
    expect(found?.description).toBe('The other words');
    expect(await found?.prompt()).toBe('TWO');
    expect(await book.refresh()).toBe(false);
  });
});

describe('a link that takes the place of a file while it is looked at', () => {
  it.each([
    ['a head of plain words', 'name: a-name\ndescription: The first words'],
    ['a head for a YAML reader', 'name: a-name\ndescription: >-\n  The first\n  words'],
  ])('leads to nothing that is used: %s', async (_, head) => {
    let isDone = false;
    const { book, project } = openWorld({
      files: { [SKILL]: skillText(head, 'ONE'), secret: skillText(head, 'PRIVATE') },
      fs: (real) => ({
        ...real,
        async readWithStat(file, options) {
          if (!isDone && file === project.at(SKILL)) {
            isDone = true;
            rmSync(file);
            symlinkSync(project.at('secret'), file);
          }
          return await real.readWithStat(file, options);
        },
      }),
    });
    expect(await book.offered()).toEqual([]);
    expect(isDone).toBe(true);
    expect((await book.skipped())[0]?.reason).toContain('changed');
  });
});

describe('a file that says something else for the moment in which it is read', () => {
  it('is not used in those words', async () => {
    let isSwapped = false;
    const { book, project } = openWorld({
      files: { [SKILL]: first },
      fs: (real) => ({
        ...real,
        async readWithStat(file, options) {
          if (!isSwapped || file !== project.at(SKILL))
            return await real.readWithStat(file, options);
          writeFileSync(file, second);
          const read = await real.readWithStat(file, options);
          writeFileSync(file, first);
          return read;
        },
      }),
    });
    const [skill] = await book.offered();
    isSwapped = true;
    await expect(skill?.body()).rejects.toThrow('has changed');
  });
});
