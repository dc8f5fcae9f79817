import { describe, expect, it } from 'vitest';
import type { SourcedRule } from '../settings/types.js';
import { createEnforcedHold, joinEnforced } from './enforced-hold.js';

const rule = (text: string, file = '/p/sub/CLAUDE.md', root = '/p/sub'): SourcedRule => ({
  value: { text, root },
  source: 'project',
  file,
  line: 1,
  trusted: false,
});
const near = (deny: readonly SourcedRule[], files: readonly string[]) => ({
  deny,
  ask: [],
  problems: [],
  files,
});
const textsOf = ({ deny }: { readonly deny: readonly SourcedRule[] }) =>
  deny.map(({ value }) => value.text);

describe('restrictions that change during a session', () => {
  it('add up; what is gone is named and stays, wherever it stood', () => {
    const before = { deny: [rule('A'), rule('B')], ask: [rule('C')] };
    const moved = { ...rule('B'), line: 9 };
    const { rules, gone } = joinEnforced(before, { deny: [moved, rule('D')], ask: [] });
    expect(textsOf(rules)).toEqual(['A', 'B', 'D']);
    expect(rules.ask).toHaveLength(1);
    expect(rules.deny.find(({ value }) => value.text === 'B')?.line).toBe(9);
    expect(gone.map(({ value }) => value.text)).toEqual(['A', 'C']);
    // A ban that became a question is still a ban.
    expect(textsOf(joinEnforced(before, { deny: [], ask: [rule('A')] }).rules)).toContain('A');
  });

  it('of a folder stay when they are taken out or the file is removed, and only there', async () => {
    let exists = true;
    const hold = createEnforcedHold(async () => exists);
    const file = '/p/sub/CLAUDE.md';
    await hold.with(near([rule('A'), rule('B')], [file]), ['/p/sub/x']);
    expect(textsOf(await hold.with(near([rule('B')], [file]), ['/p/sub/y']))).toEqual(['B', 'A']);
    expect(textsOf(await hold.with(near([], []), ['/p/other/y']))).toEqual([]);
    exists = false;
    expect(textsOf(await hold.with(near([], []), ['/p/sub/y']))).toEqual(['A', 'B']);
  });

  it('of a rule that other paths bring into play stay with these paths', async () => {
    const hold = createEnforcedHold(async () => true);
    const file = '/p/.claude/rules/api.md';
    await hold.with(near([rule('A', file, '/p')], [file]), ['/p/src/api/x']);
    expect(textsOf(await hold.with(near([], []), ['/p/docs/x']))).toEqual([]);
  });
});
