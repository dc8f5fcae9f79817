import assert from 'node:assert/strict';
import type { SessionKey, SessionStore, SessionStoreEntry } from '../../protocol/session-store.js';
import type { TestRunner } from './model-client.js';

/** Gives each case a store of its own, empty. */
export type MakeTranscriptStore = () => SessionStore | Promise<SessionStore>;

/** What every `sessionStore` that is given to the SDK promises. Optional methods are held to theirs if they are there. */
export function transcriptStoreContract(
  runner: TestRunner,
  name: string,
  makeStore: MakeTranscriptStore,
): void {
  runner.describe(`${name} keeps the contract of a transcript store`, () => {
    for (const [title, promise] of Object.entries(PROMISES)) {
      runner.it(title, async () => promise(await makeStore()));
    }
  });
}

const PROJECT = '-work-project';
const A: SessionKey = {
  projectKey: PROJECT,
  sessionId: '00000000-0000-4000-8000-00000000000a',
};
const B: SessionKey = { ...A, sessionId: '00000000-0000-4000-8000-00000000000b' };
const AGENT: SessionKey = { ...A, subpath: 'subagents/agent-a1' };

const entry = (uuid: string, more: object = {}): SessionStoreEntry => ({
  type: 'user',
  uuid,
  timestamp: '2026-01-01T00:00:00.000Z',
  message: { role: 'user', content: `said ü 😀 in ${uuid}` },
  ...more,
});

const PROMISES: Record<string, (store: SessionStore) => Promise<void>> = {
  async 'gives back what was appended, whole and in order'(store) {
    const entries = [entry('u1'), entry('u2', { nested: { list: [1, null, 'x'] } }), entry('u3')];
    await store.append(A, entries.slice(0, 1));
    await store.append(A, entries.slice(1));
    assert.deepEqual(await store.load(A), entries);
  },
  async 'says null of what was never written'(store) {
    assert.equal(await store.load(A), null);
    assert.equal(await store.load(AGENT), null);
  },
  async 'keeps sessions, projects and agents apart'(store) {
    const elsewhere = { ...A, projectKey: '-work-other' };
    await store.append(A, [entry('u1')]);
    await store.append(B, [entry('u2')]);
    await store.append(elsewhere, [entry('u3')]);
    await store.append(AGENT, [entry('u4')]);
    assert.deepEqual(uuids(await store.load(A)), ['u1']);
    assert.deepEqual(uuids(await store.load(B)), ['u2']);
    assert.deepEqual(uuids(await store.load(elsewhere)), ['u3']);
    assert.deepEqual(uuids(await store.load(AGENT)), ['u4']);
  },
  async 'hands out copies: what a reader does to them changes nothing'(store) {
    await store.append(A, [entry('u1')]);
    (await store.load(A))?.splice(0);
    assert.deepEqual(uuids(await store.load(A)), ['u1']);
  },
  async 'lists the sessions of one project, each once, agents not among them'(store) {
    if (store.listSessions === undefined) return;
    assert.deepEqual(await store.listSessions(PROJECT), []);
    await store.append(A, [entry('u1')]);
    await store.append(AGENT, [entry('u2')]);
    await store.append(B, [entry('u3')]);
    await store.append({ ...A, projectKey: '-work-other' }, [entry('u4')]);
    const listed = await store.listSessions(PROJECT);
    assert.deepEqual(listed.map(({ sessionId }) => sessionId).sort(), [A.sessionId, B.sessionId]);
    assert.ok(listed.every(({ mtime }) => mtime > 0));
  },
  async 'lists the agents of a session'(store) {
    if (store.listSubkeys === undefined) return;
    await store.append(A, [entry('u1')]);
    assert.deepEqual(await store.listSubkeys(A), []);
    await store.append(AGENT, [entry('u2')]);
    assert.deepEqual(await store.listSubkeys(A), [AGENT.subpath]);
  },
  async 'deletes a session with its agents, and nothing else'(store) {
    if (store.delete === undefined) return;
    await store.append(A, [entry('u1')]);
    await store.append(AGENT, [entry('u2')]);
    await store.append(B, [entry('u3')]);
    await store.delete(A);
    assert.equal(await store.load(A), null);
    assert.equal(await store.load(AGENT), null);
    assert.deepEqual(uuids(await store.load(B)), ['u3']);
    await store.delete(A);
  },
};

function uuids(entries: SessionStoreEntry[] | null): readonly unknown[] {
  return (entries ?? []).map(({ uuid }) => uuid);
}
