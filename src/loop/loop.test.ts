import { describe, expect, it } from 'vitest';
import type { ModelEvent, ModelFailure } from '../model/client.js';
import type { Message, ToolUseBlock } from '../protocol/content.js';
import { createConversation } from './conversation.js';
import { runLoop } from './loop.js';
import type { InputMessage, LoopDeps, LoopEvent, StopReason, ToolCallResult } from './types.js';

const FAILURE: ModelFailure = { kind: 'overloaded', message: 'busy', retryable: true };

interface World {
  readonly deps: LoopDeps;
  readonly log: string[];
  readonly events: LoopEvent[];
  readonly requests: (readonly Message[])[];
}

type Call = { readonly id: string; readonly name: string; readonly input?: string };
type Script = readonly (
  | string
  | readonly Call[]
  | ModelEvent
  | { cut: string }
  | { tokens: string }
)[];

/** Loop dependencies that record every call made to them. */
function world(script: Script, more: Partial<LoopDeps> = {}): World {
  const log: string[] = [];
  const events: LoopEvent[] = [];
  const requests: (readonly Message[])[] = [];
  const conversation = createConversation();
  let next = 0;
  let ids = 0;
  const deps: LoopDeps = {
    conversation,
    prepareTurn: async () => ({
      model: 'test',
      system: [],
      tools: [],
      messages: conversation.messages,
      maxTokens: 100,
    }),
    async *callModel(request) {
      requests.push([...request.messages]);
      const step = script[next++];
      if (step === undefined) throw new Error('the script is over');
      yield* eventsFor(step);
    },
    isConcurrencySafe: async (call) => call.name === 'safe',
    runTool: async (call) => {
      log.push(`run ${call.id}`);
      return resultFor(call, `did ${call.id}`);
    },
    takeInput: async () => [],
    shouldStop: () => undefined,
    onIdle: async () => undefined,
    onPromptTooLong: async () => false,
    recordInput: (message) => log.push(`input ${textIn(message)}`),
    recordAnswer: (answer) =>
      log.push(`answer ${answer.message.content.map((block) => block.type).join('+')}`),
    recordResult: (call) => log.push(`result ${call.id}`),
    emit: (event) => void events.push(event),
    uuid: () => `u${++ids}`,
    ...more,
  };
  return { deps, log, events, requests };
}

function* eventsFor(step: Script[number]): Generator<ModelEvent> {
  if (typeof step === 'object' && 'type' in step) {
    yield step;
    return;
  }
  yield { type: 'message_start', message: { id: 'm', model: 'test', usage: { input_tokens: 1 } } };
  if (typeof step === 'string' || 'cut' in step || 'tokens' in step) {
    const text = typeof step === 'string' ? step : 'cut' in step ? step.cut : step.tokens;
    yield { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
    yield { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
    if (typeof step === 'object' && 'cut' in step) {
      yield { type: 'failure', failure: FAILURE };
      return;
    }
    yield { type: 'content_block_stop', index: 0 };
  } else {
    for (const [index, call] of step.entries()) {
      yield {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
      };
      yield {
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json: call.input ?? '{}' },
      };
      yield { type: 'content_block_stop', index };
    }
  }
  const limit = typeof step === 'object' && 'tokens' in step;
  yield {
    type: 'message_delta',
    delta: { stop_reason: limit ? 'max_tokens' : Array.isArray(step) ? 'tool_use' : 'end_turn' },
  };
  yield { type: 'message_stop' };
}

function resultFor(call: ToolUseBlock, content: string): ToolCallResult {
  return { uuid: `r-${call.id}`, block: { type: 'tool_result', tool_use_id: call.id, content } };
}

function textIn(message: InputMessage): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : block.type)).join('');
}

const prompt = (text: string): InputMessage => ({
  uuid: `p-${text}`,
  content: [{ type: 'text', text }],
});
const start = (w: World, signal = new AbortController().signal) =>
  runLoop(w.deps, { prompts: [prompt('go')] }, signal);

