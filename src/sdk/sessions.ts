import {
  type ArchiveItem,
  type ArchivePlace,
  conversationOf,
  forkInFiles,
  forkOfLines,
  openTranscripts,
  processEnvironment,
  projectKeyOf,
  resolvePath,
  type TranscriptArchive,
  workingDirectory,
} from '../app.js';
import { summarizeSession } from '../client/session-summary.js';
import { PortcullisError } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { archiveOf } from './store-archive.js';
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
  const { archive, project } = openArchive(options);
  const found: SDKSessionInfo[] = [];
  const { offset = 0, limit = Number.POSITIVE_INFINITY } = options;
  for (const item of await archive.list(project)) {
    // Files are looked into only as far as the caller wants to see.
    if (found.length >= offset + limit) break;
    const facts = summarizeSession(item, await archive.readSummary(item));
    if (facts !== undefined) found.push(facts);
  }
  return found.slice(offset, offset + limit);
}

export async function getSessionInfo(
  sessionId: string,
  options: GetSessionInfoOptions = {},
): Promise<SDKSessionInfo | undefined> {
  const { archive, project } = openArchive(options);
  const place = await archive.find(sessionId, project);
  if (place === undefined) return undefined;
  return summarizeSession(await itemOf(archive, place), await archive.readSummary(place));
}

/** The conversation as it goes on now: one branch, oldest first. */
export async function getSessionMessages(
  sessionId: string,
  options: GetSessionMessagesOptions = {},
): Promise<SessionMessage[]> {
  return await readMessages(sessionId, options, options);
}

/** The agents of a session that have a transcript. */
export async function listSubagents(
  sessionId: string,
  options: ListSubagentsOptions = {},
): Promise<string[]> {
  const { archive, project } = openArchive(options);
  const place = await archive.find(sessionId, project);
  return place === undefined ? [] : [...(await archive.agents(place))];
}

export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options: GetSubagentMessagesOptions = {},
): Promise<SessionMessage[]> {
  return await readMessages(sessionId, options, { agentId });
}

export async function renameSession(
  sessionId: string,
  title: string,
  options: SessionMutationOptions = {},
): Promise<void> {
  const customTitle = title.trim();
  if (customTitle === '') throw new PortcullisError('usage', 'the title is empty');
  const { archive, place } = await requireSession(sessionId, options);
  await archive.append(place, [{ type: 'custom-title', customTitle, sessionId }]);
}

/** Null takes the tag away. */
export async function tagSession(
  sessionId: string,
  tag: string | null,
  options: SessionMutationOptions = {},
): Promise<void> {
  const { archive, place } = await requireSession(sessionId, options);
  await archive.append(place, [{ type: 'tag', tag: tag ?? '', sessionId }]);
}

/** Removes the transcript and everything that lies beside it. */
export async function deleteSession(
  sessionId: string,
  options: SessionMutationOptions = {},
): Promise<void> {
  const { archive, place } = await requireSession(sessionId, options);
  await archive.remove(place);
}

/** Copies a session under a new id. The old one stays as it is. */
export async function forkSession(
  sessionId: string,
  options: ForkSessionOptions = {},
): Promise<ForkSessionResult> {
  const { archive, place } = await requireSession(sessionId, options);
  const facts = summarizeSession(await itemOf(archive, place), await archive.readSummary(place));
  const title = options.title ?? (facts === undefined ? undefined : `${facts.summary} (fork)`);
  const order = { sessionId, upTo: options.upToMessageId, title };
  if (options.sessionStore === undefined) {
    return { sessionId: await forkInFiles(processEnvironment(), place.project, order) };
  }
  const copy = await forkOfLines((await archive.lines(place)) ?? [], order);
  await archive.append({ project: place.project, sessionId: copy.sessionId }, copy.lines);
  return { sessionId: copy.sessionId };
}

const BATCH = 500;

/** Copies a session of the files into a store. */
export async function importSessionToStore(
  sessionId: string,
  store: SessionStore,
  options: ImportSessionToStoreOptions = {},
): Promise<void> {
  const { archive, place } = await requireSession(sessionId, options);
  const size = options.batchSize ?? BATCH;
  const agents = options.includeSubagents === false ? [] : await archive.agents(place);
  for (const agentId of [undefined, ...agents]) {
    const lines = (await archive.lines(place, agentId)) ?? [];
    const key = {
      projectKey: place.project,
      sessionId,
      subpath: agentId === undefined ? undefined : `subagents/agent-${agentId}`,
    };
    for (let start = 0; start < lines.length; start += size) {
      await store.append(key, lines.slice(start, start + size) as SessionStoreEntry[]);
    }
  }
}

function openArchive({ dir, sessionStore }: Where): {
  archive: TranscriptArchive;
  project: string | undefined;
} {
  const project =
    dir === undefined ? undefined : projectKeyOf(resolvePath(workingDirectory(), dir));
  if (sessionStore === undefined) {
    return { archive: openTranscripts(processEnvironment()), project };
  }
  return { archive: archiveOf(sessionStore, project ?? projectKeyOf(workingDirectory())), project };
}

async function requireSession(
  sessionId: string,
  where: Where,
): Promise<{ archive: TranscriptArchive; place: ArchivePlace }> {
  const { archive, project } = openArchive(where);
  const place = await archive.find(sessionId, project);
  if (place === undefined) {
    throw new PortcullisError('session', `Session ${sessionId} not found`, {
      remedy: 'listSessions names those that there are',
    });
  }
  return { archive, place };
}

interface Selection {
  readonly includeSystemMessages?: boolean;
  /** Those of a subagent. */
  readonly agentId?: string;
}

async function readMessages(
  sessionId: string,
  { offset = 0, limit = Number.POSITIVE_INFINITY, ...where }: GetSubagentMessagesOptions,
  selection: Selection,
): Promise<SessionMessage[]> {
  const { agentId } = selection;
  const { archive, project } = openArchive(where);
  const place = await archive.find(sessionId, project);
  const lines = place === undefined ? undefined : await archive.lines(place, agentId);
  return conversationOf(sessionId, lines ?? [], { sidechain: agentId !== undefined })
    .flatMap((entry) => messageOfEntry(entry, sessionId, selection))
    .slice(offset, offset + limit);
}

async function itemOf(archive: TranscriptArchive, place: ArchivePlace): Promise<ArchiveItem> {
  const items = await archive.list(place.project).catch(() => []);
  return (
    items.find(({ sessionId }) => sessionId === place.sessionId) ?? { ...place, modifiedAt: 0 }
  );
}

function messageOfEntry(
  entry: object,
  sessionId: string,
  { includeSystemMessages, agentId }: Selection,
): readonly SessionMessage[] {
  if (!isRecord(entry) || entry.isMeta === true || entry.teamName !== undefined) return [];
  const { type, uuid } = entry;
  if (type !== 'user' && type !== 'assistant') {
    if (type !== 'system' || includeSystemMessages !== true) return [];
  }
  const parent = entry.parentToolUseId ?? entry.parent_tool_use_id;
  return [
    {
      type: type as SessionMessage['type'],
      uuid: String(uuid),
      session_id: typeof entry.sessionId === 'string' ? entry.sessionId : sessionId,
      message: entry.message ?? { content: entry.content },
      parent_tool_use_id: typeof parent === 'string' ? parent : null,
      parent_agent_id: agentId ?? null,
    },
  ];
}
