import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { AssistantBlock, ToolUseBlock } from '../../src/protocol/content.js';
import { loadConversation } from '../../src/session/resume.js';
import { createJsonlStore } from '../../src/session/transcript/jsonl-store.js';
import type { LoadedSession } from '../../src/session/transcript/store.js';
import { expectAcceptable } from '../support/acceptable-history.js';

const root = mkdtempSync(path.join(tmpdir(), 'foreign-transcripts-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const sessionId = 'foreign';
const store = createJsonlStore({ configDir: root, cwd: '/p' });
mkdirSync(path.dirname(store.transcriptPath(sessionId)), { recursive: true });

async function load(): Promise<LoadedSession> {
  const loaded = await store.read(sessionId);
  if (loaded === undefined) throw new Error('no such session');
  return loaded;
}

const call = (id: string): ToolUseBlock => ({ type: 'tool_use', id, name: 'T', input: {} });
const said = (words: string): AssistantBlock => ({ type: 'text', text: words });

describe('transcripts of other writers', () => {
  const base = { sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z' };
  const lines = (...values: readonly object[]): void => {
    writeFileSync(
      store.transcriptPath(sessionId),
      values.map((value) => `${JSON.stringify({ ...base, ...value })}\n`).join(''),
    );
  };
  const asked = {
    type: 'user',
    uuid: 'u',
    parentUuid: null,
    message: { role: 'user', content: 'q' },
  };
  const block = (uuid: string, parentUuid: string, content: AssistantBlock): object => ({
    type: 'assistant',
    uuid,
    parentUuid,
    requestId: 'r1',
    message: { id: 'm1', role: 'assistant', content: [content] },
  });
  const result = (uuid: string, parentUuid: string, id: string): object => ({
    type: 'user',
    uuid,
    parentUuid,
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: id }] },
  });

  it('brings in results of parallel calls that hang on their own call', async () => {
    lines(asked, block('a1', 'u', call('t1')), block('a2', 'a1', call('t2')));
    for (const order of [
      ['t1', 't2'],
      ['t2', 't1'],
    ]) {
      const tail = order.map((id) => result(`r-${id}`, id === 't1' ? 'a1' : 'a2', id));
      lines(asked, block('a1', 'u', call('t1')), block('a2', 'a1', call('t2')), ...tail);
      const resumed = loadConversation(await load());
      expect(resumed.danglingCalls).toEqual([]);
      expectAcceptable(resumed.messages);
      expect(resumed.messages[1]?.content).toEqual([call('t1'), call('t2')]);
    }
  });

  it('joins an answer that has results between its blocks', async () => {
    lines(
      asked,
      block('a1', 'u', call('t1')),
      result('r1', 'a1', 't1'),
      block('a2', 'r1', call('t2')),
      result('r2', 'a2', 't2'),
    );
    const resumed = loadConversation(await load());
    expect(resumed.messages).toHaveLength(3);
    expectAcceptable(resumed.messages);
  });

  it('walks through entries of unknown kinds, and skips side entries and error notices', async () => {
    lines(
      { type: 'file-history-snapshot', messageId: 'x', snapshot: {} },
      asked,
      { type: 'progress', uuid: 'p', parentUuid: 'u', data: {} },
      {
        type: 'assistant',
        uuid: 'e',
        parentUuid: 'p',
        isApiErrorMessage: true,
        message: { id: 'x', role: 'assistant', model: '<synthetic>', content: [said('API Error')] },
      },
      {
        type: 'assistant',
        uuid: 'a',
        parentUuid: 'e',
        message: { role: 'assistant', content: 'plain' },
      },
      {
        type: 'user',
        uuid: 'side',
        parentUuid: 'a',
        isSidechain: true,
        message: { role: 'user', content: 'side' },
      },
      { type: 'queue-operation', operation: 'enqueue' },
    );
    const resumed = loadConversation(await load());
    expect(resumed.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      { role: 'assistant', content: [said('plain')] },
    ]);
    expect(resumed.lastUuid).toBe('a');
  });

  it('drops results that belong to nothing and says when the beginning is missing', async () => {
    lines(
      result('r0', 'gone', 't0'),
      block('a1', 'r0', said('answer')),
      result('r1', 'a1', 'none'),
      {
        ...asked,
        uuid: 'u2',
        parentUuid: 'r1',
      },
    );
    const resumed = loadConversation(await load());
    expectAcceptable(resumed.messages);
    expect(resumed.messages).toHaveLength(3);
    expect(JSON.stringify(resumed.messages[0])).toContain(
      'beginning of this conversation was lost',
    );
  });

  it('does not go round in circles', async () => {
    lines({ ...asked, parentUuid: 'a1' }, block('a1', 'u', said('x')));
    expect(loadConversation(await load()).messages).toHaveLength(2);
  });

  it('keeps answers apart whose provider gives all of them the same id', async () => {
    const answer = (uuid: string, parentUuid: string, content: AssistantBlock): object => ({
      type: 'assistant',
      uuid,
      parentUuid,
      message: { id: 'same', role: 'assistant', content: [content] },
    });
    lines(
      asked,
      answer('a1', 'u', call('t1')),
      result('r1', 'a1', 't1'),
      answer('a2', 'r1', said('done')),
    );
    expect(loadConversation(await load()).messages).toHaveLength(4);
  });

  it('ignores a meta leaf on another branch, and keeps one that goes on from the last message', async () => {
    const meta = (parentUuid: string): object => ({
      ...asked,
      uuid: 'meta',
      parentUuid,
      isMeta: true,
    });
    lines(asked, block('a1', 'u', said('x')), meta('u'));
    expect(loadConversation(await load()).lastUuid).toBe('a1');
    lines(asked, block('a1', 'u', said('x')), meta('a1'));
    expect(loadConversation(await load()).lastUuid).toBe('meta');
  });
});
