import { describe, expect, it } from 'vitest';
import { parsePathspec, within } from './restriction.js';

describe('a path on the command line of git', () => {
  it.each<[string, string, string, 'yes' | 'maybe' | 'no']>([
    ['src', '', 'src/a.ts', 'yes'],
    ['src', '', 'srcs/a.ts', 'no'],
    ['.', '', 'a', 'yes'],
    ['.', 'sub', 'a', 'no'],
    ['..', 'sub', 'a', 'yes'],
    ['a', 'sub', 'sub/a', 'yes'],
    [':/a', 'sub', 'a', 'yes'],
    [':(top)a', 'sub', 'a', 'yes'],
    ['*.ts', '', 'x/y.ts', 'yes'],
    ['*.ts', '', 'x/.env', 'no'],
    ['s*s', '', 'secrets/key', 'no'],
    [':(icase).ENV', '', '.env', 'maybe'],
    [':(glob)**/x', '', 'a', 'maybe'],
    ['../..', 'sub', 'a', 'maybe'],
  ])('%s from "%s" covers %s: %s', (text, prefix, name, expected) => {
    expect(parsePathspec(text, prefix).covers(name)).toBe(expected);
  });

  it('leaves out only what surely fits', () => {
    const isIn = (texts: readonly string[], name: string) =>
      within(texts.map((text) => parsePathspec(text, '')))(name);
    expect(isIn([':!.env'], '.env')).toBe(false);
    expect(isIn([':^.env'], 'a')).toBe(true);
    expect(isIn(['.', ':(exclude)secrets'], 'secrets/key')).toBe(false);
    expect(isIn(['.', ':(exclude,icase)SECRETS'], 'secrets/key')).toBe(true);
    expect(isIn(['src'], '.env')).toBe(false);
    expect(isIn([], '.env')).toBe(true);
  });
});
