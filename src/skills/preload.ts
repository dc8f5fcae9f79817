import type { AgentRef } from '../protocol/agent-ref.js';
import type { SkillInvoker } from './invoke.js';
import { asName } from './names.js';
import type { SkillBook } from './skill.js';

/** The texts of skills that an agent is given from the start: no grant and no restriction of theirs holds. */
export async function preloadSkills(
  deps: {
    readonly book: Pick<SkillBook, 'find'>;
    readonly invoker: Pick<SkillInvoker, 'invoke'>;
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
    // It would be started, not shown.
    const isFork = skill?.head.context === 'fork';
    const outcome = isFork
      ? undefined
      : await deps.invoker.invoke({ name, by: 'model', agent, signal });
    if (outcome?.kind === 'ready') {
      outcome.withdraw();
      texts.push(outcome.message);
      continue;
    }
    const why = outcome?.kind === 'refused' ? outcome.reason : 'it runs as an agent of its own';
    deps.tell(`the skill ${name} is not given to ${agent.path}: ${why}`);
  }
  return texts;
}
