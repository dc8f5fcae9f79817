import { summarizeSession } from '../client/session-summary.js';
import { PortcullisError } from '../errors.js';
import {
  conversationOf,
  forkInFiles,
  forkOfLines,
  openTranscripts,
  processEnvironment,
  projectKeyOf,
  resolvePath,
  type SessionShelf,
  type ShelfItem,
  type ShelfPlace,
  workingDirectory,
} from '../harness.js';
import { isRecord } from '../util/own.js';
import { shelfOf } from './store-shelf.js';
import type {
  ForkSessionOptions,
  ForkSessionResult,
  GetSessionInfoOptions,
  GetSessionMessagesOptions,
  GetSubagentMessagesOptions,
  ImportSessionToStoreOptions,
  ListSessionsOptions,
  ListSubagentsOptions,
  SDKSessionInfo,
  SessionMessage,
  SessionMutationOptions,
  SessionStore,
  SessionStoreEntry,
} from './types/index.js';

interface Where {
  dir?: string;
  sessionStore?: SessionStore;
}

/** Sessions of a project, or of all of them, newest first. */
export async function listSessions(options: ListSessionsOptions = {}): Promise<SDKSessionInfo[]> {
  const { shelf, project } = open(options);
  const found: SDKSessionInfo[] = [];
  const { offset = 0, limit = Number.POSITIVE_INFINITY } = options;
  for (const item of await shelf.list(project)) {
    // Files are looked into only as far as the caller wants to see.
    if (found.length >= offset + limit) break;
    const facts = summarizeSession(item, await shelf.glance(item));
    if (facts !== undefined) found.push(facts);
  }
  return found.slice(offset, offset + limit);
}

export async function getSessionInfo(
  sessionId: string,
  options: GetSessionInfoOptions = {},
): Promise<SDKSessionInfo | undefined> {
  const { shelf, project } = open(options);
  const place = await shelf.find(sessionId, project);
  if (place === undefined) return undefined;
  return summarizeSession(await itemOf(shelf, place), await shelf.glance(place));
}

/** The conversation as it goes on now: one branch, oldest first. */
export async function getSessionMessages(
  sessionId: string,
  options: GetSessionMessagesOptions = {},
): Promise<SessionMessage[]> {
  const { shelf, project } = open(options);
  const place = await shelf.find(sessionId, project);
  const lines = place === undefined ? undefined : await shelf.lines(place);
  if (lines === undefined) return [];
  const entries = conversationOf(sessionId, lines);
  return page(
    entries.flatMap((entry) => messageOfEntry(entry, sessionId, options)),
    options,
  );
}

/** The agents of a session that have a transcript. */
export async function listSubagents(
  sessionId: string,
  options: ListSubagentsOptions = {},
): Promise<string[]> {
  const { shelf, project } = open(options);
  const place = await shelf.find(sessionId, project);
  return place === undefined ? [] : [...(await shelf.agents(place))];
}

export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options: GetSubagentMessagesOptions = {},
): Promise<SessionMessage[]> {
  const { shelf, project } = open(options);
  const place = await shelf.find(sessionId, project);
  const lines = place === undefined ? undefined : await shelf.lines(place, agentId);
  if (lines === undefined) return [];
  const entries = conversationOf(sessionId, lines, { sidechain: true });
  return page(
    entries.flatMap((entry) => messageOfEntry(entry, sessionId, { agentId })),
    options,
  );
}

export async function renameSession(
  sessionId: string,
  title: string,
  options: SessionMutationOptions = {},
): Promise<void> {
  const customTitle = title.trim();
  if (customTitle === '') throw new PortcullisError('usage', 'the title is empty');
  const { shelf, place } = await demand(sessionId, options);
  await shelf.append(place, [{ type: 'custom-title', customTitle, sessionId }]);
}

/** Null takes the tag away. */
export async function tagSession(
  sessionId: string,
  tag: string | null,
  options: SessionMutationOptions = {},
): Promise<void> {
  const { shelf, place } = await demand(sessionId, options);
  await shelf.append(place, [{ type: 'tag', tag: tag ?? '', sessionId }]);
}