describe('the loop', () => {
  it('answers a prompt and stops when the model calls nothing', async () => {
    const w = world(['hello']);
    const outcome = await start(w);
    expect(outcome).toMatchObject({
      reason: { kind: 'completed', stopReason: 'end_turn' },
      turns: 1,
      text: 'hello',
    });
    expect(w.log).toEqual(['input go', 'answer text']);
    expect(w.deps.conversation.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'hello' }] },
    ]);
  });

  it('records the answer before any of its calls runs, and results in call order', async () => {
    const w = world([
      [
        { id: 'a', name: 'other' },
        { id: 'b', name: 'other' },
      ],
      'done',
    ]);
    await start(w);
    expect(w.log).toEqual([
      'input go',
      'answer tool_use+tool_use',
      'run a',
      'result a',
      'run b',
      'result b',
      'answer text',
    ]);
  });

  it('runs neighbouring safe calls together and records them in call order', async () => {
    const finish = new Map<string, () => void>();
    const w = world(
      [
        [
          { id: 'a', name: 'safe' },
          { id: 'b', name: 'safe' },
          { id: 'c', name: 'other' },
        ],
        'done',
      ],
      {
        runTool: (call) =>
          new Promise((resolve) => {
            finish.set(call.id, () => resolve(resultFor(call, call.id)));
            // The second safe call ends first; the first ends only once both have started.
            if (call.id === 'b') {
              finish.get('b')?.();
              finish.get('a')?.();
            }
            if (call.id === 'c') finish.get('c')?.();
          }),
      },
    );
    await start(w);
    expect(w.log.filter((line) => line.startsWith('result'))).toEqual([
      'result a',
      'result b',
      'result c',
    ]);
  });

  it('runs ten safe calls at once, and the next one as soon as any of them has ended', async () => {
    const finish = new Map<string, () => void>();
    const calls = Array.from({ length: 12 }, (_, index) => ({ id: `c${index}`, name: 'safe' }));
    const w = world([calls, 'done'], {
      runTool: (call) =>
        new Promise((resolve) => {
          w.log.push(`run ${call.id}`);
          finish.set(call.id, () => resolve(resultFor(call, call.id)));
        }),
    });
    const ran = (): string[] => w.log.filter((line) => line.startsWith('run'));
    const ended = start(w);
    await expect.poll(ran).toHaveLength(10);
    finish.get('c7')?.();
    await expect.poll(ran).toContain('run c10');
    expect(ran()).toHaveLength(11);
    for (const { id } of calls.slice(0, 11)) finish.get(id)?.();
    await expect.poll(ran).toContain('run c11');
    finish.get('c11')?.();
    await ended;
    const recorded = w.log.filter((line) => line.startsWith('result'));
    expect(recorded).toEqual(calls.map(({ id }) => `result ${id}`));
  });

  it('does not start calls that wait for room once one has ended the run', async () => {
    const calls = Array.from({ length: 12 }, (_, index) => ({ id: `c${index}`, name: 'safe' }));
    const w = world([calls], {
      runTool: async (call) => {
        w.log.push(`run ${call.id}`);
        return { ...resultFor(call, call.id), ...(call.id === 'c0' ? { interrupt: true } : {}) };
      },
    });
    expect((await start(w)).reason).toEqual({ kind: 'aborted', during: 'tools' });
    expect(w.log.filter((line) => line.startsWith('run'))).toHaveLength(10);
    expect(w.log.filter((line) => line.startsWith('result'))).toHaveLength(12);
  });

  it.each([
    ['a result cannot be recorded', 'record'],
    ['a call cannot be run at all', 'run'],
  ])('starts no more calls once %s, and waits for those that run', async (_, broken) => {
    const calls = Array.from({ length: 15 }, (_, index) => ({ id: `c${index}`, name: 'safe' }));
    let running = 0;
    const w = world([calls], {
      runTool: async (call) => {
        w.log.push(`run ${call.id}`);
        running++;
        await new Promise((resolve) => setTimeout(resolve, call.id === 'c0' ? 1 : 30));
        running--;
        if (broken === 'run') throw new Error('BROKEN');
        return resultFor(call, call.id);
      },
      recordResult: () => {
        throw new Error('BROKEN');
      },
    });
    await expect(start(w)).rejects.toThrow('BROKEN');
    expect(running).toBe(0);
    const ran = w.log.filter((line) => line.startsWith('run')).length;
    expect(ran).toBeLessThan(13);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(w.log.filter((line) => line.startsWith('run'))).toHaveLength(ran);
  });

  it('puts results and steering input into one user message', async () => {
    const steering = [prompt('also this')];
    const w = world([[{ id: 'a', name: 'safe' }], 'done'], {
      takeInput: async () => steering.splice(0),
    });
    await start(w);
    expect(w.requests[1]?.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'did a' },
        { type: 'text', text: 'also this' },
      ],
    });
    expect(w.log).toContain('input also this');
  });

  it('keeps nothing of an answer that broke off', async () => {
    const w = world([{ cut: 'half an ans' }]);
    const outcome = await start(w);
    expect(outcome.reason).toEqual({ kind: 'model_failure', failure: FAILURE });
    expect(w.log).toEqual(['input go']);
    expect(w.deps.conversation.messages).toHaveLength(1);
  });

  it('starts the answer anew after a retry inside the stream', async () => {
    const w = world([], {
      async *callModel() {
        yield* [...eventsFor('half')].slice(0, 3);
        yield { type: 'retry', attempt: 1, maxRetries: 3, delayMs: 1, failure: FAILURE };
        yield* eventsFor('whole');
      },
    });
    expect(await start(w)).toMatchObject({ text: 'whole' });
  });

  it('closes the stream when a listener throws and when the model fails', async () => {
    let closed = 0;
    async function* events(list: Iterable<ModelEvent>): AsyncGenerator<ModelEvent> {
      try {
        yield* list;
      } finally {
        closed++;
      }
    }
    const failing = world([], {
      callModel: () => events(eventsFor('whole')),
      emit: ({ type }) => {
        if (type === 'block') throw new Error('the listener failed');
      },
    });
    await expect(start(failing)).rejects.toThrow('the listener failed');
    expect(closed).toBe(1);

    const failed = world([], {
      callModel: () => events([{ type: 'failure', failure: FAILURE }]),
    });
    expect(await start(failed)).toMatchObject({ reason: { kind: 'model_failure' } });
    expect(closed).toBe(2);
  });

  it('emits nothing more of an answer once a listener has aborted the turn', async () => {
    const controller = new AbortController();
    let closed = 0;
    async function* events(): AsyncGenerator<ModelEvent> {
      try {
        yield* eventsFor('whole');
      } finally {
        closed++;
      }
    }
    const emitted: string[] = [];
    const w = world([], {
      callModel: () => events(),
      emit: ({ type }) => {
        emitted.push(type);
        if (type === 'stream') controller.abort();
      },
    });
    expect((await start(w, controller.signal)).reason.kind).toBe('aborted');
    expect(emitted).toEqual(['input', 'stream']);
    expect(closed).toBe(1);
  });

  it('emits no part of an answer when partial events are switched off', async () => {
    const w = world([[{ id: 'a', name: 'safe' }], 'done'], { emitPartials: false });
    expect(await start(w)).toMatchObject({ text: 'done' });
    expect(w.events.map(({ type }) => type)).toEqual(['input', 'answer', 'tool_result', 'answer']);
  });

  it('asks again once for an empty answer, then ends with an empty result', async () => {
    const empty: ModelEvent = { type: 'message_stop' };
    const w = world([empty, empty]);
    expect(await start(w)).toMatchObject({ reason: { kind: 'completed' }, turns: 2, text: '' });
    expect(w.deps.conversation.messages).toHaveLength(1);
  });

  it('asks an answer that hit the output limit to go on', async () => {
    const w = world([{ tokens: 'first half' }, 'second half']);
    const outcome = await start(w);
    expect(outcome.text).toBe('second half');
    expect(textIn(prompt(''))).toBe('');
    expect(JSON.stringify(w.requests[1]?.at(-1))).toContain('Continue exactly where it stopped');
  });

  it('stops when the limits say so, before the next model call', async () => {
    const stop: StopReason = { kind: 'max_turns', limit: 1 };
    const w = world([[{ id: 'a', name: 'safe' }]], {
      shouldStop: (turns) => (turns >= 1 ? stop : undefined),
    });
    expect((await start(w)).reason).toEqual(stop);
    expect(w.log.at(-1)).toBe('result a');
  });

  it('gives every call a result when it is aborted while tools run', async () => {
    const controller = new AbortController();
    const w = world(
      [
        [
          { id: 'a', name: 'other' },
          { id: 'b', name: 'other' },
        ],
      ],
      {
        runTool: async (call) => {
          controller.abort();
          return resultFor(call, 'cut short');
        },
      },
    );
    const outcome = await start(w, controller.signal);
    expect(outcome.reason).toEqual({ kind: 'aborted', during: 'tools' });
    expect(w.deps.conversation.messages.at(-1)).toMatchObject({
      content: [
        { tool_use_id: 'a', content: 'cut short' },
        { tool_use_id: 'b', is_error: true },
      ],
    });
    expect(w.log).toContain('result b');
  });

  it('leaves at once when it is aborted while the model streams', async () => {
    const controller = new AbortController();
    const w = world([], {
      async *callModel() {
        yield* [...eventsFor('half')].slice(0, 3);
        controller.abort();
        yield {
          type: 'failure',
          failure: { kind: 'aborted', message: 'aborted', retryable: false },
        };
      },
    });
    expect((await start(w, controller.signal)).reason).toEqual({
      kind: 'aborted',
      during: 'streaming',
    });
    expect(w.log).toEqual(['input go']);
  });

  it('stops on an interrupting refusal and does not start the calls behind it', async () => {
    const w = world(
      [
        [
          { id: 'a', name: 'other' },
          { id: 'b', name: 'other' },
        ],
      ],
      {
        runTool: async (call) => ({ ...resultFor(call, 'no'), interrupt: true }),
      },
    );
    expect((await start(w)).reason).toEqual({ kind: 'aborted', during: 'tools' });
    expect(w.log.filter((line) => line.startsWith('result'))).toEqual(['result a', 'result b']);
  });

  it('ends with the value of a call that finishes the run', async () => {
    const w = world([[{ id: 'a', name: 'other' }]], {
      runTool: async (call) => ({
        ...resultFor(call, 'ok'),
        finish: { structuredOutput: { n: 5 } },
      }),
    });
    expect((await start(w)).reason).toEqual({ kind: 'finished', structuredOutput: { n: 5 } });
  });

  it('goes on when idle work brings another message', async () => {
    const more = [prompt('one more thing')];
    const w = world(['first', 'second'], { onIdle: async () => more.shift() });
    expect(await start(w)).toMatchObject({ text: 'second', turns: 2 });
  });

  it('tries again after the history was shortened', async () => {
    const tooLong: ModelEvent = {
      type: 'failure',
      failure: { kind: 'prompt_too_long', message: 'too long', retryable: false },
    };
    const w = world([tooLong, 'fits'], { onPromptTooLong: async () => true });
    expect(await start(w)).toMatchObject({ text: 'fits', turns: 2 });
  });

  it('hands a broken tool input on with its cause', async () => {
    let seen: unknown;
    const w = world([[{ id: 'a', name: 'other', input: '{"command": "echo ' }], 'done'], {
      runTool: async (call, malformed) => {
        seen = malformed;
        return resultFor(call, 'bad');
      },
    });
    await start(w);
    expect(seen).toEqual({ raw: '{"command": "echo ', cause: 'invalid_json' });
  });
});
