import assert from 'node:assert/strict';
import type { ModelClient, ModelEvent, ModelFailure, ModelRequest } from '../../model/client.js';
import type { Reply } from '../../model/scripted/format.js';
import { MessageAccumulator } from '../../model/stream/accumulate.js';

/** The test functions of whatever runner is used. */
export interface TestRunner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
}

export interface ModelClientUnderTest {
  readonly client: ModelClient;
  close(): Promise<void>;
}

/** What every model client promises. `open` gives a fresh client whose model plays the script. */
export function modelClientContract(
  runner: TestRunner,
  name: string,
  open: (script: readonly Reply[]) => Promise<ModelClientUnderTest>,
): void {
  const check = (
    title: string,
    script: readonly Reply[],
    body: (client: ModelClient) => Promise<void>,
  ): void =>
    runner.it(title, async () => {
      const { client, close } = await open(script);
      try {
        await body(client);
      } finally {
        await close();
      }
    });

  runner.describe(`${name} keeps the contract of a model client`, () => {
    check(
      'begins with message_start and ends with message_stop',
      ['Hello, wörld 🙂'],
      async (client) => {
        const events = await collect(client);
        assert.equal(events[0]?.type, 'message_start');
        assert.equal(events.at(-1)?.type, 'message_stop');
        const answer = fold(events);
        assert.deepEqual(answer.content, [{ type: 'text', text: 'Hello, wörld 🙂' }]);
        assert.equal(answer.stopReason, 'end_turn');
        assert.equal(answer.usage.output_tokens, 5);
      },
    );

    check('keeps blocks in order and parallel calls apart', [PARALLEL], async (client) => {
      const answer = fold(await collect(client));
      assert.deepEqual(
        answer.content.map((block) => block.type),
        ['thinking', 'text', 'tool_use', 'tool_use'],
      );
      const calls = answer.content.filter((block) => block.type === 'tool_use');
      assert.deepEqual(
        calls.map((call) => [call.id, call.name, call.input]),
        [
          ['call_a', 'Read', { file_path: '/tmp/ä' }],
          ['call_b', 'Bash', {}],
        ],
      );
      assert.equal(answer.stopReason, 'tool_use');
      assert.equal(answer.malformed.size, 0);
    });

    check('reports a broken tool input and its cause', BROKEN, async (client) => {
      const first = fold(await collect(client));
      assert.deepEqual([...first.malformed.values()], [{ raw: '{"a": ', cause: 'invalid_json' }]);
      const second = fold(await collect(client));
      assert.deepEqual([...second.malformed.values()], [{ raw: '{"a": ', cause: 'output_limit' }]);
    });

    check('turns errors into one last event', ERRORS, async (client) => {
      assert.deepEqual(pick(await failure(client)), {
        kind: 'authentication',
        status: 401,
        retryable: false,
      });
      assert.deepEqual(pick(await failure(client)), {
        kind: 'rate_limit',
        status: 429,
        retryable: true,
        retryAfterMs: 1500,
      });
      assert.deepEqual(pick(await failure(client)), {
        kind: 'overloaded',
        status: 529,
        retryable: true,
      });
      assert.deepEqual(pick(await failure(client)), {
        kind: 'prompt_too_long',
        status: 400,
        retryable: false,
      });
    });

    check(
      'says that a stream was cut',
      [{ text: 'never whole', cutStream: true }],
      async (client) => {
        assert.deepEqual(pick(await failure(client)), { kind: 'connection', retryable: true });
      },
    );

    check('does not begin when it is aborted already', [], async (client) => {
      const events = await collect(client, AbortSignal.abort());
      assert.deepEqual(events.map(kindOf), ['failure:aborted']);
    });

    check('stops at an abort while the server is silent', [HANG], async (client) => {
      const controller = new AbortController();
      const events = collect(client, controller.signal);
      setTimeout(() => controller.abort(), 20);
      assert.deepEqual((await events).map(kindOf), ['failure:aborted']);
    });

    check('stops at an abort in the middle of an answer', [HANG_MIDWAY], async (client) => {
      const controller = new AbortController();
      const seen: string[] = [];
      for await (const event of client.stream(request(), controller.signal)) {
        seen.push(kindOf(event));
        if (event.type === 'content_block_start') setTimeout(() => controller.abort(), 5);
      }
      assert.equal(seen[0], 'message_start');
      assert.equal(seen.at(-1), 'failure:aborted');
    });

    check(
      'lets a reader leave early and is usable afterwards',
      ['first', 'second'],
      async (client) => {
        for await (const event of client.stream(request(), new AbortController().signal)) {
          if (event.type === 'content_block_start') break;
        }
        assert.deepEqual(fold(await collect(client)).content, [{ type: 'text', text: 'second' }]);
      },
    );
  });
}

const PARALLEL: Reply = {
  blocks: [
    { thinking: 'let me see' },
    'I will look.',
    { tool: 'Read', id: 'call_a', input: { file_path: '/tmp/ä' } },
    { tool: 'Bash', id: 'call_b', input: {} },
  ],
};
const BROKEN: readonly Reply[] = [
  { tool: 'Read', rawInput: '{"a": ' },
  { tool: 'Read', rawInput: '{"a": ', stopReason: 'max_tokens' },
];
const ERRORS: readonly Reply[] = [
  { error: { status: 401, type: 'authentication_error', message: 'invalid x-api-key' } },
  { error: { status: 429, type: 'rate_limit_error', message: 'slow down', retryAfterMs: 1500 } },
  { error: { status: 529, type: 'overloaded_error', message: 'overloaded' } },
  { error: { status: 400, type: 'invalid_request_error', message: 'prompt is too long: 2 > 1' } },
];
const HANG: Reply = { serve: { misbehave: 'hang' } };
const HANG_MIDWAY: Reply = {
  text: 'a longer text that stops',
  serve: { misbehave: 'hang_midway' },
};

function request(): ModelRequest {
  return {
    model: 'fake-model',
    system: [{ type: 'text', text: 'You are a test.' }],
    tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
    maxTokens: 1000,
  };
}

async function collect(
  client: ModelClient,
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of client.stream(request(), signal)) {
    if (event.type !== 'ping') events.push(event);
  }
  return events;
}

async function failure(client: ModelClient): Promise<ModelFailure> {
  const last = (await collect(client)).at(-1);
  assert.ok(last?.type === 'failure', `the last event is ${last?.type}`);
  return last.failure;
}

/** The fields that decide what to do; texts differ between clients. */
/** The fields that a failure sets. */
function pick({ kind, status, retryable, retryAfterMs }: ModelFailure): Partial<ModelFailure> {
  const fields = Object.entries({ kind, status, retryable, retryAfterMs });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function kindOf(event: ModelEvent): string {
  return event.type === 'failure' ? `failure:${event.failure.kind}` : event.type;
}

function fold(events: readonly ModelEvent[]) {
  const folded = new MessageAccumulator();
  for (const event of events) folded.push(event);
  return folded.answer();
}
