import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  InMemorySessionStore,
  listSessions,
  listSubagents,
  query,
  renameSession,
  type SDKSessionInfo,
  type SessionStore,
  tagSession,
} from 'the-sdk';

export async function tidy(dir: string): Promise<string[]> {
  const sessions: SDKSessionInfo[] = await listSessions({ dir, limit: 10 });
  for (const { sessionId, summary, lastModified } of sessions) {
    await renameSession(sessionId, `${summary} ${lastModified}`, { dir });
    await tagSession(sessionId, null, { dir });
    const info = await getSessionInfo(sessionId, { dir });
    if (info?.customTitle === undefined) await deleteSession(sessionId, { dir });
    const { sessionId: copy } = await forkSession(sessionId, { dir, title: 'copy' });
    const messages = await getSessionMessages(copy, { dir, limit: 5, offset: 1 });
    for (const agent of await listSubagents(copy, { dir })) {
      messages.push(...(await getSubagentMessages(copy, agent, { dir })));
    }
  }
  return sessions.map(({ sessionId }) => sessionId);
}

const kept = new InMemorySessionStore();
const store: SessionStore = {
  append: (key, entries) => kept.append(key, entries),
  load: (key) => kept.load(key),
};

export const inStore = (prompt: string) => query({ prompt, options: { sessionStore: store } });
