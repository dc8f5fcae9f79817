import { describe, expect, it } from 'vitest';
import { RawClient } from './raw-client.js';
import { kinds, ofKind, resultOf, toolResult, transcripts } from './suite/look.js';
import type { Frame } from './suite/play.js';
import { makeWorld, type World } from './suite/world.js';

const BASE = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
const user = (text: string, fields: object = {}) => ({
  type: 'user',
  session_id: '',
  parent_tool_use_id: null,
  message: { role: 'user', content: [{ type: 'text', text }] },
  ...fields,
});
const start = (
  world: World,
  flags: readonly string[] = [],
  answer: (request: Frame) => unknown = () => undefined,
  env: Readonly<Record<string, string>> = {},
): RawClient =>
  new RawClient({
    argv: [...BASE, ...flags],
    cwd: world.project.directory,
    env: { ...world.env, ...env },
    answer,
  });

/** Row 16 of the checklist, and what only shows below the libraries. */
describe('lines that nobody expects', () => {
  it('an unknown control request is refused under its own id', async () => {
    const client = start(await makeWorld());
    expect(await client.request({ subtype: 'no_such_subtype' })).toEqual({
      subtype: 'error',
      request_id: 'req_1_raw',
      error: 'Unsupported control request subtype: no_such_subtype',
      error_code: 'unsupported_request',
    });
    expect(await client.end()).toBe(0);
  });

  it('unknown types, unknown fields and keep-alives are passed over', async () => {
    const world = await makeWorld({ script: ['hello'] });
    const client = start(world);
    client.send({ type: 'keep_alive' });
    client.send({ type: 'from_the_future', payload: { deep: [1, 2, 3] } });
    client.send({ type: 'control_cancel_request', request_id: 'never-sent' });
    client.send(user('x', { from_the_future: true, origin: { kind: 'human' } }));
    expect(await client.end()).toBe(0);
    expect(kinds(client)).toEqual(['system/init', 'assistant', 'result/success']);
  });

  it('an answer that nobody waits for, or that comes twice, changes nothing', async () => {
    const world = await makeWorld({
      script: [{ tool: 'Write', input: { file_path: 'z.txt', content: 'z' } }, 'end'],
    });
    const client = start(world, ['--permission-prompt-tool', 'stdio']);
    const answer = (id: unknown, response: object): void =>
      client.send({
        type: 'control_response',
        response: { subtype: 'success', request_id: id, response },
      });
    answer('never-asked', { behavior: 'allow' });
    client.send(user('x'));
    const question = await client.next((frame) => frame.type === 'control_request');
    answer(question.request_id, { behavior: 'deny', message: 'NO' });
    answer(question.request_id, { behavior: 'allow' });
    await client.result();
    answer(question.request_id, { behavior: 'allow' });
    expect(await client.end()).toBe(0);
    expect(toolResult(client)).toMatchObject({ isError: true, text: 'NO' });
    expect(world.project.exists('z.txt')).toBe(false);
  });

  it('a line that is no JSON ends the program, after what came before is done', async () => {
    const world = await makeWorld({ script: ['hello'] });
    const client = start(world);
    client.send(user('x'));
    client.sendLine('{"type": "user", "mess');
    expect(await client.exit).toBe(1);
    expect(client.stderr).toContain('not a JSON object');
  });

  it('each request is answered once, also many at the same time', async () => {
    const client = start(await makeWorld());
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        client.request({ subtype: index % 2 === 0 ? 'mcp_status' : 'get_binary_version' }),
      ),
    );
    expect(answers.map((answer) => answer.request_id)).toEqual(
      Array.from({ length: 20 }, (_, index) => `req_${index + 1}_raw`),
    );
    expect(await client.end()).toBe(0);
    expect(ofKind(client, 'control_response')).toHaveLength(20);
  });

  it('a control request is answered while a callback of the host is open', async () => {
    const world = await makeWorld({
      script: [{ tool: 'Bash', input: { command: 'echo hi' } }, 'end'],
    });
    let inside: Frame | undefined;
    const client = start(world, [], async (request) => {
      if (request.subtype !== 'hook_callback') return undefined;
      inside = await client.request({ subtype: 'set_model', model: 'haiku' });
      return {};
    });
    client.send({
      type: 'control_request',
      request_id: 'init',
      request: { subtype: 'initialize', hooks: { PreToolUse: [{ hookCallbackIds: ['h'] }] } },
    });
    client.send(user('x'));
    await client.result();
    expect(inside).toMatchObject({ subtype: 'success', response: { model: expect.any(String) } });
    expect(await client.end()).toBe(0);
  });
});

