import { DEFAULT_AGENT } from '../agents/builtin-agents.js';
import { type ReportWords, reportText } from '../agents/child-words.js';
import type { AgentDefinition } from '../agents/definition.js';
import type { AgentBook } from '../agents/definition-types.js';
import type { AgentRuntime } from '../agents/spawn.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { RunFork } from '../skills/invoke.js';

/** Runs skills that are agents of their own (`context: fork`). Whoever invoked one waits for it. */
export function forkRunner(parts: {
  readonly book: Pick<AgentBook, 'resolve'>;
  runtime(): AgentRuntime;
  readonly words: ReportWords;
  /** Why this agent may start none of this kind. */
  forbids(agent: AgentRef, definition: AgentDefinition): Promise<string | undefined>;
}): RunFork {
  return async (task) => {
    const found = await parts.book.resolve(task.agentType ?? DEFAULT_AGENT);
    if (!found.ok) return { kind: 'refused', reason: found.error };
    // fail-closed: a rule for agents of a type holds however one is started.
    const forbidden = await parts.forbids(task.parent, found.value);
    if (forbidden !== undefined) {
      return {
        kind: 'refused',
        reason: `no agent ${found.value.name} may be started: ${forbidden}`,
      };
    }
    let withdraw: () => void = () => undefined;
    let refusal: string | undefined;
    const definition: AgentDefinition = withHooks(found.value, task.hooks);
    const started = await parts.runtime().spawn({
      definition,
      description: `skill ${task.skill.name}`,
      prompt: task.prompt,
      parent: task.parent,
      toolUseId: '',
      background: false,
      signal: task.signal,
      ...(task.model === undefined ? {} : { model: task.model }),
      ...(task.effort === undefined ? {} : { effort: task.effort }),
      admit(child: AgentRef) {
        const grant = task.grant(child);
        if (!grant.ok) refusal = grant.error;
        else withdraw = grant.value.withdraw;
        return refusal;
      },
    });
    if (!started.ok) return { kind: 'refused', reason: refusal ?? started.error };
    const report = await started.value.ended;
    withdraw();
    const text = await reportText(report, parts.words);
    return { kind: 'done', text, isError: report.end.kind !== 'done' };
  };
}

/** The hooks of the skill stand with those of the kind of agent. */
function withHooks(
  definition: AgentDefinition,
  skill: Parameters<RunFork>[0]['hooks'],
): AgentDefinition {
  if (skill === undefined || !skill.trusted || definition.hooks !== undefined) return definition;
  return { ...definition, hooks: skill.hooks as NonNullable<AgentDefinition['hooks']> };
}
