import { err, ok, type Result } from '../../lib/result.js';
import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import type { CallView } from '../../permissions/gate/view.js';
import { NO_RULES, type Rule, type RuleSet } from '../../permissions/rules/rules.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { UserBlock } from '../../protocol/content.js';
import type { SourcedRule } from '../../settings/types.js';
import type { AnyTool } from '../../tools/tool.js';
import type { Skill } from '../skill.js';
import { isCovered, rulesOf, type SkillRuleParts, type SkillRules } from './rules.js';

/** The grants and restrictions of one invocation of a skill. */
export interface SkillGrant {
  /** The allow rules that it added. */
  readonly granted: readonly SourcedRule[];
  /** Ignored parts of the front matter, with reasons. */
  readonly notes: readonly string[];
  /** Puts the restrictions in force once the skill is active. */
  restrain(): void;
  /** Removes everything after a failed start. */
  withdraw(): void;
}

/**
 * Grants and restrictions of skills. Allow rules hold for the invoking agent until the turn ends at the
 * latest; restrictions hold also for agents it starts, until the user's next message.
 */
export interface SkillGrants {
  /**
   * Puts the allow rules of a skill in force; an error for a restriction that cannot be enforced.
   * `directory` is the agent's project directory, by default the session's.
   */
  add(skill: Skill, agent: AgentRef, directory?: string): Result<SkillGrant, string>;
  /**
   * Starts a turn, which ends grants. `said` is set for a message of the user, which ends restrictions,
   * too; reports of agents and commands start turns without one.
   */
  beginTurn(turn: { readonly said: boolean }): void;
  /** An agent has ended, and its grants with it; restrictions stay, because it may be resumed. */
  release(agentPath: string): void;
  /** Allow and deny rules of this agent; the same object while nothing changes. */
  rules(agent: AgentRef): RuleSet;
  /** A skill whose restrictions currently hold for the agent. */
  restraining(agent: AgentRef): Skill | undefined;
  /** Refuses calls that a skill's `fence-tools` does not cover. */
  readonly guard: Guard;
}

interface Entry {
  readonly skill: Skill;
  readonly agentPath: string;
  readonly rules: SkillRules;
}

export function createSkillGrants(parts: SkillRuleParts): SkillGrants {
  let granting: readonly Entry[] = [];
  let restraining: readonly Entry[] = [];
  /** Agents that have ended since the user's last message. */
  const ended = new Set<string>();
  const sets = new Map<string, RuleSet>();
  const change = (next: { granting?: readonly Entry[]; restraining?: readonly Entry[] }): void => {
    granting = next.granting ?? granting;
    restraining = next.restraining ?? restraining;
    sets.clear();
  };
  const without = (entries: readonly Entry[], gone: Entry) => entries.filter((one) => one !== gone);
  const restraints = (agent: AgentRef) =>
    restraining.filter(({ agentPath }) => isAtOrBelow(agent.path, agentPath));
  return {
    add(skill, agent, directory) {
      const rules = rulesOf(skill, parts, directory);
      if (rules.broken !== undefined) return err(rules.broken);
      const entry: Entry = { skill, agentPath: agent.path, rules };
      change({ granting: [...granting, entry] });
      return ok({
        granted: rules.allow.map(({ origin }) => origin),
        notes: rules.notes,
        restrain: () => change({ restraining: [...without(restraining, entry), entry] }),
        withdraw: () =>
          change({ granting: without(granting, entry), restraining: without(restraining, entry) }),
      });
    },
    beginTurn({ said }) {
      change({ granting: [] });
      // fail-closed: a turn without a user's message lifts no restriction.
      if (!said) return;
      const isOver = ({ agentPath }: Entry) =>
        agentPath === MAIN_AGENT.path || ended.has(agentPath);
      // A background agent that is still running keeps its own restrictions.
      change({ restraining: restraining.filter((entry) => !isOver(entry)) });
      ended.clear();
    },
    release(path) {
      change({ granting: granting.filter(({ agentPath }) => !isAtOrBelow(agentPath, path)) });
      // fail-closed: an agent resumed before the user's next message is still restricted.
      if (restraining.some(({ agentPath }) => agentPath === path)) ended.add(path);
    },
    rules(agent) {
      if (granting.length === 0 && restraining.length === 0) return NO_RULES;
      const known = sets.get(agent.path);
      if (known !== undefined) return known;
      const mine = granting.filter(({ agentPath }) => agentPath === agent.path);
      const set: RuleSet = {
        allow: eachOnce(mine.flatMap(({ rules }) => rules.allow)),
        ask: [],
        deny: eachOnce(restraints(agent).flatMap(({ rules }) => rules.deny)),
      };
      sets.set(agent.path, set);
      return set;
    },
    restraining: (agent) =>
      restraints(agent).find(({ rules }) => rules.deny.length > 0 || rules.fence !== undefined)
        ?.skill,
    guard: {
      name: 'skill fence',
      onFailure: 'deny',
      async decide(view) {
        if (restraining.length === 0) return NOTHING;
        const entries = restraints(view.call.agent);
        return entries.length === 0 ? NOTHING : heldByFence(entries, view);
      },
    },
  };
}

/** A call must be covered by every skill's `fence-tools`. */
async function heldByFence(entries: readonly Entry[], view: CallView): Promise<Finding> {
  for (const { skill, rules } of entries) {
    const { fence } = rules;
    if (fence === undefined || (await isCovered(fence.rules, view))) continue;
    const inside = fence.rules.map(({ text }) => text).join(', ');
    const what = inside === '' ? 'no tool' : `only ${inside}`;
    return {
      decision: 'deny',
      reason: `the skill ${skill.name} lets ${what} be used until the user's next message`,
      source: fence.origin,
    };
  }
  return NOTHING;
}

/** A skill that is invoked twice adds its rules once. */
function eachOnce(rules: readonly Rule[]): readonly Rule[] {
  return [...new Map(rules.map((rule) => [`${rule.spec.kind} ${rule.label}`, rule])).values()];
}

function isAtOrBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}/`);
}

/** The tools of an agent that is about to run a skill. */
export interface ForkTools {
  resolve(name: string): AnyTool | undefined;
}

/** Reads what follows the prompt of an agent with these tools; an error refuses its start. */
export type BesideFork = (tools: ForkTools) => Promise<Result<readonly UserBlock[], string>>;

/**
 * Reads content for an agent that is about to run a skill. fail-closed: meanwhile its parent is bound by
 * all rules of the skill, so that nothing is read that the agent may not read.
 */
export async function besideFork(
  grants: SkillGrants,
  tools: ForkTools,
  {
    skill,
    agent,
    projectDir,
    beside,
  }: {
    readonly skill: Skill;
    readonly agent: AgentRef;
    readonly projectDir: string;
    readonly beside: BesideFork | undefined;
  },
): ReturnType<BesideFork> {
  if (beside === undefined) return ok([]);
  const grant = grants.add(skill, agent, projectDir);
  if (!grant.ok) return grant;
  grant.value.restrain();
  try {
    return await beside(tools);
  } finally {
    grant.value.withdraw();
  }
}
