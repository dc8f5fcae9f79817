import type { InputMessage, StopReason } from '../loop/types.js';
import type { ModelRequest } from '../model/client.js';
import { quantity, type Shortage, shortageWords } from './units.js';

/** Said to an agent before its last turn. */
export function lastTurnText({ unit, limit, left }: Shortage): string {
  const rest = unit === 'turns' ? 'this turn' : quantity(unit, Math.max(0, left));
  return `The budget of ${quantity(unit, limit)} is nearly used up (left: ${rest}). This is your last turn: finish now. Call no tools. Give your final answer: what you found or did, and what remains to be done.`;
}

/**
 * The request with one more text at its end, for an agent whose results were larger than could be
 * foreseen. Nothing follows it, so that the conversation need not remember it.
 */
export function withLastWord(request: ModelRequest, note: InputMessage): ModelRequest {
  const last = request.messages.at(-1);
  if (last?.role !== 'user') {
    return { ...request, messages: [...request.messages, { role: 'user', content: note.content }] };
  }
  const told = { ...last, content: [...last.content, ...note.content] };
  return { ...request, messages: [...request.messages.slice(0, -1), told] };
}

/** How a run of the agent at a path ends whose budget is used up. */
export function stopFor(
  short: Shortage,
  { spentUsd, path }: { readonly spentUsd: number; readonly path: string },
): StopReason {
  if (short.unit === 'turns') {
    const used = { ...short, left: 0 };
    const words = short.path === path ? {} : { words: shortageWords(used) };
    return { kind: 'max_turns', limit: short.limit, ...words };
  }
  return {
    kind: 'budget',
    limitUsd: short.unit === 'usd' ? short.limit : 0,
    spentUsd,
    words: shortageWords(short),
    ...(short.unit === 'seconds' ? { by: 'time' as const } : {}),
  };
}
