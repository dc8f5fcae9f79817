import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { expectAcceptable } from '../../test/support/acceptable-history.js';
import { PortcullisError } from '../errors.js';
import { systemClock } from '../platform/clock.js';
import type {
  AssistantBlock,
  Message,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../protocol/content.js';
import { Recorder } from './recorder.js';
import { DEFERRED_MARK, loadConversation } from './resume.js';
import { createJsonlStore } from './transcript/jsonl-store.js';
import { INTERRUPTED_RESULT } from './transcript/messages.js';
import type { LoadedSession, SessionStore } from './transcript/store.js';

const root = mkdtempSync(path.join(tmpdir(), 'resume-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let store: SessionStore;
let sessionId: string;
beforeEach(fresh);

function fresh(): void {
  sessionId = systemClock.uuid();
  store = createJsonlStore({ configDir: root, cwd: '/p' });
}

async function load(): Promise<LoadedSession> {
  const loaded = await store.read(sessionId);
  if (loaded === undefined) throw new Error('no such session');
  return loaded;
}

/** Plays a conversation through the recorder as a loop does. */
class Player {
  readonly messages: Message[] = [];
  readonly recorder: Recorder;
  #answers = 0;

  constructor(parentUuid: string | null = null) {
    this.recorder = new Recorder({
      store,
      sessionId,
      clock: systemClock,
      cwd: '/p',
      version: '0.0.0',
      parentUuid,
    });
  }

  /** Results are recorded already; inputs become one message together with them. */
  user(inputs: readonly Input[], results: readonly ToolResultBlock[] = []): void {
    for (const input of inputs) {
      this.recorder.input({ uuid: systemClock.uuid(), content: input.content, meta: input.meta });
    }
    const content = [...results, ...inputs.flatMap((input) => input.content)];
    if (content.length > 0) this.messages.push({ role: 'user', content });
  }

  say(text: string): void {
    this.user([{ content: [{ type: 'text', text }], meta: false }]);
  }

  assistant(content: readonly AssistantBlock[]): string[] {
    const blockIds = content.map(() => systemClock.uuid());
    this.recorder.answer({
      id: `msg_${++this.#answers}`,
      model: 'model-x',
      message: { role: 'assistant', content },
      blockIds,
      stopReason: 'end_turn',
      usage: {
        input_tokens: 10,
        output_tokens: this.#answers,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
      malformed: new Map(),
    });
    this.messages.push({ role: 'assistant', content });
    return blockIds;
  }

  results(content: readonly AssistantBlock[], texts: readonly string[]): ToolResultBlock[] {
    return callsIn(content).map((call, index) => {
      const block: ToolResultBlock = {
        type: 'tool_result',
        tool_use_id: call.id,
        content: texts[index % Math.max(1, texts.length)] ?? 'ok',
      };
      this.recorder.result(call, { uuid: systemClock.uuid(), block, structured: { ok: true } });
      return block;
    });
  }
}

interface Input {
  readonly content: readonly UserBlock[];
  readonly meta: boolean;
}

const callsIn = (content: readonly AssistantBlock[]): ToolUseBlock[] =>
  content.filter((block): block is ToolUseBlock => block.type === 'tool_use');

const text = fc.string({ minLength: 1, unit: 'binary' });
const textBlock = text.map((value) => ({ type: 'text' as const, text: value }));
const image = fc.constant({
  type: 'image' as const,
  source: { type: 'base64' as const, media_type: 'image/png', data: 'AAAA' },
});
const input = fc.record({
  content: fc.array(fc.oneof(textBlock, image), { minLength: 1, maxLength: 3 }),
  meta: fc.boolean(),
});
const thinking = fc.record({
  type: fc.constant('thinking' as const),
  thinking: fc.string(),
  signature: fc.string(),
});
const toolInput = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  fc
    .jsonValue()
    .filter((value) => !JSON.stringify(value).includes('__proto__'))
    // Normalises values that JSON does not distinguish (-0 and 0).
    .map((value) => JSON.parse(JSON.stringify(value))),
);
const turn = fc.record({
  inputs: fc.array(input, { minLength: 1, maxLength: 3 }),
  steps: fc.array(
    fc.record({
      thoughts: fc.array(thinking, { maxLength: 1 }),
      said: fc.array(textBlock, { maxLength: 2 }),
      inputs: fc.array(toolInput, { minLength: 1, maxLength: 3 }),
      results: fc.array(text, { minLength: 1, maxLength: 3 }),
      steering: fc.array(input, { maxLength: 1 }),
    }),
    { maxLength: 3 },
  ),
  last: fc.array(textBlock, { minLength: 1, maxLength: 2 }),
});

function play(turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[]): Player {
  const player = new Player();
  let calls = 0;
  for (const { inputs, steps, last } of turns) {
    player.user(inputs);
    for (const step of steps) {
      const content = [
        ...step.thoughts,
        ...step.said,
        ...step.inputs.map((value) => ({
          type: 'tool_use' as const,
          id: `toolu_${++calls}`,
          name: 'Some',
          input: value,
        })),
      ];
      player.assistant(content);
      player.user(step.steering, player.results(content, step.results));
    }
    player.assistant(last);
  }
  return player;
}

const flat = (messages: readonly Message[]): unknown[] =>
  messages.flatMap(({ role, content }) => content.map((block) => ({ role, block })));

describe('a conversation that was recorded', () => {
  it('comes back exactly as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
        fresh();
        const player = play(turns);
        const resumed = loadConversation(await load());
        expect(resumed.messages).toEqual(player.messages);
        expect(JSON.stringify(resumed.messages)).toBe(JSON.stringify(player.messages));
        expect(resumed.lastUuid).toBe(player.recorder.head);
        expect(resumed.danglingCalls).toEqual([]);
        store.close();
      }),
      { numRuns: 60 },
    );
  });

  it('comes back as a repaired beginning of itself after a cut at any byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 3 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (turns, share) => {
          fresh();
          const player = play(turns);
          const file = store.transcriptPath(sessionId);
          const bytes = readFileSync(file);
          writeFileSync(file, bytes.subarray(0, Math.floor(bytes.length * share)));
          const resumed = loadConversation(await load());
          const kept = flat(resumed.messages).filter((item) => !isStandIn(item));
          expect(kept).toEqual(flat(player.messages).slice(0, kept.length));
          expectAcceptable(resumed.messages);

          // With the placeholder results recorded the conversation continues and reads the same from then on.
          const next = new Player(resumed.lastUuid);
          for (const { call, result } of resumed.danglingCalls) {
            next.recorder.result(call, { uuid: systemClock.uuid(), block: result });
          }
          expect(loadConversation(await load()).messages).toEqual(resumed.messages);
          next.say('go on');
          const again = loadConversation(await load());
          expect(again.danglingCalls).toEqual([]);
          expect(flat(again.messages)).toEqual([
            ...flat(resumed.messages),
            { role: 'user', block: { type: 'text', text: 'go on' } },
          ]);
          store.close();
        },
      ),
      { numRuns: 60 },
    );
  });
});

