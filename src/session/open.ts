import { PortcullisError } from '../errors.js';
import type { Clock } from '../platform/clock.js';
import type { Message, ToolUseBlock } from '../protocol/content.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import type { TranscriptEntry } from '../protocol/transcript.js';
import { factsOf } from './recorder.js';
import type { ResumeOptions } from './resume.js';
import { chainOf } from './transcript/chain.js';
import type { LoadedSession, SessionFacts, SessionStore } from './transcript/store.js';

/** How a session begins; `newId` is the id of a fork. */
export type SessionStart =
  | { readonly kind: 'new'; readonly id: string | undefined }
  | { readonly kind: 'continue'; readonly newId: string | undefined }
  | {
      readonly kind: 'resume';
      readonly id: string;
      readonly newId: string | undefined;
      readonly at: string | undefined;
      /** The only turn that resuming may drop; undefined allows dropping everything after `at`. */
      readonly dropsTurn?: string | undefined;
    };

/** The history that a session starts from. */
export interface History extends SessionFacts {
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly messages: readonly Message[];
  readonly parentUuid: string | null;
  /** Of every entry of the transcript, on all branches. */
  readonly usedUuids: Iterable<string>;
  /** Results to record for calls that were running when the previous run ended. */
  readonly missingResults: readonly {
    readonly call: ToolUseBlock;
    readonly result: ToolCallResult;
  }[];
  /** Calls that a hook deferred; the session asks about them again before anything else. */
  readonly deferredCalls: readonly ToolUseBlock[];
  readonly forked: boolean;
  /** The session that this one is a copy of. */
  readonly forkedFrom?: string;
  /** The session's last working directory. */
  readonly lastCwd: string | undefined;
  readonly damagedLines?: number | undefined;
}

/** Finds or creates the history that a session starts from; writes nothing except a fork's own file. */
export async function openHistory(
  store: SessionStore,
  start: SessionStart,
  options: { readonly fork: boolean; readonly clock: Clock } & Pick<ResumeOptions, 'runsAgain'>,
): Promise<History> {
  if (start.kind === 'new') {
    if (start.id !== undefined) await refuseUsedId(store, start.id);
    return freshHistory(start.id ?? options.clock.uuid());
  }
  const id = start.kind === 'continue' ? await store.newest() : await store.find(start.id);
  if (id === undefined) {
    // `--continue` without a session starts a new one; `--resume` with an unknown id is an error.
    if (start.kind === 'continue') return freshHistory(start.newId ?? options.clock.uuid());
    throw new PortcullisError('session', `No conversation found with session ID: ${start.id}`, {
      remedy:
        'leave --resume out to start a new one, or use --continue for the newest one of this directory',
    });
  }
  return await resumedHistory(store, { id, start, ...options });
}

/** fail-closed: two conversations under one id would be mixed up. */
async function refuseUsedId(store: SessionStore, sessionId: string): Promise<void> {
  if ((await store.read(sessionId)) === undefined) return;
  throw new PortcullisError('session', `Session ID ${sessionId} is already in use`, {
    remedy: `go on with it: --resume ${sessionId}`,
  });
}

function freshHistory(sessionId: string): History {
  return {
    sessionId,
    resumed: false,
    messages: [],
    parentUuid: null,
    usedUuids: [],
    missingResults: [],
    deferredCalls: [],
    forked: false,
    lastCwd: undefined,
  };
}

async function resumedHistory(
  store: SessionStore,
  order: { id: string; start: Exclude<SessionStart, { kind: 'new' }> } & Parameters<
    typeof openHistory
  >[2],
): Promise<History> {
  const { loadConversation } = await import('./resume.js');
  const at = order.start.kind === 'resume' ? order.start.at : undefined;
  let loaded = await store.read(order.id);
  let sessionId = order.id;
  if (loaded === undefined) {
    throw new PortcullisError('session', `the transcript of session ${order.id} cannot be read`);
  }
  const turn = order.start.kind === 'resume' ? order.start.dropsTurn : undefined;
  if (at !== undefined && turn !== undefined) {
    refuseOtherTurns(loaded, { resumeAt: at, turn });
  }
  if (order.fork) {
    const { forkSession } = await import('./fork.js');
    if (order.start.newId !== undefined) await refuseUsedId(store, order.start.newId);
    sessionId = order.start.newId ?? order.clock.uuid();
    loaded = await forkSession(store, loaded, {
      newSessionId: sessionId,
      clock: order.clock,
      resumeAt: at,
    });
  }
  const { runsAgain } = order;
  const conversation = loadConversation(
    loaded,
    at === undefined || order.fork ? { runsAgain } : { resumeAt: at, runsAgain },
  );
  return {
    sessionId,
    resumed: true,
    messages: conversation.messages,
    parentUuid: conversation.lastUuid,
    usedUuids: [...loaded.entries.map((entry) => entry.uuid), ...(loaded.links?.keys() ?? [])],
    missingResults: conversation.danglingCalls.map(({ call, result }) => ({
      call,
      result: { uuid: order.clock.uuid(), block: result },
    })),
    deferredCalls: conversation.deferredCalls,
    forked: order.fork,
    forkedFrom: order.fork ? order.id : undefined,
    lastCwd: loaded.entries.findLast((entry) => entry.cwd !== undefined)?.cwd,
    ...factsOf(loaded),
    damagedLines: loaded.damagedLines,
  };
}

/**
 * fail-closed: a client that resumes at an earlier entry may name the turn it drops; throws when any
 * other turn would be dropped, too.
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

/** True for a message that a person typed, false for tool results. */
function isPrompt(entry: TranscriptEntry): boolean {
  if (entry.type !== 'user' || entry.isMeta === true) return false;
  const { content } = entry.message;
  return typeof content === 'string' || content.some((block) => block.type !== 'tool_result');
}
