import { createConversation } from '../loop/conversation.js';
import type { Message, ToolUseBlock } from '../protocol/content.js';
import type { TranscriptEntry } from '../protocol/transcript.js';
import { type ChainOptions, chainOf } from './transcript/chain.js';
import { type DanglingCall, rebuildMessages } from './transcript/messages.js';
import type { LoadedSession } from './transcript/store.js';

export interface ResumeOptions extends ChainOptions {
  /** Selects unanswered calls at the end that run again instead of getting a placeholder result. */
  readonly runsAgain?: ((call: ToolUseBlock) => boolean) | undefined;
}

/** A conversation rebuilt from its transcript, ready to continue. */
export interface ResumedConversation {
  readonly messages: readonly Message[];
  /** The parent of the next entry. */
  readonly lastUuid: string | null;
  /**
   * Calls that were running when the run ended. Record each `result`, so that the transcript matches
   * what the model is told (`messages` contains it already).
   */
  readonly danglingCalls: readonly DanglingCall[];
  /** The call that a hook deferred when it ended the run; it has neither a result nor a placeholder. */
  readonly deferredCalls: readonly ToolUseBlock[];
}

/** Throws a `PortcullisError` when `resumeAt` is no entry of the session. */
export function loadConversation(
  loaded: LoadedSession,
  options: ResumeOptions = {},
): ResumedConversation {
  const { entries, leaf } = chainOf(loaded, options);
  const { messages, dangling } = rebuildMessages(entries);
  const marked = deferredIn(entries.at(-1));
  if (dangling.length === 1 && dangling[0]?.call.id === marked) {
    const deferredCalls = dangling.map(({ call }) => call);
    return { messages, lastUuid: leaf, danglingCalls: [], deferredCalls };
  }
  const again = dangling.filter(({ call }) => options.runsAgain?.(call) === true);
  const unknown = dangling.filter((one) => !again.includes(one));
  return {
    messages: withResults(messages, unknown),
    lastUuid: leaf,
    danglingCalls: unknown,
    deferredCalls: again.map(({ call }) => call),
  };
}

/** Adds the placeholder results of some calls of the last answer; the other calls run again. */
function withResults(
  messages: readonly Message[],
  unknown: readonly DanglingCall[],
): readonly Message[] {
  const conversation = createConversation(messages);
  const content = unknown.map(({ result }) => result);
  if (content.length > 0) conversation.append({ role: 'user', content });
  return conversation.messages;
}

function deferredIn(entry: TranscriptEntry | undefined): string | undefined {
  if (entry?.type !== 'attachment' || entry.attachment.type !== DEFERRED_MARK) return undefined;
  const { toolUseId } = entry.attachment;
  return typeof toolUseId === 'string' ? toolUseId : undefined;
}

/** The attachment type that marks, as the last entry, a run that ended with a deferred call. */
export const DEFERRED_MARK = 'tool_deferred';
