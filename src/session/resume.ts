import { createConversation } from '../loop/conversation.js';
import type { Message, ToolUseBlock, Usage } from '../protocol/content.js';
import { PERMISSION_MODES, type PermissionMode } from '../protocol/permissions.js';
import type { AssistantEntry, TranscriptEntry } from '../protocol/transcript.js';
import { SYNTHETIC_MODEL } from './recorder.js';
import { type ChainOptions, chainOf } from './transcript/chain.js';
import { type DanglingCall, rebuildMessages } from './transcript/messages.js';
import type { LoadedSession } from './transcript/store.js';

export interface ResumeOptions extends ChainOptions {
  /** Leaves unanswered calls at the end without a stand-in, for a caller that will run them. */
  readonly keepDangling?: boolean;
  /** Calls at the end that run again instead of getting a stand-in. */
  readonly runsAgain?: ((call: ToolUseBlock) => boolean) | undefined;
}

/** A conversation as it was left, ready to go on. */
export interface ResumedConversation {
  readonly messages: readonly Message[];
  /** The parent of the next entry. */
  readonly lastUuid: string | null;
  /**
   * Calls that were running when the run ended. Record each `result`, so that the transcript says
   * what the model is told (`messages` already does, unless `keepDangling`).
   */
  readonly danglingCalls: readonly DanglingCall[];
  /** The call that a hook put off, when the run ended for it: it has no result yet, nor a stand-in. */
  readonly deferredCalls: readonly ToolUseBlock[];
  /** The model that answered last. */
  readonly model?: string;
  readonly permissionMode?: PermissionMode;
  readonly compacted: boolean;
  /** What the provider counted for the last answer; none when the history changed since. */
  readonly lastUsage?: Usage;
}

/** Throws a `PortcullisError` when `resumeAt` is no entry of the session. */
export function loadConversation(
  loaded: LoadedSession,
  options: ResumeOptions = {},
): ResumedConversation {
  const chain = chainOf(loaded, options);
  const marked = deferredIn(chain.entries.at(-1));
  const rebuilt = rebuildMessages(
    chain.entries,
    marked === undefined && options.runsAgain === undefined
      ? options
      : { ...options, keepDangling: true },
  );
  const { runsAgain } = options;
  const again = rebuilt.dangling.filter(({ call }) => runsAgain?.(call) === true);
  const unknown = rebuilt.dangling.filter((one) => !again.includes(one));
  const [only, ...others] = rebuilt.dangling;
  const deferred = others.length === 0 && only !== undefined && only.call.id === marked;
  const answer = chain.entries.findLast(isRealAnswer);
  return {
    messages: runsAgain === undefined ? rebuilt.messages : withResults(rebuilt.messages, unknown),
    lastUuid: chain.leaf,
    danglingCalls: deferred ? [] : unknown,
    deferredCalls: deferred ? [only.call] : again.map(({ call }) => call),
    compacted: chain.compacted,
    model: answer?.message.model,
    lastUsage: answer?.message.usage,
    permissionMode: lastMode(chain.entries),
  };
}

/** Adds the stand-ins of some calls of the last answer; the others run again. */
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

function isRealAnswer(entry: TranscriptEntry): entry is AssistantEntry {
  return (
    entry.type === 'assistant' &&
    typeof entry.message.model === 'string' &&
    entry.message.model !== SYNTHETIC_MODEL &&
    entry.message.usage !== undefined
  );
}

function lastMode(entries: readonly TranscriptEntry[]): PermissionMode | undefined {
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'user' || entry.permissionMode === undefined) continue;
    // fail-closed: a mode that we do not know is not restored.
    return PERMISSION_MODES.find((mode) => mode === entry.permissionMode);
  }
  return undefined;
}

/** What marks, as the last entry, that a run ended with a call that was put off. */
export const DEFERRED_MARK = 'tool_deferred';
