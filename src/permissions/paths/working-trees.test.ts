import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { createPathJudge } from './paths.js';
import { createWorkingTrees, TREES_BY_PLACE } from './working-trees.js';

const TREE = '.claude/worktrees/agent-a';

let project: TempProject;
let foreign: TempProject;
beforeAll(() => {
  const copied = { 'secret/k.txt': 'k', 'docs/d.txt': 'd', 'migrations/1.sql': 'm', '.env': 'e' };
  const inTree = Object.entries(copied).map(([name, text]) => [`${TREE}/${name}`, text]);
  project = makeTempProject({ files: { 'docs/d.txt': 'd', ...Object.fromEntries(inTree) } });
  foreign = makeTempProject({ files: copied });
  mkdirSync(project.at('links'));
  symlinkSync(project.at(TREE), project.at('links/tree'));
});
afterAll(() => {
  project.remove();
  foreign.remove();
});

describe('names in the checkout', () => {
  it.each([
    ['/p/.claude/worktrees/a/x/y', ['/p/x/y']],
    ['/p/.claude/worktrees/any-other.name/x', ['/p/x']],
    ['/p/.claude/worktrees/a', ['/p']],
    ['/.claude/worktrees/a', ['/']],
    ['/p/.CLAUDE/WorkTrees/a/x', ['/p/x']],
    ['/p/.claude/worktrees/a/.claude/worktrees/b/x', ['/p/x', '/p/.claude/worktrees/a/x']],
    ['/p/.claude/worktrees', []],
    ['/p/.claude/worktree/a/x', []],
    ['/p/x.claude/worktrees/a/x', []],
    ['/p/x', []],
  ])('of %s are %j', (path, names) => {
    expect(TREES_BY_PLACE.standsFor(path)).toEqual(names);
  });

  it('are also those of the tree that the session is in: trees of its agents lie beside it', () => {
    const trees = createWorkingTrees('/p/.claude/worktrees/sess/sub');
    const beside = '/p/.claude/worktrees/agent-1/secret/k';
    expect(trees.standsFor(beside)).toEqual(['/p/secret/k', '/p/.claude/worktrees/sess/secret/k']);
    expect(trees.standsFor('/p/.CLAUDE/worktrees/agent-1')).toContain('/p/.claude/worktrees/sess');
    expect(trees.standsFor('/p/.claude/worktrees/sess/secret/k')).toEqual(['/p/secret/k']);
    expect(trees.standsFor('/q/.claude/worktrees/agent-1/x')).toEqual(['/q/x']);
  });

  it('lead through the directories of trees', () => {
    const leading = ['/p/.claude', '/p/.claude/worktrees', '/p', '/p/.claude/skills'];
    expect(leading.map(TREES_BY_PLACE.leadsTo)).toEqual([true, true, false, false]);
  });

  it('of a tree that a hook has made are known from when its agent begins', () => {
    const trees = createWorkingTrees(project.directory);
    const file = foreign.at('secret/k.txt');
    expect(trees.standsFor(file)).toEqual([]);
    trees.admit({ isolation: 'scratch', workspace: foreign.directory });
    expect(trees.standsFor(file)).toEqual([]);
    trees.admit({ isolation: 'worktree', workspace: foreign.directory });
    trees.admit({ isolation: 'worktree', workspace: foreign.at('secret') });
    expect(trees.standsFor(file)).toEqual([project.at('secret/k.txt')]);
    expect(trees.standsFor(foreign.at(`${TREE}/x`))).toContain(project.at('x'));
    expect(trees.standsFor(`${foreign.directory}-2/x`)).toEqual([]);
    expect(trees.leadsTo(dirname(foreign.directory))).toBe(true);
  });

  it('are spelled through the link by which the session knows its checkout', async () => {
    const link = join(foreign.directory, 'project');
    symlinkSync(project.directory, link);
    const trees = createWorkingTrees(link);
    const place = { roots: [project.at(TREE)], home: project.home, trees };
    const judge = createPathJudge(nodeFileSystem, place);
    const { standsFor } = await judge.spell(project.at(`${TREE}/secret/k.txt`));
    expect(standsFor).toEqual([project.at('secret/k.txt'), `${link}/secret/k.txt`]);
  });
});

const DENY = ['Read(./secret/**)', 'Edit(/migrations/**)', 'Read(./.env)'];

function rig(options: Partial<RigOptions> = {}) {
  const { directory: cwd, home } = project;
  return gateRig({ cwd, home, allow: ['Bash', 'Read', 'Write', 'Grep'], deny: DENY, ...options });
}

describe('restrictions on the checkout', () => {
  it.each([
    `cat ${TREE}/secret/k.txt`,
    'cat links/tree/secret/k.txt',
    'cat .claude/worktrees/*/secret/k.txt',
    `cd ${TREE}/docs && cat ../secret/k.txt`,
    `cat ${TREE}/SECRET/K.txt`,
    'grep -r k .',
    'grep -r k .claude',
    'grep -r k .claude/worktrees',
    `grep -r k ${TREE}`,
    'grep -R k links',
    'mv .claude/worktrees/agent-a elsewhere',
    `echo x > ${TREE}/migrations/2.sql`,
    'rm -rf .claude/worktrees',
    `cp -r docs ${TREE}/migrations`,
  ])('hold in its trees: %s', async (command) => {
    expect(await rig().bash(command)).toBe('denied');
  });

  it.each([`cat ${TREE}/docs/d.txt`, `grep -r k ${TREE}/docs`, 'grep -r k docs', `ls ${TREE}`])(
    'leave the rest of its trees alone: %s',
    async (command) => {
      expect(await rig().bash(command)).toBe('runs');
    },
  );

  it('hold against file tools, and ask where they ask', async () => {
    const read = { file_path: project.at(`${TREE}/secret/k.txt`) };
    expect(await rig().outcome('Read', read)).toBe('denied');
    const write = { file_path: project.at(`${TREE}/migrations/2.sql`), content: '' };
    expect(await rig().outcome('Write', write)).toBe('denied');
    expect(await rig({ deny: [], ask: DENY }).outcome('Read', read)).toBe('asks');
  });

  it('hold in a tree that a hook has made', async () => {
    const trees = createWorkingTrees(project.directory);
    trees.admit({ isolation: 'worktree', workspace: foreign.directory });
    const there = rig({ facts: { trees } });
    expect(await there.bash(`cat ${foreign.at('secret/k.txt')}`)).toBe('denied');
    expect(await there.bash(`grep -r k ${dirname(foreign.directory)}`)).not.toBe('runs');
    expect(await there.bash(`cat ${foreign.at('docs/d.txt')}`)).toBe('runs');
  });
});

it('what is granted in the checkout is not granted in its trees', async () => {
  const grants = rig({ allow: ['Edit(./docs/**)'], deny: [] });
  const write = (path: string) => ({ file_path: project.at(path), content: '' });
  expect(await grants.outcome('Write', write('docs/d.txt'))).toBe('runs');
  expect(await grants.outcome('Write', write(`${TREE}/docs/d.txt`))).toBe('asks');
});
