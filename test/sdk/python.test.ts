import { describe, expect, it } from 'vitest';
import { promptOf, queryPython, startPython } from './python-client.js';
import {
  asked,
  kinds,
  ofKind,
  shown,
  theOne,
  toolResult,
  toolResults,
  transcripts,
} from './suite/look.js';
import type { Frame } from './suite/play.js';
import { makeWorld } from './suite/world.js';

const echo = { tool: 'Bash', input: { command: 'echo hi' }, id: 'toolu_1' };
const write = { tool: 'Write', input: { file_path: 'z.txt', content: 'z' }, id: 'toolu_1' };
const pre = (fields: object) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields },
});
const onBash = { PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['hook_0'], timeout: 9 }] };
/** The fields without which the Python library raises. */
const REQUIRED = [
  'subtype',
  'duration_ms',
  'duration_api_ms',
  'is_error',
  'num_turns',
  'session_id',
];

describe('the frames of the Python client', () => {
  it('query: one init, the answer, one result, exit 0', async () => {
    const world = await makeWorld({ script: ['hello'] });
    const { client, code } = await queryPython(world, 'x');
    expect(code).toBe(0);
    expect(kinds(client)).toEqual([
      'control_response',
      'system/init',
      'assistant',
      'result/success',
    ]);
    expect(Object.keys(theOne(client, 'result'))).toEqual(expect.arrayContaining(REQUIRED));
    expect(theOne(client, 'result')).toMatchObject({ result: 'hello', is_error: false });
    expect(theOne(client, 'assistant')).toMatchObject({
      message: { model: expect.any(String), content: [{ type: 'text', text: 'hello' }] },
    });
  });

  it('initialize is answered before any prompt, always with success', async () => {
    const world = await makeWorld();
    const { client, initialized } = await startPython(world);
    expect(initialized).toMatchObject({
      subtype: 'success',
      response: { commands: expect.any(Array), output_style: 'default' },
    });
    expect(await client.end()).toBe(0);
    expect(client.results()).toEqual([]);
  });

  it('client: two prompts under the session "default" are two turns of ours', async () => {
    const world = await makeWorld({ script: ['first', 'second'] });
    const { client } = await startPython(world);
    client.send(promptOf('one', 'default'));
    expect(await client.result(1)).toMatchObject({ result: 'first' });
    client.send(promptOf('two', 'default'));
    expect(await client.result(2)).toMatchObject({ result: 'second' });
    expect(await client.end()).toBe(0);
    expect(ofKind(client, 'system/init')).toHaveLength(2);
    const ids = new Set(client.results().map((frame) => frame.session_id));
    expect(ids.size).toBe(1);
    expect(ids).not.toContain('default');
    const [kept] = transcripts(world);
    expect([kept?.id]).toEqual([...ids]);
    const entrypoints = kept?.lines.flatMap((line) => line.entrypoint ?? []);
    expect(new Set(entrypoints)).toEqual(new Set(['sdk-py']));
  });

  it('an error result ends with exit code 1', async () => {
    const world = await makeWorld({ script: [echo] });
    const { client, code } = await queryPython(world, 'x', { flags: ['--max-turns', '1'] });
    expect(theOne(client, 'result')).toMatchObject({ subtype: 'error_max_turns', is_error: true });
    expect(code).toBe(1);
  });
});

