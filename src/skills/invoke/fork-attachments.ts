import { ok, type Result } from '../../lib/result.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { UserBlock } from '../../protocol/content.js';
import type { AnyTool } from '../../tools/tool.js';
import type { SkillGrants } from '../grants/grant.js';
import type { Skill } from '../skill.js';

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
