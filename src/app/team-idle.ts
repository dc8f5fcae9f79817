import type { OpenHooks } from '../agents/core/session-hooks.js';
import type { IdleDecision, ModelAnswer } from '../loop/types.js';
import { textOf } from '../protocol/content.js';
import type { OpenAgents } from './agents.js';

/** One that works for another session waits for it instead of leaving. Undefined: the run ends. */
export async function teamRest(
  { agents, hooks }: { readonly agents: OpenAgents; readonly hooks: OpenHooks },
  answer: ModelAnswer,
  signal: AbortSignal,
): Promise<IdleDecision> {
  const move = await agents.teams?.side.rest?.(hooks.scene(signal), textOf(answer.message.content));
  if (move?.kind === 'go-on') return await hooks.notes.note([move.text]);
  if (move?.kind !== 'leave' || move.stop === undefined) return undefined;
  return { leave: { kind: 'stop_prevented', message: move.stop } };
}
