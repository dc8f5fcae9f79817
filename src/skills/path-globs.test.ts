import { describe, expect, it } from 'vitest';
import { fitsPaths } from './path-globs.js';

describe('paths of a skill', () => {
  it.each([
    [['src/**'], 'src/x.ts', true],
    [['src/**'], 'src/a/b/x.ts', true],
    [['src/**'], 'lib/src/x.ts', false],
    [['**/*.py'], 'n.py', true],
    [['**/*.py'], 'a/b/n.py', true],
    [['*.py'], 'a/b/n.py', true],
    [['/*.py'], 'a/n.py', false],
    [['./src'], 'src/deep/x', true],
    [['docs'], 'a/docs/b/c.md', true],
    [['docs/'], 'a/docs/b/c.md', true],
    [['src/*.{ts,tsx}'], 'src/a.tsx', true],
    [['src/*.{ts,tsx}'], 'src/a.js', false],
    [['{a,b}/{c,d}.x'], 'b/c.x', true],
    [['*.ts', '!*.test.ts'], 'a.test.ts', false],
    [['*.ts', '!*.test.ts'], 'a.ts', true],
    [['?.ts'], 'ab.ts', false],
    [['**'], 'anything/at/all', true],
    [[], 'x', false],
    [['/'], 'x', false],
    [['héllo/*'], 'héllo/wörld', true],
  ])('%j and %s: %s', (globs, path, fits) => {
    expect(fitsPaths(globs, path)).toBe(fits);
  });

  it('is not slowed down by any pattern', () => {
    const glob = `${'*a'.repeat(40)}/${'**/'.repeat(40)}x`;
    expect(fitsPaths([glob], `${'a'.repeat(2_000)}/${'b/'.repeat(500)}y`)).toBe(false);
  });
});