describe('callbacks of the Python client', () => {
  it('a hook with a null matcher and one with a name are asked', async () => {
    const seen: Frame[] = [];
    const world = await makeWorld({ script: [echo, 'end'] });
    const { client } = await queryPython(world, 'x', {
      hooks: { ...onBash, Stop: [{ matcher: null, hookCallbackIds: ['hook_1'] }] },
      callbacks: {
        hook_0: (input) => {
          seen.push(input);
          return pre({ permissionDecision: 'deny', permissionDecisionReason: 'REASON' });
        },
        // `continue_` and `async_` of Python code are plain words on the wire.
        hook_1: (input) => {
          seen.push(input);
          return { continue: true };
        },
      },
    });
    expect(seen).toMatchObject([
      { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'echo hi' } },
      { hook_event_name: 'Stop', stop_hook_active: false },
    ]);
    expect(toolResult(client)).toMatchObject({
      isError: true,
      text: expect.stringContaining('REASON'),
    });
  });

  it('a hook that raises refuses the call', async () => {
    const world = await makeWorld({ script: [echo, 'end'] });
    const { client } = await queryPython(world, 'x', {
      hooks: onBash,
      callbacks: {
        hook_0: () => {
          throw new Error('raised');
        },
      },
    });
    expect(toolResult(client).isError).toBe(true);
    expect(theOne(client, 'result')).toMatchObject({ permission_denials: [{ tool_name: 'Bash' }] });
  });

  it('a cancelled hook that never answers is not waited for', async () => {
    const world = await makeWorld({ script: [echo, 'end'] });
    const { client, code } = await queryPython(world, 'x', {
      hooks: { PreToolUse: [{ matcher: null, hookCallbackIds: ['hook_0'], timeout: 0.3 }] },
      callbacks: { hook_0: () => new Promise(() => undefined) },
    });
    expect(ofKind(client, 'control_cancel_request')).toHaveLength(1);
    expect(toolResult(client).isError).toBe(true);
    expect(code).toBe(0);
  });

  it('can_use_tool: allow repeats the input, a rule content of null means none', async () => {
    const contexts: Frame[] = [];
    const world = await makeWorld({ script: [write, { ...write, id: 'toolu_2' }, 'end'] });
    const { client } = await queryPython(world, 'x', {
      canUseTool: (_tool, _input, context) => {
        contexts.push(context);
        return {
          behavior: 'allow',
          updatedPermissions: [
            {
              type: 'addRules',
              rules: [{ toolName: 'Write', ruleContent: null }],
              behavior: 'allow',
              destination: 'session',
            },
          ],
        };
      },
    });
    expect(contexts).toMatchObject([
      { tool_name: 'Write', tool_use_id: 'toolu_1', permission_suggestions: [{ type: 'setMode' }] },
    ]);
    expect(world.project.read('z.txt')).toBe('z');
    expect(toolResults(client).map(({ isError }) => isError)).toEqual([false, false]);
  });

  it('can_use_tool: deny, and a callback that raises, refuse', async () => {
    const world = await makeWorld({ script: [write, { ...write, id: 'toolu_2' }, 'end'] });
    let times = 0;
    const { client } = await queryPython(world, 'x', {
      canUseTool: () => {
        if (times++ > 0) throw new Error('raised');
        return { behavior: 'deny', message: 'NO', interrupt: false };
      },
    });
    expect(toolResults(client)).toMatchObject([{ isError: true, text: 'NO' }, { isError: true }]);
    expect(world.project.exists('z.txt')).toBe(false);
  });
});

describe('servers of the Python client', () => {
  const servers = {
    calc: {
      tools: {
        add: ({ a, b }: Frame) => Number(a) + Number(b),
        fail: () => {
          throw new Error('RAISED');
        },
      },
    },
  };
  const use = (name: string, input: object = {}) => ({
    tool: `mcp__calc__${name}`,
    input: { ...input },
  });

  it('have no manifest: they are greeted, listed and called', async () => {
    const world = await makeWorld({
      script: [use('add', { a: 1, b: 2 }), use('fail'), use('no'), 'end'],
    });
    const { client, asked: questions } = await queryPython(world, 'x', {
      servers,
      flags: ['--allowedTools', 'mcp__calc__*'],
    });
    const methods = questions.flatMap(({ subtype, message }) =>
      subtype === 'mcp_message' ? [(message as { method: string }).method] : [],
    );
    expect(methods.slice(0, 3)).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
    expect(methods.filter((method) => method === 'tools/call')).toHaveLength(2);
    expect(theOne(client, 'system/init')).toMatchObject({
      mcp_servers: [{ name: 'calc', status: 'connected' }],
      tools: expect.arrayContaining(['mcp__calc__add']),
    });
    expect(toolResults(client)).toMatchObject([
      { text: '3', isError: false },
      { text: expect.stringContaining('RAISED'), isError: true },
      { isError: true },
    ]);
  });

  it('that the host does not know are told as failed, and the session runs', async () => {
    const world = await makeWorld({ script: ['end'] });
    const { client, code } = await queryPython(world, 'x', {
      flags: ['--mcp-config', '{"mcpServers": {"ghost": {"type": "sdk", "name": "ghost"}}}'],
    });
    expect(code).toBe(0);
    expect(theOne(client, 'system/init')).toMatchObject({
      mcp_servers: [{ name: 'ghost', status: 'failed' }],
    });
  });
});