/** Removes the transcript and everything that lies beside it. */
export async function deleteSession(
  sessionId: string,
  options: SessionMutationOptions = {},
): Promise<void> {
  const { shelf, place } = await demand(sessionId, options);
  await shelf.remove(place);
}

/** Copies a session under a new id. The old one stays as it is. */
export async function forkSession(
  sessionId: string,
  options: ForkSessionOptions = {},
): Promise<ForkSessionResult> {
  const { shelf, place } = await demand(sessionId, options);
  const facts = summarizeSession(await itemOf(shelf, place), await shelf.glance(place));
  const title = options.title ?? (facts === undefined ? undefined : `${facts.summary} (fork)`);
  const order = { sessionId, upTo: options.upToMessageId, title };
  if (options.sessionStore === undefined) {
    return { sessionId: await forkInFiles(processEnvironment(), place.project, order) };
  }
  const copy = await forkOfLines((await shelf.lines(place)) ?? [], order);
  await shelf.append({ project: place.project, sessionId: copy.sessionId }, copy.lines);
  return { sessionId: copy.sessionId };
}

const BATCH = 500;

/** Copies a session of the files into a store. */
export async function importSessionToStore(
  sessionId: string,
  store: SessionStore,
  options: ImportSessionToStoreOptions = {},
): Promise<void> {
  const { shelf, place } = await demand(sessionId, options);
  const size = options.batchSize ?? BATCH;
  const agents = options.includeSubagents === false ? [] : await shelf.agents(place);
  for (const agentId of [undefined, ...agents]) {
    const lines = (await shelf.lines(place, agentId)) ?? [];
    const key = {
      projectKey: place.project,
      sessionId,
      ...(agentId === undefined ? {} : { subpath: `subagents/agent-${agentId}` }),
    };
    for (let start = 0; start < lines.length; start += size) {
      await store.append(key, lines.slice(start, start + size) as SessionStoreEntry[]);
    }
  }
}

function open({ dir, sessionStore }: Where): {
  shelf: SessionShelf;
  project: string | undefined;
} {
  const project =
    dir === undefined ? undefined : projectKeyOf(resolvePath(workingDirectory(), dir));
  if (sessionStore === undefined) {
    return { shelf: openTranscripts(processEnvironment()), project };
  }
  return { shelf: shelfOf(sessionStore, project ?? projectKeyOf(workingDirectory())), project };
}

async function demand(
  sessionId: string,
  where: Where,
): Promise<{ shelf: SessionShelf; place: ShelfPlace }> {
  const { shelf, project } = open(where);
  const place = await shelf.find(sessionId, project);
  if (place === undefined) {
    throw new PortcullisError('session', `Session ${sessionId} not found`, {
      remedy: 'listSessions names those that there are',
    });
  }
  return { shelf, place };
}

async function itemOf(shelf: SessionShelf, place: ShelfPlace): Promise<ShelfItem> {
  const items = await shelf.list(place.project).catch(() => []);
  return (
    items.find(({ sessionId }) => sessionId === place.sessionId) ?? { ...place, modifiedAt: 0 }
  );
}

function messageOfEntry(
  entry: object,
  sessionId: string,
  options: { readonly includeSystemMessages?: boolean; readonly agentId?: string },
): readonly SessionMessage[] {
  if (!isRecord(entry) || entry.isMeta === true || entry.teamName !== undefined) return [];
  const { type, uuid } = entry;
  if (type !== 'user' && type !== 'assistant') {
    if (type !== 'system' || options.includeSystemMessages !== true) return [];
  }
  const parent = entry.parentToolUseId ?? entry.parent_tool_use_id;
  return [
    {
      type: type as SessionMessage['type'],
      uuid: String(uuid),
      session_id: typeof entry.sessionId === 'string' ? entry.sessionId : sessionId,
      message: entry.message ?? { content: entry.content },
      parent_tool_use_id: typeof parent === 'string' ? parent : null,
      parent_agent_id: options.agentId ?? null,
    },
  ];
}

function page<T>(
  all: readonly T[],
  { offset = 0, limit }: { readonly offset?: number; readonly limit?: number },
): T[] {
  return all.slice(offset, limit === undefined ? undefined : offset + limit);
}
