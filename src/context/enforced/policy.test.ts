import { describe, expect, it } from 'vitest';
import type { SourcedRule } from '../../settings/types.js';
import type { FilePatterns } from '../instructions/types.js';
import { createEnforcedHold, mergeEnforced } from './policy.js';

const rule = (text: string, file = '/p/sub/CLAUDE.md', root = '/p/sub'): SourcedRule => ({
  value: { text, root },
  source: 'project',
  file,
  line: 1,
  trusted: false,
});
const near = (
  deny: readonly SourcedRule[],
  paths: readonly string[],
  when: ReadonlyMap<SourcedRule, FilePatterns> = new Map(),
) => ({ deny, ask: [], problems: [], paths, when });
const below = (deny: readonly SourcedRule[], directories: readonly string[]) => ({
  deny,
  ask: [],
  problems: [],
  directories,
  cut: false,
});
const api: FilePatterns = { globs: ['src/api/**'], fits: (path) => path.startsWith('/p/src/api/') };
const textsOf = ({ deny }: { readonly deny: readonly SourcedRule[] }) =>
  deny.map(({ value }) => value.text);

describe('restrictions that change during a session', () => {
  it('add up; what is gone is named and stays, wherever it stood', () => {
    const before = { deny: [rule('A'), rule('B')], ask: [rule('C')] };
    const moved = { ...rule('B'), line: 9 };
    const { rules, gone } = mergeEnforced(before, { deny: [moved, rule('D')], ask: [] });
    expect(textsOf(rules)).toEqual(['A', 'B', 'D']);
    expect(rules.ask).toHaveLength(1);
    expect(rules.deny.find(({ value }) => value.text === 'B')?.line).toBe(9);
    expect(gone.map(({ value }) => value.text)).toEqual(['A', 'C']);
    // A ban that became a question is still a ban.
    expect(textsOf(mergeEnforced(before, { deny: [], ask: [rule('A')] }).rules)).toContain('A');
  });

  it('of a folder stay whatever became of the file, and only there', () => {
    const hold = createEnforcedHold();
    hold.with(near([rule('A'), rule('B')], ['/p/sub/x']));
    expect(textsOf(hold.with(near([rule('B')], ['/p/sub/y'])))).toEqual(['B', 'A']);
    expect(textsOf(hold.with(near([], ['/p/other/y'])))).toEqual([]);
    expect(textsOf(hold.with(near([], ['/p/sub/y'])))).toEqual(['A', 'B']);
  });

  it('of a rule that other paths bring into play stay with these paths', () => {
    const hold = createEnforcedHold();
    const mine = rule('A', '/p/.claude/rules/api.md', '/p');
    hold.with(near([mine], ['/p/src/api/x'], new Map([[mine, api]])));
    expect(textsOf(hold.with(near([], ['/p/docs/x'])))).toEqual([]);
    expect(textsOf(hold.with(near([], ['/p/src/api/y'])))).toEqual(['A']);
    // Once it holds everywhere, it does.
    hold.with(near([mine], ['/p/docs/x']));
    expect(textsOf(hold.with(near([], ['/p/docs/x'])))).toEqual(['A']);
  });

  it('of folders stay for those who take in a whole directory', () => {
    const hold = createEnforcedHold();
    hold.with(near([rule('A')], ['/p/sub/x']));
    expect(textsOf(hold.withBelow(below([], ['/p'])))).toEqual(['A']);
    expect(textsOf(hold.withBelow(below([], ['/p/other'])))).toEqual([]);
    hold.withBelow(below([rule('B')], ['/p']));
    expect(textsOf(hold.with(near([], ['/p/sub/y'])))).toEqual(['A', 'B']);
  });
});
