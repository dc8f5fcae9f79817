import { describe, expect, it } from 'vitest';
import { parseRule } from '../../permissions/rules/rules.js';
import { ruleInside } from './guard.js';

describe('a rule in a directory', () => {
  const inside = (text: string, directory: string, access: 'read' | 'write' = 'write') => {
    const source = { value: { text, root: '/p/s' }, source: 'project', trusted: false } as const;
    const parsed = parseRule('deny', source, { cwd: '/p/s', home: '/h' });
    if ('why' in parsed) throw new Error(parsed.why);
    return ruleInside(parsed.rule, { directory, access });
  };

  it.each<[string, string, boolean]>([
    ['Edit(gen/a/**)', '/p', true],
    ['Edit(gen/a/**)', '/p/s', true],
    ['Edit(gen/a/**)', '/p/s/gen', true],
    ['Edit(gen/a/**)', '/p/s/gen/a/deep', true],
    ['Edit(gen/a/**)', '/p/s/other', false],
    ['Edit(gen/a/**)', '/q', false],
    ['Edit(*.key)', '/p/s/other', true],
    ['Edit(g*/x)', '/p/s/gen', true],
    ['Edit(g*/x)', '/p/s/src', false],
    ['Edit', '/p/s', false],
  ])('%s in %s: %s', (text, directory, expected) => {
    expect(inside(text, directory)).toBe(expected);
  });

  it('about writing says nothing about reading, and the other way round it does', () => {
    expect(inside('Edit(gen/**)', '/p', 'read')).toBe(false);
    expect(inside('Read(gen/**)', '/p', 'write')).toBe(true);
  });
});
