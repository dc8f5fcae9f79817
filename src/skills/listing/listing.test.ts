import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateText } from '../../context/compaction/tokens.js';
import type { Skill, SkillHead, SkillOrigin } from '../skill.js';
import { fairShares } from './fair-shares.js';
import { type ListingOptions, listingBudget, skillListing } from './listing.js';

function skill(
  name: string,
  head: Partial<SkillHead> = {},
  origin: SkillOrigin = 'project',
): Skill {
  return {
    name,
    origin,
    source: origin === 'user' ? 'user' : 'project',
    file: `/x/${name}/SKILL.md`,
    directory: `/x/${name}`,
    head: { keys: [], ...head },
    trusted: false,
    bodyLine: 1,
    problems: [],
    body: async () => '',
  };
}

describe('the listing of skills', () => {
  it('says what each is for, in one line', () => {
    const { text, shown, cut, note } = skillListing([
      skill('a', { description: 'Does\n a thing.', whenToUse: 'When asked.' }, 'user'),
      skill('b'),
      skill('c', { description: 'h\u200bid\u{e0041}den\u202e' }),
    ]);
    expect(text).toBe('- a: Does a thing. When asked.\n- b\n- c: hidden');
    expect(shown.map(({ form }) => form)).toEqual(['whole', 'name', 'whole']);
    expect({ cut, note }).toEqual({ cut: [], note: undefined });
  });

  it('leaves out what the model may not use', () => {
    const skills = [
      skill('manual', { disableModelInvocation: true }),
      skill('people', { userInvocable: false, description: 'for the model' }),
      skill('waits', { paths: ['x'] }),
      skill('offf', { description: 'd' }),
      skill('mine', { description: 'd' }),
      skill('bare', { description: 'd' }),
    ];
    const said = { offf: 'off', mine: 'user-invocable-only', bare: 'name-only' } as const;
    const { text, cut } = skillListing(skills, {
      isDormant: ({ head }) => head.paths !== undefined,
      overrides: (name) => (Object.hasOwn(said, name) ? said[name as 'offf'] : undefined),
    });
    expect(text).toBe('- people: for the model\n- bare');
    expect(cut).toEqual([]);
  });

  it('names the variants of sub-directories beside the plain skill', () => {
    const { text } = skillListing([
      skill('deploy', { description: 'Root.' }),
      skill('pkg/a:deploy', { description: 'A.' }, 'nested'),
    ]);
    expect(text).toContain('- deploy: Root. (In other directories: pkg/a:deploy.)');
  });

  it('cuts a long entry and says so', () => {
    const long = skill('long', { description: `S ${'word '.repeat(500)}END` });
    const { text, note } = skillListing([long], { windowTokens: 1_000_000 });
    expect(text.length).toBeLessThanOrEqual(1_536);
    expect(text.length).toBeGreaterThan(1_500);
    expect(text.endsWith('…')).toBe(true);
    expect(note).toContain('shortened description: long');
  });

  it.each([
    [{}, 8_000],
    [{ windowTokens: 200_000 }, 8_000],
    [{ windowTokens: 1_000_000 }, 40_000],
    [{ windowTokens: 200_000, fraction: 0.02 }, 16_000],
    [{ windowTokens: 200_000, budgetChars: 500 }, 500],
  ])('has a budget: %j', (options: ListingOptions, bytes) => {
    expect(listingBudget(options)).toBe(bytes);
  });

  it('lets no source starve another', () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      skill(`plug:s${index}`, { description: 'p'.repeat(400) }, 'plugin'),
    );
    const few = ['x', 'y'].map((name) => skill(name, { description: 'u'.repeat(400) }, 'user'));
    const { shown, cut, text } = skillListing([...few, ...many], { budgetChars: 4_000 });
    const form = (name: string) => shown.find((one) => one.name === name)?.form;
    expect([form('x'), form('y')]).toEqual(['whole', 'whole']);
    expect(cut).toHaveLength(100);
    expect(text).toContain('(No room for all: 100 shortened, 0 skills not shown.)');
  });

  it('keeps what was used', () => {
    const skills = ['a', 'b', 'c', 'd'].map((name) =>
      skill(name, { description: 'd'.repeat(300) }),
    );
    const { shown } = skillListing(skills, { budgetChars: 500, used: () => new Map([['c', 3]]) });
    expect(shown.find(({ name }) => name === 'c')?.form).toBe('whole');
    expect(shown).toHaveLength(4);
  });

  it('does not ask what was used where there is room for all', () => {
    const used = (): never => {
      throw new Error('asked');
    };
    expect(skillListing([skill('a', { description: 'd' })], { used }).cut).toEqual([]);
  });

  it('is within its budget, keeps what is bundled, and names every cut', () => {
    const origins = fc.constantFrom<SkillOrigin>(
      'managed',
      'user',
      'project',
      'nested',
      'plugin',
      'command',
      'bundled',
    );
    const one = fc.record({
      description: fc.string({ unit: 'grapheme', maxLength: 300 }),
      whenToUse: fc.option(fc.string({ maxLength: 60 }), { nil: undefined }),
      origin: origins,
    });
    const all = fc.array(one, { maxLength: 40 });
    fc.assert(
      fc.property(
        all,
        fc.integer({ min: 0, max: 6_000 }),
        fc.nat(2_000),
        (made, budgetChars, maxEntryChars) => {
          const skills = made.map(({ origin, ...head }, index) =>
            skill(origin === 'plugin' ? `p${index % 3}:n${index}` : `n${index}`, head, origin),
          );
          const options = { budgetChars, maxEntryChars };
          const { text, shown, cut, note } = skillListing(skills, options);
          const bundled = skills.filter(({ origin }) => origin === 'bundled');
          const least = skillListing(bundled, { budgetChars: 1e9 }).text;
          const bytes = (part: string) => new TextEncoder().encode(part).length;
          expect(bytes(text)).toBeLessThanOrEqual(Math.max(budgetChars, bytes(least)));
          for (const line of least.split('\n')) expect(text).toContain(line);
          for (const { name } of bundled) {
            expect(shown.some((row) => row.name === name)).toBe(true);
            expect(cut.some((row) => row.name === name)).toBe(false);
          }
          const names = new Set(
            [...shown, ...cut.filter(({ how }) => how === 'left out')].map(({ name }) => name),
          );
          expect(names.size).toBe(skills.length);
          for (const { name } of cut) expect(` ${note},`).toMatch(new RegExp(`[ ]${name}[,;]`));
          expect(note === undefined).toBe(cut.length === 0);
          const lines = text.split('\n').filter((line) => line.startsWith('- '));
          expect(lines).toHaveLength(shown.length);
        },
      ),
    );
  });

  it('keeps all names where they fit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 500 }),
        (count, length) => {
          const skills = Array.from({ length: count }, (_, index) =>
            skill(
              `n${index}`,
              { description: 'x'.repeat(length) },
              index % 2 === 0 ? 'user' : 'project',
            ),
          );
          expect(skillListing(skills, { budgetChars: 700 }).shown).toHaveLength(count);
        },
      ),
    );
  });

  it('costs at most its share of the window', () => {
    const skills = Array.from({ length: 300 }, (_, index) =>
      skill(`n${index}`, { description: '漢字'.repeat(100) }),
    );
    const { text } = skillListing(skills, { windowTokens: 200_000 });
    expect(estimateText(text)).toBeLessThanOrEqual(2_000);
  });
});

describe('fair shares', () => {
  it.each([
    [[10, 10], 100, [10, 10]],
    [[10, 90, 90], 110, [10, 50, 50]],
    [[5, 5, 5], 0, [0, 0, 0]],
    [[50, 3], -4, [0, 0]],
    [[], 10, []],
  ])('%j of %d', (needs, room, shares) => {
    expect(fairShares(needs, room)).toEqual(shares);
  });

  it('never give more than is there, and starve nobody for another', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000)), fc.nat(5_000), (needs, room) => {
        const shares = fairShares(needs, room);
        const sum = shares.reduce((a, b) => a + b, 0);
        expect(sum).toBeLessThanOrEqual(room);
        const most = Math.max(0, ...shares);
        shares.forEach((share, index) => {
          expect(share).toBeLessThanOrEqual(needs[index] ?? 0);
          // All that are cut get the same, except for rounding.
          if (share < (needs[index] ?? 0))
            expect(share).toBeGreaterThanOrEqual(most - needs.length);
        });
      }),
    );
  });
});