describe('what the Python client asks of a session', () => {
  it('each of its methods is answered within its time', async () => {
    const world = await makeWorld({ script: ['first'] });
    const { client } = await startPython(world);
    client.send(promptOf('x', 'default'));
    await client.result();
    const answers: Record<string, unknown> = {};
    const ask = async (subtype: string, fields: object = {}): Promise<void> => {
      const answer = await client.request({ subtype, ...fields });
      answers[subtype] = answer.subtype === 'success' ? (answer.response ?? {}) : answer.error;
    };
    await ask('set_permission_mode', { mode: 'acceptEdits' });
    await ask('set_model', { model: 'haiku' });
    await ask('set_model', { model: null });
    await ask('interrupt');
    await ask('mcp_status');
    await ask('get_context_usage');
    await ask('stop_task', { task_id: 'nope' });
    await ask('mcp_toggle', { serverName: 'nope', enabled: false });
    await ask('mcp_reconnect', { serverName: 'nope' });
    expect(answers).toMatchObject({
      set_permission_mode: { mode: 'acceptEdits' },
      set_model: { model: expect.stringMatching(/./) },
      interrupt: { still_queued: [] },
      mcp_status: { mcpServers: [] },
      get_context_usage: { totalTokens: expect.any(Number), maxTokens: expect.any(Number) },
      mcp_toggle: expect.stringContaining('nope'),
      mcp_reconnect: expect.stringContaining('nope'),
    });
    expect(await client.end()).toBe(0);
  });

  it('a background agent is known by its task until it ends', async () => {
    const world = await makeWorld({
      actors: [
        {
          name: 'helper',
          match: { system: 'You help' },
          replies: [{ text: 'sub done', delayMs: 500 }],
        },
        {
          name: 'main',
          replies: [
            {
              tool: 'Agent',
              input: {
                description: 'd',
                prompt: 'do it',
                subagent_type: 'r',
                run_in_background: true,
              },
            },
            'main done',
            'I have read it',
          ],
        },
      ],
    });
    const { client } = await startPython(world, {
      agents: { r: { description: 'd', prompt: 'You help', tools: ['Read'], maxTurns: 2 } },
    });
    client.send(promptOf('x'));
    await client.result(2);
    expect(await client.end()).toBe(0);
    const started = theOne(client, 'system/task_started');
    expect(started).toMatchObject({ task_type: 'local_agent', task_id: expect.any(String) });
    expect(theOne(client, 'system/task_notification')).toMatchObject({
      task_id: started.task_id,
      status: 'completed',
      output_file: expect.any(String),
      summary: expect.any(String),
    });
    expect(client.results()).toMatchObject([{ result: 'main done' }, { result: 'I have read it' }]);
  });
});

describe('which settings are read, in the form of the Python client', () => {
  const files = {
    '.claude/settings.json': '{"permissions":{"deny":["Bash(ls)"]}}',
    'CLAUDE.md': 'THE PROJECT SPEAKS',
  };
  const home = { '.claude/settings.json': '{"permissions":{"deny":["Bash(pwd)"]}}' };
  const ls = { tool: 'Bash', input: { command: 'ls' } };
  const pwd = { tool: 'Bash', input: { command: 'pwd' } };
  const table: readonly [string, readonly string[], readonly boolean[], boolean][] = [
    ['omitted: all of them', [], [true, true], true],
    ['empty: none', ['--setting-sources='], [false, false], false],
    ['given: only those', ['--setting-sources=project'], [true, false], true],
    ['given in two words', ['--setting-sources', 'user'], [false, true], false],
  ];
  it.each(table)('%s', async (_name, flags, refused, speaks) => {
    const world = await makeWorld({ files, home, script: [ls, pwd, 'end'] });
    const { client } = await queryPython(world, 'x', { flags });
    expect(toolResults(client).map(({ isError }) => isError)).toEqual(refused);
    expect(shown(world, 0).includes('THE PROJECT SPEAKS')).toBe(speaks);
    expect(asked(world)).toHaveLength(3);
  });
});
