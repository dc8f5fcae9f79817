import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { matchesPath, parsePathPattern } from '../rules/path-pattern.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: {} });
});
afterAll(() => project.remove());

const name = fc.constantFrom('a', 'b', 'A', '.env', 'k.pem', 'd', 'e.ts', '.h');
const file = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const tree = fc.array(file, { minLength: 1, maxLength: 8 });

const part = fc.constantFrom('a', 'b', 'd', '*', '.env', '*.pem', 'k.*', '**', 'e.ts');
const pattern = fc
  .tuple(fc.constantFrom('', './', '/'), fc.array(part, { minLength: 1, maxLength: 3 }))
  .map(([front, parts]) => front + parts.join('/'))
  // Rules for everything stop every command.
  .filter((text) => !/^[./*]*$/.test(text));
const rule = fc.record({ tool: fc.constantFrom('Read', 'Edit'), pattern });

/** Where it begins, and what it does to what is there. */
const start = fc.constantFrom('.', 'a', 'b', 'd', './a/', 'a/b', 'd/..');
const command = fc
  .tuple(
    fc.constantFrom<readonly [string, 'read' | 'write']>(
      ['grep -r x @', 'read'],
      ['grep -R x @', 'read'],
      ['grep -rn --exclude=*.zzz x @', 'read'],
      ['rg -uu x @', 'read'],
      ['tar cf - @', 'read'],
      ['zip -r - @', 'read'],
      ['cp -r @ /nowhere/else', 'read'],
      ['rsync -a @ host:x', 'read'],
      ['rm -rf @', 'write'],
      ['chmod -R u+w @', 'write'],
      ['mv @ /nowhere/else', 'write'],
      ['find @ -type f -delete', 'write'],
      ['cd @ && grep -r x', 'read'],
      ['cd @ && tar cf - .', 'read'],
    ),
    start,
  )
  .map(([[text, access], from]) => ({ text: text.replace('@', from), access, from }));

describe('a recursive command', () => {
  it('runs only where no file below it is covered, and runs there', async () => {
    await fc.assert(
      fc.asyncProperty(
        tree,
        fc.array(rule, { maxLength: 3 }),
        command,
        async (files, rules, run) => {
          const { directory: cwd, home } = project;
          rmSync(cwd, { recursive: true });
          mkdirSync(cwd, { recursive: true });
          const made = files.filter((path) => makeFile(join(cwd, path)));
          const below = join(cwd, run.from);
          const inTree = made
            .map((path) => join(cwd, path))
            .filter((path) => `${path}/`.startsWith(`${below.replace(/\/$/, '')}/`));
          const covered = rules
            .filter(({ tool }) => tool === 'Read' || run.access === 'write')
            .map(({ pattern: text }) =>
              parsePathPattern(text, { cwd, home, root: cwd }, { use: 'restrict' }),
            )
            .some((one) => inTree.some((path) => matchesPath(one, path)));
          const deny = rules.map(({ tool, pattern: text }) => `${tool}(${text})`);
          const gate = gateRig({ cwd, home, allow: ['Bash'], deny, mode: 'bypassPermissions' });
          const outcome = await gate.bash(run.text);
          if (covered) expect(outcome).not.toBe('runs');
          // A copy also writes, and a rule for edits that begins with `/` may cover the place it goes to.
          else if (run.text.startsWith('cp ') && rules.some(({ tool }) => tool === 'Edit')) return;
          // What is named is refused whether it exists or not.
          else if (run.from === '.' && run.access === 'read') expect(outcome).toBe('runs');
          else if (run.from === '.') expect(outcome).not.toBe('denied');
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** False where a file stands in the place of a directory, or the other way round. */
function makeFile(path: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'x', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}
