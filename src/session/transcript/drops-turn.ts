import { PortcullisError } from '../../errors.js';
import type { TranscriptEntry } from '../../protocol/transcript.js';
import { chainOf } from './chain.js';
import type { LoadedSession } from './store.js';

/**
 * fail-closed: whoever goes back to an earlier point may name the turn that is given up by it; when
 * anything else would be given up too, nothing is. Throws.
 */
export function refuseOtherTurns(
  loaded: LoadedSession,
  { resumeAt, turn }: { readonly resumeAt: string; readonly turn: string },
): void {
  const { entries } = chainOf(loaded);
  const at = entries.findIndex(({ uuid }) => uuid === resumeAt);
  const rejection = (why: string): PortcullisError =>
    new PortcullisError('session', `Resume rejected by --resume-drops-turn: ${why}`);
  if (at < 0) throw rejection(`${resumeAt} is not part of the conversation`);
  let prompt = entries.slice(0, at + 1).findLast(isPrompt)?.uuid;
  for (const entry of entries.slice(at + 1)) {
    if (isPrompt(entry)) prompt = entry.uuid;
    if (prompt === turn) continue;
    throw rejection(`what comes after ${resumeAt} also belongs to the turn of ${prompt}`);
  }
}

/** What a person said, and no result of a tool. */
function isPrompt(entry: TranscriptEntry): boolean {
  if (entry.type !== 'user' || entry.isMeta === true) return false;
  const { content } = entry.message;
  return typeof content === 'string' || content.some((block) => block.type !== 'tool_result');
}
