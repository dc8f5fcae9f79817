import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../platform/clock.js';
import type { ToolUseBlock } from '../protocol/content.js';
import { ZERO_USAGE } from '../protocol/content.js';
import { Recorder, type RecorderOptions } from './recorder.js';
import { createJsonlStore } from './transcript/jsonl-store.js';
import { LISTING_WINDOW } from './transcript/listing.js';
import type { SessionStore } from './transcript/store.js';

const root = mkdtempSync(path.join(tmpdir(), 'recorder-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let sessions = 0;
let sessionId: string;
let store: SessionStore;
let clock: Clock;
beforeEach(() => {
  sessionId = `session-${++sessions}`;
  store = createJsonlStore({ configDir: root, cwd: '/p' });
  let uuids = 0;
  clock = { now: () => 0, monotonic: () => 0, uuid: () => `made-${++uuids}` };
});

function recorder(options: Partial<RecorderOptions> = {}): Recorder {
  return new Recorder({ store, sessionId, clock, cwd: '/p', version: '1.2.3', ...options });
}

function lines(file = store.transcriptPath(sessionId)): Record<string, unknown>[] {
  const text = readFileSync(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const call: ToolUseBlock = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } };

describe('recorder', () => {
  it('writes linked entries in the shape of the ecosystem', () => {
    const record = recorder({ entrypoint: 'sdk-cli', gitBranch: 'main' });
    record.input({ uuid: 'u1', content: [{ type: 'text', text: 'hello' }] });
    record.answer({
      id: 'msg_1',
      model: 'm',
      message: { role: 'assistant', content: [{ type: 'text', text: 'ok' }, call] },
      blockIds: ['b1', 'b2'],
      stopReason: 'tool_use',
      usage: ZERO_USAGE,
      malformed: new Map([['t1', { raw: '{"comm', cause: 'cut_stream' }]]),
      requestId: 'req_1',
    });
    record.result(call, {
      uuid: 'r1',
      block: { type: 'tool_result', tool_use_id: 't1', content: 'x', is_error: true },
      structured: { stdout: 'x' },
    });
    const common = {
      isSidechain: false,
      userType: 'external',
      cwd: '/p',
      sessionId,
      version: '1.2.3',
      gitBranch: 'main',
      entrypoint: 'sdk-cli',
      timestamp: '1970-01-01T00:00:00.000Z',
    };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: ZERO_USAGE,
    };
    expect(lines()).toEqual([
      {
        ...common,
        type: 'user',
        uuid: 'u1',
        parentUuid: null,
        message: { role: 'user', content: 'hello' },
      },
      { type: 'last-prompt', lastPrompt: 'hello', sessionId },
      {
        ...common,
        type: 'assistant',
        uuid: 'b1',
        parentUuid: 'u1',
        requestId: 'req_1',
        message: { ...message, content: [{ type: 'text', text: 'ok' }] },
      },
      {
        ...common,
        type: 'assistant',
        uuid: 'b2',
        parentUuid: 'b1',
        requestId: 'req_1',
        malformedInput: '{"comm',
        message: { ...message, content: [call] },
      },
      {
        ...common,
        type: 'user',
        uuid: 'r1',
        parentUuid: 'b2',
        toolUseResult: { stdout: 'x' },
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x', is_error: true }],
        },
      },
    ]);
    expect(record.head).toBe('r1');
  });

  it('hides meta input and does not take it for a prompt', () => {
    const record = recorder({ parentUuid: 'before' });
    record.input({ uuid: 'u1', content: [{ type: 'text', text: 'reminder' }], meta: true });
    expect(lines()).toMatchObject([{ uuid: 'u1', parentUuid: 'before', isMeta: true }]);
  });

  it('starts a new chain at a compaction and says where the old one was', () => {
    const record = recorder();
    record.input({ uuid: 'u1', content: [{ type: 'text', text: 'long story' }] });
    record.title('Story');
    const recorded = record.compactBoundary({
      trigger: 'manual',
      preTokens: 1000,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'summary' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'a' }, call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'r' }] },
      ],
    });
    expect(recorded.uuid).toBe('made-1');
    expect(lines()[4]?.uuid).toBe(recorded.summaryUuid);
    expect(lines().slice(3)).toMatchObject([
      {
        type: 'system',
        subtype: 'compact_boundary',
        uuid: 'made-1',
        parentUuid: null,
        logicalParentUuid: 'u1',
        compactMetadata: { trigger: 'manual', preTokens: 1000 },
      },
      { type: 'user', parentUuid: 'made-1', isCompactSummary: true },
      { type: 'assistant', message: { content: [{ type: 'text' }] } },
      { type: 'assistant', message: { content: [{ type: 'tool_use' }] } },
      { type: 'user', message: { content: [{ type: 'tool_result' }] } },
      { type: 'custom-title', customTitle: 'Story' },
      { type: 'last-prompt', lastPrompt: 'long story' },
    ]);
  });

  it('keeps title and last prompt within what listings look at', () => {
    const record = recorder();
    record.title('Work');
    record.input({ uuid: 'u1', content: [{ type: 'text', text: 'first\nprompt' }] });
    for (let index = 0; index < 50; index++) {
      const block = { type: 'tool_result', tool_use_id: 't', content: 'x'.repeat(7_000) } as const;
      record.result(call, { uuid: `r${index}`, block });
      const tail = readFileSync(store.transcriptPath(sessionId))
        .subarray(-LISTING_WINDOW)
        .toString();
      expect(tail).toContain('"customTitle":"Work"');
      expect(tail).toContain('"lastPrompt":"first prompt"');
    }
    expect(lines().filter(({ type }) => type === 'last-prompt').length).toBeLessThan(20);
  });

  it('repeats what the resumed transcript said', () => {
    const record = recorder({ title: 'Old', lastPrompt: 'asked' });
    record.attachment({ type: 'max_turns_reached', maxTurns: 1 });
    record.attachment({ type: 'other' });
    expect(lines().map(({ type }) => type)).toEqual([
      'attachment',
      'custom-title',
      'last-prompt',
      'attachment',
    ]);
  });

  it('records a subagent into its own file as a sidechain', async () => {
    recorder({ agentId: 'x1' }).input({ uuid: 'u1', content: [{ type: 'text', text: 'task' }] });
    const loaded = await store.read(sessionId, 'x1');
    expect(loaded?.entries).toMatchObject([{ uuid: 'u1', isSidechain: true, agentId: 'x1' }]);
    expect(loaded?.lastPrompt).toBeUndefined();
    expect(await store.read(sessionId)).toBeUndefined();
  });

  it('links without storing when nothing is to be kept', async () => {
    const record = recorder({ persist: false });
    record.input({ uuid: 'u1', content: [{ type: 'text', text: 'secret' }] });
    record.note('said to people');
    expect(record.head).toBe('made-1');
    expect(await store.read(sessionId)).toBeUndefined();
  });

  it('follows a directory that moves', () => {
    let cwd = '/one';
    const record = recorder({ cwd: () => cwd });
    record.note('a');
    cwd = '/two';
    record.note('b');
    expect(lines().map((line) => line.cwd)).toEqual(['/one', '/two']);
  });

  it('does not let a prompt take the name of another entry', () => {
    const record = recorder({ usedUuids: ['from before'], parentUuid: 'from before' });
    for (const uuid of ['mine', 'mine', 'from before']) {
      record.input({ uuid, content: [{ type: 'text', text: uuid }], meta: true });
    }
    const entries = lines();
    const uuids = entries.map((entry) => entry.uuid);
    expect(new Set(['from before', ...uuids]).size).toBe(4);
    expect(uuids[0]).toBe('mine');
    expect(entries.map((entry) => entry.parentUuid)).toEqual(['from before', ...uuids.slice(0, 2)]);
  });
});
