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

/** What one invocation of a skill opened and closed. */
export interface SkillGrant {
  /** The allow rules it brought. */
  readonly granted: readonly SourcedRule[];
  /** What of the head is not in force, and why. */
  readonly notes: readonly string[];
  /** The skill is active: from now on its restrictions hold too. */
  restrain(): void;
  /** The skill did not come about: as if it had never been. */
  withdraw(): void;
}

/**
 * What skills grant and forbid. Allow rules hold for the agent that invoked the skill, to the end of
 * the turn at most; restrictions also for the agents it starts, until the next message of the user.
 */
export interface SkillGrants {
  /**
   * Puts the allow rules of a skill in force. An error: it has a restriction that cannot be honoured.
   * `directory`: the project as the agent has it; absent: as the session has it.
   */
  add(skill: Skill, agent: AgentRef, directory?: string): Result<SkillGrant, string>;
  /**
   * A new turn: what was granted is over. `said`: it answers a message of the user, with which
   * restrictions end too; reports of agents and commands begin turns without one.
   */
  beginTurn(turn: { readonly said: boolean }): void;
  /** An agent has ended, and what it was granted with it. It may be resumed, so restrictions stay. */
  release(agentPath: string): void;
  /** Allow and deny rules of this agent; the same object while nothing changes. */
  rules(agent: AgentRef): RuleSet;
  /** A skill whose restrictions hold for the agent now. */
  restraining(agent: AgentRef): Skill | undefined;
  /** Refuses what lies outside of a fence. */
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
      // fail-closed: what reaches the model without the user frees it of nothing.
      if (!said) return;
      const isOver = ({ agentPath }: Entry) =>
        agentPath === MAIN_AGENT.path || ended.has(agentPath);
      // An agent that works on in the background keeps its own restrictions.
      change({ restraining: restraining.filter((entry) => !isOver(entry)) });
      ended.clear();
    },
    release(path) {
      change({ granting: granting.filter(({ agentPath }) => !isAtOrBelow(agentPath, path)) });
      // fail-closed: whoever resumes it before the user speaks gets it as bound as it was.
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

/** Every fence holds: a call must lie within all of them. */
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

/** A skill that is invoked twice brings its rules once. */
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

/** What stands behind the prompt of an agent that has these tools. An error: why it must not start. */
export type BesideFork = (tools: ForkTools) => Promise<Result<readonly UserBlock[], string>>;

/**
 * What is read for an agent that is about to run a skill. fail-closed: meanwhile all that the head grants
 * and forbids that agent holds for whoever starts it, so that nothing is read that the agent may not.
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