describe('the order of a turn', () => {
  it('running, init, answer, result, idle for clients that read the state', async () => {
    const world = await makeWorld({ script: ['hello'] });
    const client = start(world, [], undefined, { CLAUDE_CODE_SDK_READS_SESSION_STATE: '1' });
    client.send(user('x', { uuid: '77777777-7777-4777-8777-777777777777' }));
    expect(await client.end()).toBe(0);
    const order = client.frames.map((frame) => String(frame.state ?? frame.type));
    expect(
      order.filter((word) => word !== 'queued' && word !== 'started' && word !== 'completed'),
    ).toEqual(['running', 'system', 'assistant', 'result', 'idle']);
  });

  it('requires_action while a question is open', async () => {
    const world = await makeWorld({
      script: [{ tool: 'Write', input: { file_path: 'z.txt', content: 'z' } }, 'end'],
    });
    const client = start(
      world,
      ['--permission-prompt-tool', 'stdio'],
      () => ({ behavior: 'allow' }),
      { CLAUDE_CODE_SDK_READS_SESSION_STATE: '1' },
    );
    client.send(user('x'));
    await client.result();
    await client.end();
    const states = ofKind(client, 'system/session_state_changed').map((frame) => frame.state);
    expect(states).toEqual(['running', 'requires_action', 'running', 'idle']);
  });

  it('prompts that come together are all answered, with the input long closed', async () => {
    const world = await makeWorld({ script: ['one', 'two', 'three'] });
    const client = start(world);
    for (const text of ['a', 'b', 'c']) client.send(user(text));
    expect(await client.end()).toBe(0);
    // Prompts that wait together may share a turn.
    expect(client.results().length).toBeGreaterThan(0);
    const lines = JSON.stringify(transcripts(world)[0]?.lines);
    for (const text of ['a', 'b', 'c']) expect(lines).toContain(`"content":"${text}"`);
    expect(resultOf({ frames: client.frames, error: undefined })).toMatchObject({
      is_error: false,
    });
  });

  it('a start that fails is a result, also before anything was said', async () => {
    const world = await makeWorld({ files: { '.claude/settings.json': '{"permissions": ' } });
    const client = start(world);
    client.send({ type: 'control_request', request_id: 'i', request: { subtype: 'initialize' } });
    expect(await client.exit).toBe(1);
    expect(client.results()).toMatchObject([
      {
        subtype: 'error_during_execution',
        is_error: true,
        num_turns: 0,
        errors: [expect.any(String)],
      },
    ]);
  });

  it('no line is longer than the Python client can read', async () => {
    const world = await makeWorld({
      files: { 'big.txt': `${'x'.repeat(199)}\n`.repeat(12_000) },
      script: [
        { tool: 'Bash', input: { command: 'cat big.txt' } },
        { tool: 'Read', input: { file_path: 'big.txt' } },
        'end',
      ],
    });
    const client = start(world);
    client.send(user('x'));
    expect(await client.end()).toBe(0);
    const longest = Math.max(...client.frames.map((frame) => JSON.stringify(frame).length));
    expect(longest).toBeLessThan(1024 * 1024);
  });
});
