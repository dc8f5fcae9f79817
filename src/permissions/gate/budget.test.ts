import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { createPathJudge } from '../paths/paths.js';
import { readShell } from '../shell/syntax/read.js';
import { Budget, TooComplexError } from './budget.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a', '.env': 'x', 'sub/b.txt': 'b' } });
});
afterAll(() => project.remove());

const LENGTH = 60_000;
const filled = (piece: string, end = 'ls') => piece.repeat(LENGTH / piece.length) + end;

describe('the steps of one judgement', () => {
  it('stop at the limit, and stay there', () => {
    const budget = new Budget(10);
    budget.spend(10);
    expect(() => budget.spend()).toThrow(TooComplexError);
    expect(() => budget.spend(0)).toThrow(TooComplexError);
  });

  it.each([
    ['git status && npm test -- --watch=false', 1000],
    ['cd sub && grep -rn foo . | head -20', 1500],
    [`env X=1 npx eslint ${'src/file.ts '.repeat(100)}`, 20_000],
  ])('are few for everyday commands: %s', async (command, most) => {
    const budget = new Budget();
    const place = { cwd: project.directory, home: project.home };
    const { opaque } = await readShell(`${command} `, place, budget);
    expect(opaque).toBeUndefined();
    expect(budget.spent).toBeLessThan(most);
  });

  it.each([
    'env ',
    'sudo ',
    'xargs ',
    'find . -exec ',
    'env nice timeout 5 ',
    '$( ',
    'ls {a,',
    'ls; ',
    'ln -s a b; ',
  ])('are too many for 60 KiB of %s', async (piece) => {
    const budget = new Budget();
    const place = { cwd: project.directory, home: project.home };
    const { commands, opaque } = await readShell(filled(piece), place, budget);
    expect(opaque).toBe(new TooComplexError().message);
    expect(commands).toEqual([]);
  });

  it('are not spent on 60 KiB of backslashes, which are quick to read all the same', async () => {
    const place = { cwd: project.directory, home: project.home };
    const start = process.cpuUsage();
    await readShell(`echo ${filled('\\', '')}`, place);
    expect(process.cpuUsage(start).user).toBeLessThan(1_000_000);
  });

  it('are shared by the reading and the paths', async () => {
    const budget = new Budget(100);
    const judge = createPathJudge(nodeFileSystem, {
      roots: [project.directory],
      home: project.home,
      budget,
    });
    budget.spend(100);
    await expect(judge.spellFrom(project.directory, 'a.txt')).rejects.toThrow(TooComplexError);
    await expect(async () => await judge.expand(project.directory, '*')).rejects.toThrow();
  });

  it.each(['env ', 'sudo ', '$( '])(
    'make a person decide, deny rules or not: %s',
    async (piece) => {
      const { directory: cwd, home } = project;
      const deny = ['Bash(rm:*)', 'Read(./.env)'];
      for (const mode of ['default', 'bypassPermissions'] as const) {
        const gate = gateRig({ cwd, home, mode, allow: ['Bash'], deny });
        expect(await gate.bash(filled(piece))).toBe('asks');
        expect(await gateRig({ cwd, home, mode, allow: ['Bash'] }).bash(filled(piece))).toBe(
          'asks',
        );
      }
    },
  );

  it('leave nothing to follow of a directory that grows with every command', async () => {
    const place = { cwd: project.directory, home: project.home };
    const { commands } = await readShell('cd sub; '.repeat(300), place);
    expect(commands.at(-1)?.directories).toBeUndefined();
    expect(Math.max(...commands.map((one) => one.directories?.length ?? 0))).toBeLessThan(101);
  });
});
