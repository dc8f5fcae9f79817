import { type ViewDeps, viewOf } from '../../permissions/gate/view.js';
import { findRestriction } from '../../permissions/rules/match.js';
import type { RuleSet } from '../../permissions/rules/rules.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AnyTool, Workspace } from '../../tools/tool.js';
import { asName } from '../discovery/names.js';
import type { SkillBook } from '../skill.js';
import type { SkillInvoker } from './invoke.js';

/** The texts of skills that an agent gets at its start, without their grants and restrictions. */
export async function preloadSkills(
  deps: {
    readonly book: Pick<SkillBook, 'find'>;
    readonly invoker: Pick<SkillInvoker, 'invoke'>;
    /** Why rules forbid this agent the skill; undefined when they do not. */
    forbids(name: string, agent: AgentRef): Promise<string | undefined>;
    tell(text: string): void;
  },
  order: {
    readonly names: readonly string[];
    readonly agent: AgentRef;
    readonly signal: AbortSignal;
  },
): Promise<readonly string[]> {
  const { agent, signal } = order;
  const texts: string[] = [];
  for (const name of order.names) {
    const skill = await deps.book.find(asName(name));
    // Such a skill would run instead of being shown.
    const isFork = skill?.head.context === 'fork';
    const forbidden = await deps.forbids(asName(name), agent);
    const outcome =
      isFork || forbidden !== undefined
        ? undefined
        : await deps.invoker.invoke({ name, by: 'model', agent, signal });
    if (outcome?.kind === 'ready') {
      outcome.withdraw();
      texts.push(outcome.message);
      continue;
    }
    const refused = outcome?.kind === 'refused' ? outcome.reason : forbidden;
    const why = refused ?? 'it runs as an agent of its own';
    deps.tell(`the skill ${name} is not given to ${agent.path}: ${why}`);
  }
  return texts;
}

/**
 * Why deny or ask rules forbid an agent to start a skill. Only rules count: an agent without the Skill tool
 * may be given skills, and their grants, which would need a question, are not applied.
 */
export async function forbiddenByRules(
  {
    tool,
    workspace,
    view: parts,
    rules,
  }: {
    readonly tool: AnyTool;
    readonly workspace: Workspace;
    readonly view: Pick<ViewDeps, 'fs' | 'home'>;
    readonly rules: RuleSet;
  },
  name: string,
  agent: AgentRef,
): Promise<string | undefined> {
  const input = { skill: name };
  const subject = tool.subject(input, workspace);
  const { signal } = new AbortController();
  const call = { toolUseId: '', tool, input, subject, agent, workspace, signal };
  const view = viewOf(call, { ...parts, mode: 'default', rules });
  const denied = await findRestriction(rules.deny, view);
  if (denied !== undefined) return `the rule ${denied.rule.label} denies it`;
  const asked = await findRestriction(rules.ask, view);
  // fail-closed: no person is asked while an agent starts.
  return asked && `the rule ${asked.rule.label} asks about it, and no person is asked at the start`;
}
