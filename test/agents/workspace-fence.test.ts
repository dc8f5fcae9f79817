import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { workspaceFence } from '../../src/permissions/guards/workspace/fence.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { cases } from '../support/counts.js';
import { gateRig } from '../support/gate-rig.js';

/** A project with links of every kind in it, and a tree of an agent inside. */
function makeProject(): { base: string; tree: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'fence-run-')));
  const tree = join(base, 'p/.claude/worktrees/agent-1');
  for (const directory of ['sub/deep', 'other'])
    mkdirSync(join(tree, directory), { recursive: true });
  mkdirSync(join(base, 'p/sub'));
  mkdirSync(join(base, 'home'));
  for (const file of ['a', 'sub/b', 'other/c']) writeFileSync(join(tree, file), 'x');
  writeFileSync(join(base, 'p/a'), 'x');
  symlinkSync('../..', join(tree, 'sub/deep/up'));
  symlinkSync('../../../..', join(tree, 'far'));
  symlinkSync('..', join(tree, 'other/parent'));
  return { base, tree };
}

/** Everything outside of the tree: names, sizes, times of change, targets of links. */
function outside(base: string): string {
  const args = [base, '-path', '*/worktrees/agent-1', '-prune', '-o', '-printf', '%P %s %T@ %l\n'];
  const lines = execFileSync('find', args).toString().split('\n');
  // The tree's own entry changes with what is in it.
  return lines
    .filter((line) => !line.startsWith('p/.claude/worktrees '))
    .sort()
    .join('\n');
}

const name = fc.constantFrom(
  'a',
  'sub',
  'sub/b',
  'sub/deep',
  'sub/deep/up',
  'other',
  'other/parent',
  'far',
  'n',
  'l',
);
const path = fc
  .tuple(fc.constantFrom('', './', '../', 'sub/', 'l/', 'n/', 'sub/deep/', 'up/'), name)
  .map(([prefix, rest]) => prefix + rest);
const simple = fc.oneof(
  path.map((p) => `touch ${p}`),
  path.map((p) => `cd ${p}`),
  path.map((p) => `cd -P ${p}`),
  path.map((p) => `mkdir -p ${p}`),
  path.map((p) => `echo x > ${p}`),
  path.map((p) => `rm -rf ${p}`),
  fc.tuple(path, path).map(([a, b]) => `mv ${a} ${b}`),
  fc.tuple(path, path).map(([a, b]) => `cp -a ${a} ${b}`),
  fc.tuple(path, path).map(([a, b]) => `cp -r ${a} ${b}`),
  fc.tuple(path, path).map(([a, b]) => `ln -sfn ${a} ${b}`),
  fc.tuple(path, path).map(([a, b]) => `ln -f ${a} ${b}`),
  path.map((p) => `env -C ${p} touch x`),
  path.map((p) => `(cd ${p} && touch x)`),
  path.map((p) => `find ${p} -name b -delete`),
  path.map((p) => `tar cf n.tar ${p}`),
  path.map((p) => `sed -i s/x/y/ ${p}`),
);
const line = fc
  .tuple(
    fc.array(simple, { minLength: 1, maxLength: 4 }),
    fc.constantFrom(' && ', '; ', ' || ', '\n'),
  )
  .map(([commands, joint]) => commands.join(joint));

describe('what the fence lets through', () => {
  it('changes nothing outside when a real shell runs it', { timeout: 120_000 }, async () => {
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(line, async (command) => {
        const { base, tree } = makeProject();
        try {
          const rig = gateRig({
            cwd: tree,
            home: join(base, 'home'),
            mode: 'bypassPermissions',
            agent: {
              id: 'a1',
              type: 'w',
              path: 'main/w#1',
              depth: 1,
              background: false,
              isolation: 'worktree',
              workspace: tree,
            },
            guards: [workspaceFence({ fs: nodeFileSystem, projectDir: join(base, 'p') })],
          });
          if ((await rig.call('Bash', { command })).kind !== 'allowed') return;
          ran++;
          const before = outside(base);
          spawnSync('bash', ['-c', command], {
            cwd: tree,
            env: { ...process.env, HOME: join(base, 'home') },
          });
          expect(outside(base), command).toBe(before);
        } finally {
          rmSync(base, { recursive: true, force: true });
        }
      }),
      { numRuns: Number(process.env.FENCE_RUNS ?? cases(60, 300)) },
    );
    expect(ran).toBeGreaterThan(10);
  });
});
