import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areBare } from './instruction-towards.js';

const root = '/p';
const project = { root, realRoot: '/real/p', cwd: '/p/a/b', ancestors: ['/', '/p', '/p/a'] };
const added = { root: '/q', realRoot: '/q', cwd: '/q', ancestors: ['/q'] };
const projects = [project, added];
const KINDS = ['file', 'directory', 'symlink', 'other'] as const;

describe('directories with nothing on the way to their files', () => {
  const names = fc.constantFrom('a', 'b', 'c', 'node_modules', '..', '.', 'p', '');
  const tops = fc.constantFrom('/p', '/real/p', '/q', '/elsewhere', '/');
  const path = fc
    .tuple(tops, fc.array(names, { maxLength: 4 }))
    .map(([top, below]) => [top, ...below].join('/'));
  const ask = fc.record({ path, kind: fc.constantFrom(...KINDS) });

  it('are the same whether or not others were asked about before', () => {
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 20 }), (asks) => {
        const world = { projects, bare: new Set<string>() };
        for (const { path, kind } of asks) {
          const look = { kindOf: () => kind };
          const fresh = areBare([path], { projects, bare: new Set() }, look);
          expect(areBare([path], world, look)).toBe(fresh);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['/p/a/b/x', true],
    ['/real/p/x', true],
    ['/elsewhere/x', true],
    ['/p/node_modules/m/x', true],
    ['/p/c/x', false],
    ['/real/p/c/x', false],
    ['/q/c/x', false],
  ])('%s: %s', (path, expected) => {
    const world = { projects, bare: new Set<string>() };
    const look = { kindOf: () => 'file' as const };
    for (let times = 0; times < 2; times++) expect(areBare([path], world, look)).toBe(expected);
    expect(areBare([path], world, undefined)).toBe(false);
  });

  it('are not those that a way up again leads through', () => {
    const world = { projects, bare: new Set<string>() };
    const look = { kindOf: () => 'file' as const };
    expect(areBare(['/p/c/..'], world, look)).toBe(true);
    expect(areBare(['/p/c/x'], world, look)).toBe(false);
  });

  it('are not without end', () => {
    const world = { projects, bare: new Set<string>() };
    const look = { kindOf: () => 'file' as const };
    for (let at = 0; at < 3000; at++) areBare([`/elsewhere/${at}/x`], world, look);
    expect(world.bare.size).toBeLessThanOrEqual(1000);
  });
});