function isStandIn(item: unknown): boolean {
  return JSON.stringify(item).includes(INTERRUPTED_RESULT);
}

const call = (id: string): ToolUseBlock => ({ type: 'tool_use', id, name: 'T', input: {} });
const said = (words: string): AssistantBlock => ({ type: 'text', text: words });

describe('resuming', () => {
  it('tells of calls that were running, after the results that did arrive', async () => {
    const player = new Player();
    player.say('do');
    const content = [call('t1'), call('t2'), call('t3')];
    player.assistant(content);
    player.results([call('t2')], ['two']);
    const resumed = loadConversation(await load());
    expect(resumed.danglingCalls.map((dangling) => dangling.call.id)).toEqual(['t1', 't3']);
    expect(
      resumed.messages.at(-1)?.content.map((block) => 'tool_use_id' in block && block.tool_use_id),
    ).toEqual(['t2', 't1', 't3']);
    const again = loadConversation(await load(), { runsAgain: ({ id }) => id === 't3' });
    expect(again.messages.at(-1)?.content).toHaveLength(2);
    expect(again.danglingCalls.map((dangling) => dangling.call.id)).toEqual(['t1']);
    expect(again.deferredCalls.map(({ id }) => id)).toEqual(['t3']);
  });

  it('gives every call a result where another one ran beside a deferred one', async () => {
    const player = new Player();
    player.say('do');
    player.assistant([call('t1'), call('t2')]);
    player.recorder.attachment({ type: DEFERRED_MARK, toolUseId: 't1' });
    const resumed = loadConversation(await load());
    expect(resumed.deferredCalls).toEqual([]);
    expect(
      resumed.messages.at(-1)?.content.map((block) => 'tool_use_id' in block && block.tool_use_id),
    ).toEqual(['t1', 't2']);
  });

  it('cuts after the entry that it is told to resume at', async () => {
    const player = new Player();
    player.say('one');
    const [first] = player.assistant([said('first')]);
    player.say('two');
    player.assistant([said('second')]);
    const resumed = loadConversation(await load(), { resumeAt: first ?? '' });
    expect(resumed.messages).toEqual(player.messages.slice(0, 2));
    expect(resumed.lastUuid).toBe(first);
    const branch = new Player(resumed.lastUuid);
    branch.say('instead');
    expect(loadConversation(await load()).messages).toEqual([
      ...player.messages.slice(0, 2),
      ...branch.messages,
    ]);
  });

  it('refuses to resume at an entry that is not there', async () => {
    new Player().say('one');
    const loaded = await load();
    expect(() => loadConversation(loaded, { resumeAt: 'nowhere' })).toThrow(PortcullisError);
    expect(() => loadConversation(loaded, { resumeAt: 'nowhere' })).toThrow(/nowhere/);
  });

  it('begins at the last compaction and knows what came before', async () => {
    const player = new Player();
    player.say('long');
    player.assistant([{ ...call('todo'), name: 'TodoWrite', input: { todos: ['x'] } }]);
    player.results([call('todo')], ['ok']);
    player.assistant([said('...')]);
    const history: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'summary' }] },
      { role: 'assistant', content: [said('kept'), call('k')] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'k', content: 'r' }] },
    ];
    player.recorder.compactBoundary({ trigger: 'auto', preTokens: 99, messages: history });
    const loaded = await load();
    const resumed = loadConversation(loaded);
    expect(resumed.messages).toEqual(history);
    expect(resumed.danglingCalls).toEqual([]);
    const after = new Player(resumed.lastUuid);
    after.assistant([said('after')]);
    expect(loadConversation(await load()).messages).toEqual([...history, ...after.messages]);
  });

  it('goes on behind entries that are no messages', async () => {
    const player = new Player();
    player.recorder.input({
      uuid: systemClock.uuid(),
      content: [{ type: 'text', text: 'x' }],
      permissionMode: 'acceptEdits',
    });
    player.assistant([said('a')]);
    player.recorder.attachment({ type: 'max_turns_reached', maxTurns: 3 });
    const resumed = loadConversation(await load());
    expect(resumed.lastUuid).toBe(player.recorder.head);
    expect(resumed.messages).toHaveLength(2);
  });

  it('finds nothing in an empty file', () => {
    const resumed = loadConversation({ sessionId, entries: [] });
    expect(resumed).toEqual({
      messages: [],
      lastUuid: null,
      danglingCalls: [],
      deferredCalls: [],
    });
  });
});
