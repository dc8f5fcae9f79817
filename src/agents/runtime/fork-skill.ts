import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import type { Result } from '../../lib/result.js';
import { type AgentRef, DEFAULT_AGENT } from '../../protocol/agent-ref.js';
import type { ForkTools } from '../../skills/grants/grant.js';
import type { ForkTask, RunFork } from '../../skills/invoke/invoke.js';
import type { AgentDefinition } from '../definitions/definition.js';
import type { AgentBook } from '../definitions/definitions.js';
import { type ReportWords, reportText } from './report.js';
import type { AgentRuntime } from './runtime.js';

/** Runs skills with `context: fork` as agents of their own, which the caller waits for. */
export function forkRunner(parts: {
  readonly book: Pick<AgentBook, 'resolve'>;
  readonly runtime: Pick<AgentRuntime, 'spawn'>;
  readonly words: ReportWords;
  readonly hooks: Pick<OpenHooks, 'addScoped' | 'tell'>;
  /** The tools that an agent of this type would get from this parent. */
  toolsOf(definition: AgentDefinition, parent: AgentRef): Promise<Result<ForkTools, string>>;
  /** Why this agent may not start this type. */
  forbids(agent: AgentRef, definition: AgentDefinition): Promise<string | undefined>;
}): RunFork {
  return async (task) => {
    const found = await parts.book.resolve(task.agentType ?? DEFAULT_AGENT);
    if (!found.ok) return { kind: 'refused', reason: found.error };
    // fail-closed: a rule for an agent type holds however the agent is started.
    const forbidden = await parts.forbids(task.parent, found.value);
    if (forbidden !== undefined) {
      return {
        kind: 'refused',
        reason: `no agent ${found.value.name} may be started: ${forbidden}`,
      };
    }
    const tools = await parts.toolsOf(found.value, task.parent);
    const beside = tools.ok ? await task.beside(tools.value) : tools;
    if (!beside.ok) return { kind: 'refused', reason: beside.error };
    const { skill, notes } = task;
    for (const note of notes) parts.hooks.tell(`skill ${skill.name}: ${note}`);
    const ends: (() => void)[] = [];
    let refusal: string | undefined;
    const started = await parts.runtime.spawn({
      definition: found.value,
      description: `skill ${skill.name}`,
      prompt: task.prompt,
      beside: beside.value,
      parent: task.parent,
      toolUseId: '',
      background: false,
      signal: task.signal,
      model: task.model,
      effort: task.effort,
      admit(child: AgentRef) {
        const grant = task.grant(child);
        if (!grant.ok) refusal = grant.error;
        else ends.push(grant.value.withdraw, putHooks(parts.hooks, child, task));
        return refusal;
      },
    });
    if (!started.ok) {
      for (const end of ends) end();
      return { kind: 'refused', reason: refusal ?? started.error };
    }
    const report = await started.value.ended;
    for (const end of ends) end();
    const text = await reportText(report, parts.words);
    return { kind: 'done', text, isError: report.end.kind !== 'done' };
  };
}

/** Adds the skill's hooks to those of the agent type, under the skill's own trust. */
function putHooks(
  { addScoped }: Pick<OpenHooks, 'addScoped'>,
  child: AgentRef,
  { hooks }: ForkTask,
): () => void {
  if (hooks === undefined) return () => undefined;
  return addScoped({ kind: 'agent', agentId: child.id, ...hooks, name: `skill ${hooks.name}` });
}
