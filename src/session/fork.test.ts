import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../platform/clock.js';
import type { ToolUseBlock } from '../protocol/content.js';
import { ZERO_USAGE } from '../protocol/content.js';
import { forkSession } from './fork.js';
import { Recorder } from './recorder.js';
import { loadConversation } from './resume.js';
import { createJsonlStore } from './transcript/jsonl-store.js';
import type { LoadedSession, SessionStore } from './transcript/store.js';

const root = mkdtempSync(path.join(tmpdir(), 'fork-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let store: SessionStore;
let oldId: string;
let newSessionId: string;
const call: ToolUseBlock = { type: 'tool_use', id: 't1', name: 'Bash', input: {} };
const payload = { stdout: 'x'.repeat(300_000) };

beforeEach(() => {
  store = createJsonlStore({ configDir: root, cwd: '/p' });
  oldId = systemClock.uuid();
  newSessionId = systemClock.uuid();
  const record = new Recorder({
    store,
    sessionId: oldId,
    clock: systemClock,
    cwd: '/p',
    version: '1',
  });
  record.title('Title');
  record.input({ uuid: 'u1', content: [{ type: 'text', text: 'hello' }] });
  record.answer({
    id: 'msg_1',
    model: 'm',
    message: { role: 'assistant', content: [{ type: 'text', text: 'ok' }, call] },
    blockIds: ['b1', 'b2'],
    stopReason: 'tool_use',
    usage: ZERO_USAGE,
    malformed: new Map(),
  });
  const block = { type: 'tool_result', tool_use_id: 't1', content: 'r' } as const;
  record.result(call, { uuid: 'r1', block, structured: payload });
});

async function load(id: string): Promise<LoadedSession> {
  const loaded = await store.read(id);
  if (loaded === undefined) throw new Error(`no session ${id}`);
  return loaded;
}

describe('forking', () => {
  it('copies the history under new ids and leaves the old file alone', async () => {
    const before = readFileSync(store.transcriptPath(oldId), 'utf8');
    const old = await load(oldId);
    const fork = await forkSession(store, old, { newSessionId, clock: systemClock });
    expect(readFileSync(store.transcriptPath(oldId), 'utf8')).toBe(before);

    const stored = await load(newSessionId);
    expect(loadConversation(stored)).toEqual(loadConversation(fork));
    expect(loadConversation(stored).messages).toEqual(loadConversation(old).messages);
    expect(stored.title).toBe('Title');
    expect(stored.lastPrompt).toBe('hello');
    expect(stored.entries.map((entry) => entry.forkedFrom)).toEqual(
      ['u1', 'b1', 'b2', 'r1'].map((messageUuid) => ({ sessionId: oldId, messageUuid })),
    );
    const uuids = stored.entries.map(({ uuid }) => uuid);
    expect(new Set([...uuids, 'u1', 'b1', 'b2', 'r1']).size).toBe(8);
    expect(stored.entries.map(({ parentUuid }) => parentUuid)).toEqual([
      null,
      ...uuids.slice(0, 3),
    ]);
    expect(new Set(stored.entries.map(({ sessionId }) => sessionId))).toEqual(
      new Set([newSessionId]),
    );
    expect(await store.newest()).toBe(newSessionId);
  });

  it('gives the copy its own long outputs', async () => {
    await forkSession(store, await load(oldId), { newSessionId, clock: systemClock });
    rmSync(store.spillDirectory(oldId), { recursive: true });
    const [last] = (await load(newSessionId)).entries.slice(-1);
    const stored = last?.type === 'user' ? last.toolUseResult : undefined;
    expect(await store.payload(newSessionId, stored)).toEqual(payload);
  });

  it('copies even where a long output is gone', async () => {
    rmSync(store.spillDirectory(oldId), { recursive: true });
    await forkSession(store, await load(oldId), { newSessionId, clock: systemClock });
    expect((await load(newSessionId)).entries).toHaveLength(4);
  });

  it('can end with an earlier entry', async () => {
    const fork = await forkSession(store, await load(oldId), {
      newSessionId,
      clock: systemClock,
      resumeAt: 'b1',
      title: 'Branch',
    });
    expect(loadConversation(fork).messages).toHaveLength(2);
    expect((await load(newSessionId)).title).toBe('Branch');
  });

  it('links over entries of unknown kinds', async () => {
    const [first, second] = (await load(oldId)).entries;
    if (first === undefined || second === undefined) throw new Error('entries are missing');
    const loaded: LoadedSession = {
      sessionId: oldId,
      entries: [first, { ...second, parentUuid: 'unknown' }],
      links: new Map([['unknown', 'u1']]),
    };
    const fork = await forkSession(store, loaded, { newSessionId, clock: systemClock });
    expect(fork.entries[1]?.parentUuid).toBe(fork.entries[0]?.uuid);
  });
});
