import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bookWorld, type Files, type World } from './book-rig.js';

const block = (...deny: string[]): string =>
  `Words.\n\n\`\`\`portcullis\n${JSON.stringify({ deny })}\n\`\`\`\n`;
const rulesOf = (
  world: World,
  { deny }: { readonly deny: readonly { value: { text: string; root: string } }[] },
) => deny.map(({ value }) => `${value.text} in ${path.relative(world.at('.'), value.root)}`).sort();

describe('what a file enforces', () => {
  it.each<[string, Files]>([
    [
      'a link of another kind',
      {
        'project/CLAUDE.md': '@x.json',
        'project/x.json': { link: 'CLAUDE.local.md' },
        'project/CLAUDE.local.md': block('A'),
      },
    ],
    [
      'a file of another kind under two names',
      {
        'project/CLAUDE.md': '@x.json',
        'project/x.json': block('A'),
        'project/CLAUDE.local.md': { link: 'x.json' },
      },
    ],
    [
      'over 500 others',
      {
        'project/CLAUDE.md': '@many.md\n\n@last.md',
        'project/many.md': Array.from({ length: 501 }, (_, n) => `@n/${n}.md`).join('\n'),
        ...Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`project/n/${n}.md`, `${n}`])),
        'project/last.md': block('A'),
      },
    ],
    [
      'many files',
      {
        'project/CLAUDE.md': '@1.md',
        ...Object.fromEntries(
          Array.from({ length: 8 }, (_, n) => [`project/${n + 1}.md`, `@${n + 2}.md`]),
        ),
        'project/9.md': block('A'),
      },
    ],
  ])('holds behind %s', async (_what, files) => {
    const world = bookWorld(files);
    expect(new Set(rulesOf(world, await world.book().enforced()))).toEqual(new Set(['A in ']));
  });

  it('tells of the first file that is too much to be shown', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 503 }, (_, n) => [`project/n/${n}.md`, `${n}`]),
    );
    const names = Object.keys(files).map((name) => name.replace('project/', '@'));
    const world = bookWorld({ 'project/CLAUDE.md': names.join('\n'), ...files });
    const { skipped } = await world.book().open();
    const many = skipped.filter(({ kind }) => kind === 'too many');
    expect(many.map(({ warn }) => warn)).toEqual([true, false, false]);
  });

  it('is a fatal problem where there is too much to look at', async () => {
    const names = Array.from({ length: 10_001 }, (_, n) => `@n${n}`).join('\n');
    const world = bookWorld({ 'project/CLAUDE.md': names, 'project/s/CLAUDE.md': names });
    const book = world.book();
    const fatal = [expect.objectContaining({ severity: 'fatal' })];
    expect((await book.enforced()).problems).toEqual(fatal);
    expect((await book.enforcedNear([world.at('s/x')])).problems).toEqual(fatal);
  });

  it('speaks for each directory that it is read for', async () => {
    const world = bookWorld(
      {
        'project/CLAUDE.md': '@b/CLAUDE.md',
        'project/b/CLAUDE.md': block('A'),
        'project/s/CLAUDE.md': '@t/CLAUDE.md\n@../.claude/rules/r.md',
        'project/s/t/CLAUDE.md': block('B'),
        'project/.claude/rules/r.md': `---\npaths: "*.sql"\n---\n${block('R')}`,
        'project/u/AGENTS.md': block('C'),
        'project/u/v/AGENTS.md': block('C'),
      },
      { git: true },
    );
    const start = world.book({ cwd: 'b' });
    expect(rulesOf(world, await start.enforced())).toEqual(['A in ', 'A in b']);
    const near = async (name: string) =>
      rulesOf(world, await world.book().enforcedNear([world.at(name)]));
    expect(await near('s/t/x')).toEqual(['B in s', 'B in s/t', 'R in s']);
    expect(await near('s/x.sql')).toEqual(['B in s', 'R in ', 'R in s']);
    expect(await near('u/v/x')).toEqual(['C in u', 'C in u/v']);
    // Shown once all the same.
    const shown = await world.book().touched([world.at('u/v/x')], new AbortController().signal);
    expect(shown.files).toHaveLength(1);
  });

  it('holds where its includer may not be shown', async () => {
    const world = bookWorld({ 'project/s/CLAUDE.md': '@inc.md', 'project/s/inc.md': block('A') });
    const book = world.book({ isHidden: async (file) => file.endsWith('CLAUDE.md') });
    expect(rulesOf(world, await book.enforcedNear([world.at('s/x')]))).toEqual(['A in s']);
  });

  it('holds as soon as a file of the start includes it', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': 'Words.', 'project/inc.md': block('A') });
    const book = world.book();
    await book.enforced();
    world.write({ 'project/CLAUDE.md': 'Other words: @inc.md' });
    expect(rulesOf(world, (await book.enforcedAgain()) ?? { deny: [] })).toEqual(['A in ']);
    // It is still news to the model.
    expect((await book.changed()).map(({ path }) => path)).toEqual(
      ['CLAUDE.md', 'inc.md'].map(world.at),
    );
  });

  it('says for which files it holds', async () => {
    const world = bookWorld({
      'project/s/.claude/rules/r.md': `---\npaths: "gen/**"\n---\n${block('A')}@inc.md`,
      'project/s/.claude/rules/inc.md': block('B'),
    });
    const { deny, when } = await world.book().enforcedNear([world.at('s/gen/x')]);
    const conditions = deny.map((rule) => [rule.value.text, when.get(rule)?.globs]);
    expect(conditions).toContainEqual(['A', ['gen/**']]);
    const fits = [...when.values()].map((one) => [
      one.fits(world.at('s/gen/y')),
      one.fits(world.at('s/x')),
    ]);
    expect(fits).toContainEqual([true, false]);
  });
});

describe('what folders below enforce', () => {
  const files = {
    'project/d/s/CLAUDE.md': block('A'),
    'project/d/node_modules/m/CLAUDE.md': block('FOREIGN'),
    'project/e/CLAUDE.md': block('E'),
    'project/f.txt': 'f',
  };

  it('is found below the directory, and only there', async () => {
    const world = bookWorld(files);
    const book = world.book();
    const below = async (...names: string[]) => {
      const found = await book.enforcedBelow(names.map(world.at));
      return [rulesOf(world, found), [...new Set(found.directories)]];
    };
    expect(await below('.')).toEqual([['A in d/s', 'E in e'], [world.at('.')]]);
    expect(await below('d', 'f.txt', 'none')).toEqual([['A in d/s'], [world.at('d')]]);
    expect(await below('d/node_modules')).toEqual([[], [world.at('d/node_modules')]]);
  });

  it('is looked for again where a folder has changed', async () => {
    const world = bookWorld({ ...files, 'project/d/x/y/f.txt': 'f' });
    const book = world.book();
    const below = async () => rulesOf(world, await book.enforcedBelow([world.at('d')]));
    expect(await below()).toEqual(['A in d/s']);
    world.write({ 'project/d/x/y/CLAUDE.md': block('NEW') });
    expect(await below()).toEqual(['A in d/s', 'NEW in d/x/y']);
  });
});
