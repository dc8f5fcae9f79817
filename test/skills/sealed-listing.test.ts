import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openSkillListings } from '../../src/harness/skill-listing.js';
import { openSkillBook } from '../../src/skills/book.js';
import { skillListing } from '../../src/skills/listing.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { oneSkill, skillText } from './rig.js';
import { at, type Change, memoryOf, moveOut, placesOf, settled, write } from './sealed-rig.js';

const WINDOW = 200_000;
const everyday = (name: string, description: string) => ({
  [`.claude/skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: ${description}\n---\n\nBody.\n`,
});
const EVERYDAY = { ...everyday('one', 'The first.'), ...everyday('two', 'The second.') };
const FILES = { ...oneSkill('one', 'The first.'), ...oneSkill('two', 'The second.') };

const ready = new Map<string, TempProject>();
/** One whose files are written again before each start. */
let checkedOut: TempProject;
beforeAll(async () => {
  for (const name of Object.keys(CHANGES)) ready.set(name, makeTempProject({ files: FILES }));
  checkedOut = makeTempProject({ files: EVERYDAY });
  await settled();
  // The first start reads the files, the second knows them.
  for (const project of ready.values()) {
    await start(project);
    await start(project);
  }
  return () => {
    for (const project of [...ready.values(), checkedOut]) project.remove();
  };
});

interface Start {
  readonly shown: string;
  /** The files were not looked into. */
  readonly isRecalled: boolean;
  readonly missed: readonly string[];
  readonly listed: readonly string[];
}

interface StartHow {
  readonly key?: string;
  readonly guarded?: boolean;
  /** Done between the list and the look that follows it. */
  readonly meanwhile?: () => void;
}

/** One start, with nothing in its memory but what earlier ones have written down. */
async function start(project: TempProject, how: StartHow = {}): Promise<Start> {
  const memory = memoryOf(project);
  const book = openSkillBook({
    memory,
    ...placesOf(project),
    isIgnored: async () => false,
    isGuarded: () => how.guarded === true,
  });
  const listed: string[] = [];
  let isRecalled = false;
  const listings = openSkillListings({
    book: {
      ...book,
      async recallShown(keyOf) {
        const shown = await book.recallShown(keyOf);
        isRecalled = shown !== undefined;
        return shown;
      },
    },
    ledger: { listed: (skills) => void listed.push(...skills.map(({ name }) => name)) },
    list: (skills, windowTokens) => skillListing(skills, { windowTokens }),
    keyOf: (windowTokens) => `${windowTokens} ${how.key ?? ''}`,
    settings: () => FILES,
    tell: () => undefined,
  });
  const shown = (await listings.first(WINDOW, { quiet: true })) ?? '';
  how.meanwhile?.();
  const missed = await listings.missed();
  await listings.settle();
  memory.keep();
  return { shown, isRecalled, missed, listed };
}

const ONE = '.claude/skills/one/SKILL.md';
const CHANGES: Readonly<Record<string, Change>> = {
  'a description is another': {
    make: (project) => write(project, { [ONE]: skillText('description: The FIRST.') }),
    says: ['one: The FIRST.', 'two: The second.'],
  },
  'a skill is new': {
    make: (project) => write(project, oneSkill('three', 'The third.')),
    says: ['one: The first.', 'three: The third.'],
  },
  'a skill is gone': {
    make: (project) => rmSync(at(project, '.claude/skills/one'), { recursive: true }),
    says: ['two: The second.'],
    not: ['- one'],
  },
  'a skill has another name': {
    make: (project) =>
      renameSync(at(project, '.claude/skills/one'), at(project, '.claude/skills/uno')),
    says: ['uno: The first.'],
    not: ['- one'],
  },
  'a skill is for people': {
    make: (project) =>
      write(project, { [ONE]: skillText('disable-model-invocation: true\ndescription: x') }),
    says: ['two'],
    not: ['- one'],
  },
  'commands have come': {
    make: (project) => write(project, { '.claude/commands/old.md': 'Old words.' }),
    says: ['one: The first.', 'old: Old words.'],
  },
  'the user has one': {
    make(project) {
      const directory = path.join(project.home, '.claude/skills/mine');
      mkdirSync(directory, { recursive: true });
      writeFileSync(path.join(directory, 'SKILL.md'), skillText('description: Mine.'));
    },
    says: ['mine: Mine.', 'one: The first.'],
  },
  'a link leads out': {
    make: (project) => moveOut(project, '.claude/skills'),
    says: [],
    not: ['- one', '- two'],
  },
  'nothing is': { make: () => undefined, says: ['one: The first.', 'two: The second.'] },
};

describe('the list of skills that an earlier start has made', () => {
  it.each(Object.entries(CHANGES))('is right when %s', async (name, { make, says, not = [] }) => {
    const project = ready.get(name);
    if (project === undefined) throw new Error('no project');
    expect(await start(project)).toMatchObject({ isRecalled: true, missed: [] });
    make(project);
    const { shown, isRecalled } = await start(project);
    for (const text of says) expect(shown).toContain(text);
    for (const text of not) expect(shown).not.toContain(text);
    expect(isRecalled).toBe(name === 'nothing is');
  });

  it('is not taken under another key, nor where somebody may hold changes back', async () => {
    const project = ready.get('nothing is');
    if (project === undefined) throw new Error('no project');
    expect((await start(project, { guarded: true })).isRecalled).toBe(false);
    expect((await start(project)).isRecalled).toBe(true);
    expect((await start(project, { key: 'other' })).isRecalled).toBe(false);
    expect((await start(project, { key: 'other' })).isRecalled).toBe(true);
  });

  it('is followed by a look that tells what has changed meanwhile, and counts what was shown', async () => {
    const project = ready.get('nothing is');
    if (project === undefined) throw new Error('no project');
    await start(project);
    const meanwhile = (): void => write(project, oneSkill('late', 'Came late.'));
    const { isRecalled, missed, shown, listed } = await start(project, { meanwhile });
    expect(isRecalled).toBe(true);
    expect(shown).not.toContain('late');
    expect(missed.join()).toContain('late: Came late.');
    expect(listed).toEqual(['late', 'one', 'two']);
  });

  describe('of files that were written a moment ago', () => {
    it('is taken where they say the same, and only there', async () => {
      const project = checkedOut;
      const again = async (files: Readonly<Record<string, string>> = {}): Promise<Start> => {
        write(project, { ...EVERYDAY, ...files });
        return await start(project);
      };
      expect((await again()).isRecalled).toBe(false);
      const known = await again();
      expect(known).toMatchObject({ isRecalled: true, missed: [], listed: ['one', 'two'] });
      expect(known.shown).toContain('one: The first.');
      // What the model is not shown may change.
      expect((await again({ [ONE]: `${EVERYDAY[ONE]}More.` })).isRecalled).toBe(true);
      const other = await again(everyday('one', 'The FIRST.'));
      expect(other.isRecalled).toBe(false);
      expect(other.shown).toContain('one: The FIRST.');
      // A head that a longer one begins with is another head.
      const longer = `---\nname: one\ndescription: The first.\ndisable-model-invocation: true\n---\n`;
      const hidden = await again({ [ONE]: longer });
      expect(hidden.isRecalled).toBe(false);
      expect(hidden.shown).not.toContain('- one');
      const odd = await again({ [ONE]: `${EVERYDAY[ONE]}\0` });
      expect(odd.isRecalled).toBe(false);
      expect(odd.shown).not.toContain('- one');
      // Nothing of that is noted under the head that both have.
      expect((await again()).shown).toContain('one: The first.');
    });

    it('goes by the facts of the files once they stand still', async () => {
      const project = checkedOut;
      write(project, EVERYDAY);
      await start(project);
      await settled();
      // One start finds them by their texts and learns the facts, the next notes those.
      for (let count = 0; count < 3; count++) expect((await start(project)).isRecalled).toBe(true);
      const seals = readFileSync(sealsOf(project), 'utf8');
      expect(seals).not.toContain('begins');
      expect(seals).toContain('The first.');
    });
  });
});

function sealsOf(project: TempProject): string {
  const files = path.join(project.root, 'state/files');
  const name = readdirSync(files).find((one) => one.endsWith('.seals.json')) ?? 'none';
  return path.join(files, name);
}
