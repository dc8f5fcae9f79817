import { describe, expect, it } from 'vitest';
import { matchesPath, parsePathPattern } from './path-pattern.js';

const base = { cwd: '/p/app', home: '/home/me', root: '/p' };
const fits = (spec: string, path: string, use: 'restrict' | 'grant' = 'restrict'): boolean =>
  matchesPath(parsePathPattern(spec, base, { use }), path);

describe('path patterns', () => {
  it.each([
    ['.env', '/p/app/.env', true],
    ['.env', '/p/app/sub/deep/.env', true],
    ['.env', '/p/.env', false],
    ['.env', '/p/app/.env.local', false],
    ['./.env', '/p/app/.env', true],
    ['./.env', '/p/app/sub/.env', false],
    ['./sub/*', '/p/app/sub/a', true],
    ['./sub/*', '/p/app/sub/deep/a', true],
    ['./sub/*', '/p/app/sub', false],
    ['./secrets/**', '/p/app/secrets', true],
    ['./secrets/**', '/p/app/secrets/a/b', true],
    ['secrets', '/p/app/secrets/a/b', true],
    ['secrets/', '/p/app/x/secrets/a', true],
    ['**/*.ts', '/p/app/src/x.ts', true],
    ['**/*.ts', '/p/app/x.ts', true],
    ['*.env', '/p/app/b.env', true],
    ['//etc/**', '/etc/passwd', true],
    ['//etc/passwd', '/etc/passwd2', false],
    ['~/.ssh/**', '/home/me/.ssh/id_rsa', true],
    ['~/.ssh/**', '/home/other/.ssh/id_rsa', false],
    ['~', '/home/me/x', true],
    ['/src/**', '/p/src/x', true],
    ['/src/**', '/p/app/src/x', false],
    ['../other/**', '/p/other/x', true],
    ['a-*/config.json', '/p/app/a-1/config.json', true],
    ['a-*/config.json', '/p/app/x/a-1/config.json', false],
    ['src/**/test', '/p/app/src/test', true],
    ['src/**/test', '/p/app/src/a/b/test/file', true],
    ['/', '/p/anything', true],
  ])('%s against %s: %s', (spec, path, expected) => {
    expect(fits(spec, path)).toBe(expected);
  });

  it.each([
    ['key[[:digit:]].pem', '/p/app/key7.pem', 'restrict', true],
    ['key[[:digit:]].pem', '/p/app/keyx.pem', 'restrict', false],
    ['[[:upper:]].pem', '/p/app/k.pem', 'restrict', true],
    ['./x[![:upper:]]', '/p/app/xa', 'restrict', true],
    ['./x[![:upper:]]', '/p/app/xA', 'restrict', true],
    ['./x[![:upper:]]', '/p/app/xA', 'grant', false],
    ['./x[![:alpha:]]', '/p/app/xa', 'restrict', false],
    ['./[[:upper:]].md', '/p/app/K.md', 'grant', true],
    ['./[[:upper:]].md', '/p/app/k.md', 'grant', false],
  ] as const)('knows the classes of .gitignore: %s against %s', (spec, path, use, expected) => {
    expect(fits(spec, path, use)).toBe(expected);
  });

  it('reads a directory name at any depth in a restriction, only here in a grant', () => {
    expect(fits('src/**', '/p/app/pkg/src/x', 'restrict')).toBe(true);
    expect(fits('src/**', '/p/app/pkg/src/x', 'grant')).toBe(false);
    expect(fits('src/**', '/p/app/src/x', 'grant')).toBe(true);
    expect(fits('src/**', '/p/app/src-evil/x', 'grant')).toBe(false);
  });

  it('ignores case and Unicode form in a restriction, not in a grant', () => {
    expect(fits('./secrets/**', '/p/app/SECRETS/key')).toBe(true);
    expect(fits('./café', '/p/app/cafe\u0301')).toBe(true);
    expect(fits('./secrets/**', '/p/app/SECRETS/key', 'grant')).toBe(false);
  });

  it('takes escaped characters as they are', () => {
    expect(fits('./a\\*b', '/p/app/a*b', 'grant')).toBe(true);
    expect(fits('./a\\*b', '/p/app/axb', 'grant')).toBe(false);
  });
});
