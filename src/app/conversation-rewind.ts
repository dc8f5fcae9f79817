import { err, ok, type Result } from '../lib/result.js';
import type { Conversation } from '../loop/types.js';
import { textOf } from '../protocol/content.js';
import { loadConversation } from '../session/resume.js';
import type { Log } from './session-environment.js';

export interface ConversationRewindParts {
  readonly log: Pick<Log, 'store' | 'recorder' | 'history'>;
  readonly conversation: Pick<Conversation, 'replace'>;
  readonly isRunning: boolean;
}

/** Goes on from before a message of the person, on a branch of the transcript. */
export async function takeBackConversation(
  { log, conversation, isRunning }: ConversationRewindParts,
  messageId: string,
): Promise<Result<{ readonly prompt: string }, string>> {
  const { store, recorder, history } = log;
  // fail-closed: a running turn would go on writing to the branch that was left.
  if (isRunning) return err('a turn is running; interrupt it first');
  const loaded = await store.read(history.sessionId);
  if (loaded === undefined) return err('this session keeps no transcript');
  const entry = loaded.entries.find(({ uuid }) => uuid === messageId);
  if (entry?.type !== 'user' || entry.isMeta === true) {
    return err(`the session has no message ${messageId}`);
  }
  const { parentUuid } = entry;
  const before =
    parentUuid === null ? { messages: [] } : loadConversation(loaded, { resumeAt: parentUuid });
  conversation.replace(before.messages);
  recorder.goTo(parentUuid);
  const { content } = entry.message;
  const prompt = typeof content === 'string' ? content : textOf(content);
  // Said on the new branch, so that whoever resumes the session finds this one as its newest.
  recorder.note('The conversation was taken back to here.');
  return ok({ prompt });
}
