import { describe, expect, it } from 'vitest';
import { createSaidBefore, LONGEST_AGAIN, skillsAgain } from './memory.js';

const long = 'x'.repeat(LONGEST_AGAIN + 1);

describe('skills after a summary', () => {
  it('are shown again, the newest first, each in the words that it said last', () => {
    const said = createSaidBefore();
    said.add('main', 'a', 'A one');
    said.add('main', 'b', 'B');
    said.add('main', 'a', 'A two');
    said.add('main/x#1', 'c', 'C');
    const shown = skillsAgain(said.summarised('main'), undefined) ?? '';
    expect(shown).toMatch(/## Skill a\n\nA two\n\n## Skill b\n\nB$/);
    // Starting a skill again gives its whole text, because the summary contains it only in part.
    expect(said.has('main', 'b', 'B')).toBe(false);
    expect(said.has('main/x#1', 'c', 'C')).toBe(true);
    // They are shown after the next summary as well.
    expect(said.summarised('main').map(({ skill }) => skill)).toEqual(['a', 'b']);
  });

  it('are none where none was started, or none came about', () => {
    const said = createSaidBefore();
    said.add('main', 'a', 'A');
    said.remove('main', 'a', 'A');
    expect(skillsAgain(said.summarised('main'), undefined)).toBeUndefined();
    said.add('main', 'a', 'A');
    said.forget('main');
    expect(skillsAgain(said.summarised('main'), undefined)).toBeUndefined();
  });

  it('take 5,000 tokens each and 25,000 together, and name those without room', () => {
    const many = Array.from({ length: 40 }, (_, n) => ({ skill: `s${n}`, text: long }));
    const shown = skillsAgain(many, undefined) ?? '';
    expect(shown.match(/## Skill/g)).toHaveLength(5);
    expect(shown.match(/the rest is left out/g)).toHaveLength(5);
    expect(shown).toMatch(/want of room: s5, .* and 5 more$/);
    expect(shown.length).toBeLessThan(5 * LONGEST_AGAIN + 1_000);
  });

  it('take no more than a tenth of a small window', () => {
    const shown = skillsAgain([{ skill: 'a', text: long }], 8_000) ?? '';
    expect(shown.length).toBeLessThan(3_200 + 300);
    expect(skillsAgain([{ skill: 'a', text: long }], 100)).toMatch(/want of room: a$/);
    expect(skillsAgain([{ skill: 'a', text: 'short' }], 8_000)).toContain('short');
  });
});
