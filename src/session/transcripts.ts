import { err, ok, type Result } from '../lib/result.js';
import type { Conversation } from '../loop/types.js';
import { systemClock } from '../platform/clock.js';
import { configDirectory, type DirectoryEnvironment, join } from '../platform/fs/paths.js';
import { hostFacts } from '../platform/host.js';
import { textOf } from '../protocol/content.js';
import type { TranscriptEntry } from '../protocol/transcript.js';
import { forkSession } from './fork.js';
import { loadConversation } from './resume.js';
import { openFileArchive, type TranscriptArchive } from './transcript/archive.js';
import { chainOf } from './transcript/chain.js';
import { createJsonlStore } from './transcript/jsonl-store.js';
import { type RawLine, sessionOf } from './transcript/lines.js';
import { createMemoryStore } from './transcript/memory-store.js';
import { mirrored } from './transcript/mirror.js';
import type { SessionLog } from './transcript/open-log.js';
import type { NewLine, SessionStore } from './transcript/store.js';

/** Opens the transcript files of the user with this environment. */
export function openTranscripts(env: DirectoryEnvironment): TranscriptArchive {
  return openFileArchive(configDirectory(env));
}

/** The folder name under which a directory's sessions are stored. */
export { projectSlug as projectKeyOf } from '../platform/fs/paths.js';

/** The branch that a conversation continues on, from its lines. */
export function conversationOf(
  sessionId: string,
  lines: readonly RawLine[],
  options: { readonly sidechain?: boolean } = {},
): readonly TranscriptEntry[] {
  return chainOf(sessionOf(sessionId, lines), options).entries;
}

export interface ForkOrder {
  readonly sessionId: string;
  readonly upTo: string | undefined;
  readonly title: string | undefined;
}

/** Copies a session in files, long outputs included, and returns the id of the copy. */
export async function forkInFiles(
  env: DirectoryEnvironment,
  project: string,
  order: ForkOrder,
): Promise<string> {
  const store = createJsonlStore({
    configDir: configDirectory(env),
    cwd: '/',
    projectDirName: project,
  });
  try {
    return await fork(store, order);
  } finally {
    store.close();
  }
}

/** Copies a session given as lines, and returns the lines and the id of the copy. */
export async function forkOfLines(
  lines: readonly RawLine[],
  order: ForkOrder,
): Promise<{ readonly sessionId: string; readonly lines: readonly RawLine[] }> {
  const copied: RawLine[] = [];
  const store = memoryStoreOf([{ sessionId: order.sessionId, lines }]);
  const told = mirrored(store, (news) => {
    if (news.type === 'transcript') copied.push(...(news.lines as readonly RawLine[]));
  });
  return { sessionId: await fork(told, order), lines: copied };
}

/** A store in memory, filled with these sessions. */
export function memoryStoreOf(
  sessions: readonly {
    readonly sessionId: string;
    /** Absent: the lines of the main agent. */
    readonly agentId?: string | undefined;
    readonly lines: readonly RawLine[];
  }[],
): SessionStore {
  const store = createMemoryStore({
    // A random name, which no other process can have prepared.
    directory: join(hostFacts().temporaryDirectory, `portcullis-${systemClock.uuid()}`),
  });
  for (const { sessionId, agentId, lines } of sessions) {
    // Lines of any kind: the store looks at them when it reads them.
    store.append(sessionId, lines as readonly object[] as readonly NewLine[], agentId);
  }
  return store;
}

async function fork(store: SessionStore, order: ForkOrder): Promise<string> {
  const loaded = await store.read(order.sessionId);
  const newSessionId = systemClock.uuid();
  if (loaded === undefined) return newSessionId;
  await forkSession(store, loaded, {
    newSessionId,
    clock: systemClock,
    resumeAt: order.upTo,
    title: order.title,
  });
  return newSessionId;
}

export interface ConversationRewindParts {
  readonly log: Pick<SessionLog, 'store' | 'recorder' | 'history'>;
  readonly conversation: Pick<Conversation, 'replace'>;
  readonly isRunning: boolean;
}

/** Rewinds the conversation to before a message of the person, on a new branch of the transcript. */
export async function takeBackConversation(
  { log, conversation, isRunning }: ConversationRewindParts,
  messageId: string,
): Promise<Result<{ readonly prompt: string }, string>> {
  const { store, recorder, history } = log;
  // fail-closed: a running turn would keep writing to the abandoned branch.
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
  // Recorded on the new branch, so that resuming the session finds this branch as its newest.
  recorder.note('The conversation was taken back to here.');
  return ok({ prompt });
}
