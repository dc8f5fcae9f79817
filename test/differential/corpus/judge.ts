import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { workspaceFence } from '../../../src/permissions/guards/workspace/fence.js';
import { nodeFileSystem } from '../../../src/platform/fs/node-fs.js';
import type { AgentRef } from '../../../src/protocol/agent-ref.js';
import { makeTempProject } from '../../../src/testing/temp-project.js';
import { gateRig, type Rig } from '../../support/gate-rig.js';
import { createScratch } from '../scratch.js';
import { FROZEN_RULE_SETS, type FrozenRuleSet } from './rule-sets.js';

/** Allow, ask or deny, in ascending strictness. */
export const DECISIONS = 'akd';
export type Decision = 'a' | 'k' | 'd';

export interface FrozenJudge {
  /** One decision for each rule set, in their order. */
  decide(command: string): Promise<readonly Decision[]>;
  decideBy(ruleSet: FrozenRuleSet, command: string): Promise<Decision>;
  close(): void;
}

const EXPORTED = new Set(['PATH', 'HOME', 'PWD', 'LANG', 'SHLVL', '_']);

/** A gate for each rule set over one project whose files are always the same. */
export function openFrozenJudge(): FrozenJudge {
  const root = makeTempProject();
  const { project, home } = createScratch(path.join(root.root, 'scratch'));
  const tree = path.join(project, '.claude/worktrees/agent-1');
  mkdirSync(path.join(tree, 'sub'), { recursive: true });
  writeFileSync(path.join(tree, 'a.txt'), 'a\n');
  writeFileSync(path.join(tree, 'sub/b.txt'), 'b\n');
  writeFileSync(path.join(tree, '.git'), `gitdir: ${project}/.git/worktrees/agent-1\n`);
  symlinkSync('../../..', path.join(tree, 'up'));
  const rigs = new Map(
    FROZEN_RULE_SETS.map((set) => [set, openRig(set, { project, home, tree })] as const),
  );
  const decideBy = async (set: FrozenRuleSet, command: string): Promise<Decision> => {
    const verdict = await rigs.get(set)?.call('Bash', { command });
    if (verdict?.kind === 'allowed') return 'a';
    return verdict?.unanswered === true ? 'k' : 'd';
  };
  return {
    decideBy,
    async decide(command) {
      const decisions: Decision[] = [];
      for (const set of FROZEN_RULE_SETS) decisions.push(await decideBy(set, command));
      return decisions;
    },
    close: () => root.remove(),
  };
}

function openRig(
  { name: _name, fenced, ...rules }: FrozenRuleSet,
  { project, home, tree }: { project: string; home: string; tree: string },
): Rig {
  const facts = { exported: () => EXPORTED };
  if (fenced !== true) return gateRig({ cwd: project, home, ...rules, facts });
  const agent: AgentRef = {
    id: 'a1',
    type: 'worker',
    path: 'main/worker#1',
    parentId: 'main',
    depth: 1,
    background: false,
    workspace: tree,
    isolation: 'worktree',
  };
  const guards = [workspaceFence({ fs: nodeFileSystem, projectDir: project })];
  return gateRig({ cwd: tree, roots: [tree], home, ...rules, facts, agent, guards });
}
