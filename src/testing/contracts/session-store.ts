import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { PortcullisError } from '../../errors.js';
import type { AssistantEntry, TranscriptEntry, UserEntry } from '../../protocol/transcript.js';
import type { SessionStore } from '../../session/transcript/store.js';
import type { TestRunner } from './model-client.js';

/** Gives each case a store of its own, empty. */
export type MakeStore = () => SessionStore | Promise<SessionStore>;

/** What every place that keeps sessions promises. */
export function sessionStoreContract(runner: TestRunner, name: string, makeStore: MakeStore): void {
  runner.describe(`${name} keeps the contract of a session store`, () => {
    for (const [title, promise] of Object.entries(PROMISES)) {
      runner.it(title, async () => promise(await makeStore()));
    }
  });
}

const A = '00000000-0000-4000-8000-00000000000a';
const B = '00000000-0000-4000-8000-00000000000b';

const PROMISES: Record<string, (store: SessionStore) => Promise<void>> = {
  async 'reads back what was appended, in order'(store) {
    const entries = [
      user('u1', null, 'hello'),
      assistant('a1', 'u1', 'hi'),
      user('u2', 'a1', 'ü 😀'),
    ];
    store.append(A, entries.slice(0, 1));
    store.append(A, entries.slice(1));
    const loaded = await store.read(A);
    assert.deepEqual(loaded?.entries, entries);
    assert.equal(loaded?.sessionId, A);
  },
  async 'knows nothing of a session that was never written'(store) {
    assert.equal(await store.read(A), undefined);
    assert.equal(await store.newest(), undefined);
    assert.equal(await store.find(A), undefined);
    assert.equal(await store.find('some title'), undefined);
    assert.deepEqual(await store.agents(A), []);
  },
  async 'keeps sessions apart'(store) {
    store.append(A, [user('u1', null, 'one')]);
    store.append(B, [user('u2', null, 'two')]);
    assert.deepEqual(uuids((await store.read(A))?.entries), ['u1']);
    assert.deepEqual(uuids((await store.read(B))?.entries), ['u2']);
  },
  async 'keeps a subagent in a file of its own'(store) {
    store.append(A, [user('u1', null, 'main')]);
    store.append(A, [{ ...user('s1', null, 'side'), isSidechain: true, agentId: 'x1' }], 'x1');
    assert.deepEqual(uuids((await store.read(A))?.entries), ['u1']);
    assert.deepEqual(uuids((await store.read(A, 'x1'))?.entries), ['s1']);
    assert.equal(await store.read(A, 'x2'), undefined);
    assert.deepEqual(await store.agents(A), ['x1']);
  },
  async 'remembers the last title and the last prompt'(store) {
    store.append(A, [user('u1', null, 'one')]);
    store.append(A, [{ type: 'custom-title', customTitle: 'first', sessionId: A }]);
    store.append(A, [
      { type: 'custom-title', customTitle: 'second', sessionId: A },
      { type: 'last-prompt', lastPrompt: 'one', sessionId: A },
    ]);
    const loaded = await store.read(A);
    assert.equal(loaded?.title, 'second');
    assert.equal(loaded?.lastPrompt, 'one');
    assert.deepEqual(uuids(loaded?.entries), ['u1']);
  },
  async 'finds a session by id and by exact title'(store) {
    store.append(A, [
      user('u1', null, 'one'),
      { type: 'custom-title', customTitle: 'My Title', sessionId: A },
    ]);
    assert.equal(await store.find(A), A);
    assert.equal(await store.find('My Title'), A);
    assert.equal(await store.find('my title'), undefined);
    assert.equal(await store.find(''), undefined);
  },
  async 'does not choose between sessions of the same title'(store) {
    for (const id of [A, B]) {
      store.append(id, [
        user(`u-${id}`, null, 'x'),
        { type: 'custom-title', customTitle: 'twin', sessionId: id },
      ]);
    }
    await assert.rejects(store.find('twin'), PortcullisError);
  },
  async 'takes the session that was written to last for the newest'(store) {
    store.append(A, [user('u1', null, 'one')]);
    await aMoment();
    store.append(B, [user('u2', null, 'two')]);
    assert.equal(await store.newest(), B);
    await aMoment();
    store.append(A, [assistant('a1', 'u1', 'three')]);
    assert.equal(await store.newest(), A);
  },
  async 'does not take a session without a conversation for the newest'(store) {
    store.append(A, [user('u1', null, 'one')]);
    await aMoment();
    store.append(B, [{ type: 'custom-title', customTitle: 'empty', sessionId: B }]);
    assert.equal(await store.newest(), A);
  },
  async 'gives long structured output back whole'(store) {
    const big = { stdout: 'x'.repeat(400_000), list: [1, null, 'ü'] };
    store.append(A, [{ ...user('u1', null, 'seen by the model'), toolUseResult: big }]);
    const [entry] = (await store.read(A))?.entries ?? [];
    assert.equal(entry?.type, 'user');
    const stored = entry?.type === 'user' ? entry.toolUseResult : undefined;
    assert.deepEqual(await store.payload(A, stored), big);
  },
  async 'refuses ids that could leave its directory'(store) {
    for (const id of ['', '.', '..', '../x', 'a/b', 'a\\b', 'a.b', '/etc/passwd', 'a\0', '-x']) {
      assert.throws(() => store.append(id, [user('u', null, 'x')]), PortcullisError, id);
      assert.throws(() => store.transcriptPath(id), PortcullisError, id);
      assert.throws(() => store.spillDirectory(id), PortcullisError, id);
      assert.equal(await store.find(id), undefined);
      if (id !== '') {
        assert.throws(() => store.append(A, [user('u', null, 'x')], id), PortcullisError, id);
      }
    }
  },
  async 'makes the directory for long output when it is asked for'(store) {
    const directory = store.spillDirectory(A);
    assert.equal(statSync(directory).isDirectory(), true);
    assert.equal(store.spillDirectory(A), directory);
    assert.notEqual(store.spillDirectory(B), directory);
  },
  async 'says where a transcript is, differently for each session'(store) {
    assert.match(store.transcriptPath(A), new RegExp(`${A}\\.jsonl$`));
    assert.notEqual(store.transcriptPath(A), store.transcriptPath(B));
  },
  async 'has nothing unsaved when all went well'(store) {
    store.append(A, [user('u1', null, 'one')]);
    assert.equal(store.close(), 0);
    assert.deepEqual(uuids((await store.read(A))?.entries), ['u1']);
  },
};

function user(uuid: string, parentUuid: string | null, content: string): UserEntry {
  return {
    type: 'user',
    uuid,
    parentUuid,
    sessionId: A,
    timestamp: '2026-01-01T00:00:00.000Z',
    message: { role: 'user', content },
  };
}

function assistant(uuid: string, parentUuid: string | null, text: string): AssistantEntry {
  return {
    type: 'assistant',
    uuid,
    parentUuid,
    sessionId: A,
    timestamp: '2026-01-01T00:00:00.000Z',
    message: {
      id: `msg-${uuid}`,
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 1,
        output_tokens: 1,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    },
  };
}

function uuids(entries: readonly TranscriptEntry[] | undefined): string[] {
  return (entries ?? []).map((entry) => entry.uuid);
}

/** Longer than the coarsest clock that a file system stamps its files with. */
function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
