import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isResult, wire } from './host.js';

const isDone = { subtype: 'success' };
const bodyOf = (request: { readonly body: unknown } | undefined) =>
  request?.body as Record<string, unknown> | undefined;

describe('settings of the host', () => {
  it('change while the session runs, and null takes them away', async () => {
    const host = await wire({
      script: [
        { tool: 'Bash', input: { command: 'touch a' } },
        'one',
        { tool: 'Bash', input: { command: 'touch b' } },
        'two',
      ],
    });
    const allow = { permissions: { allow: ['Bash(touch *)'] } };
    expect(await host.request({ subtype: 'apply_flag_settings', settings: allow })).toMatchObject(
      isDone,
    );
    host.prompt('go');
    await host.next(isResult);
    expect(host.project.exists('a')).toBe(true);
    const none = { permissions: null };
    expect(await host.request({ subtype: 'apply_flag_settings', settings: none })).toMatchObject(
      isDone,
    );
    host.prompt('again');
    await host.next(isResult);
    expect(host.project.exists('b')).toBe(false);
  });

  it('cannot lift what a file denies', async () => {
    const host = await wire({
      files: {
        '.claude/settings.json': JSON.stringify({ permissions: { deny: ['Bash(touch *)'] } }),
      },
      script: [{ tool: 'Bash', input: { command: 'touch a' } }, 'one'],
    });
    const settings = { permissions: { allow: ['Bash'], deny: [] } };
    expect(await host.request({ subtype: 'apply_flag_settings', settings })).toMatchObject(isDone);
    host.prompt('go');
    await host.next(isResult);
    expect(host.project.exists('a')).toBe(false);
  });

  it.each([
    ['no object', 5],
    ['a rule that cannot be read', { permissions: { deny: ['Bash('] } }],
    ['lists that are none', { permissions: { deny: 'Bash' } }],
    ['what is fixed at the start', { env: { A: 'b' } }],
  ])('are refused whole: %s', async (_name, settings) => {
    const host = await wire();
    const answer = await host.request({ subtype: 'apply_flag_settings', settings });
    expect(answer).toMatchObject({ subtype: 'error', error: expect.any(String) });
    const rules = await host.request({ subtype: 'list_permission_rules' });
    expect(rules).toMatchObject({ response: { state: { rules: [] } } });
  });

  it('may name another model', async () => {
    const host = await wire({ script: ['one', 'two'] });
    const settings = { model: 'haiku' };
    await host.request({ subtype: 'apply_flag_settings', settings });
    host.prompt('go');
    await host.next(isResult);
    expect(bodyOf(host.model.requests[0])?.model).toContain('haiku');
    await host.request({ subtype: 'apply_flag_settings', settings: { model: null } });
    host.prompt('go');
    await host.next(isResult);
    expect(bodyOf(host.model.requests[1])?.model).not.toContain('haiku');
  });
});

describe('thinking', () => {
  it('can be given a budget, turned off and put back', async () => {
    const host = await wire({ script: ['one', 'two', 'three'], config: { model: 'some-model' } });
    const set = (fields: object) => host.request({ subtype: 'set_max_thinking_tokens', ...fields });
    const sent = async () => {
      host.prompt('go');
      await host.next(isResult);
      return bodyOf(host.model.requests.at(-1))?.thinking;
    };
    expect(await set({ max_thinking_tokens: 2000, thinking_display: 'omitted' })).toMatchObject(
      isDone,
    );
    expect(await sent()).toEqual({ type: 'enabled', budget_tokens: 2000, display: 'omitted' });
    await set({ max_thinking_tokens: 0 });
    expect(await sent()).toEqual({ type: 'disabled' });
    await set({ max_thinking_tokens: null });
    expect(await sent()).toBeUndefined();
    expect(await set({ max_thinking_tokens: 'much' })).toMatchObject({ subtype: 'error' });
  });
});

describe('questions of a host', () => {
  it('about the context, the cost and the models', async () => {
    const host = await wire({ script: ['one'] });
    host.prompt('go');
    await host.next(isResult);
    const { response: context } = await host.request({ subtype: 'get_context_usage' });
    expect(context).toMatchObject({
      categories: expect.arrayContaining([
        expect.objectContaining({ id: 'messages', kind: 'used' }),
      ]),
      totalTokens: expect.any(Number),
      maxTokens: expect.any(Number),
      percentage: expect.any(Number),
      memoryFiles: [],
      mcpTools: [],
      gridRows: [],
      agents: expect.arrayContaining([expect.objectContaining({ agentType: 'general-purpose' })]),
      apiUsage: { output_tokens: expect.any(Number) },
    });
    expect(await host.request({ subtype: 'get_usage' })).toMatchObject({
      response: { session: { total_cost_usd: expect.any(Number), model_usage: expect.anything() } },
    });
    expect(await host.request({ subtype: 'get_session_cost' })).toMatchObject({
      response: { text: expect.stringContaining('Total cost') },
    });
    expect(await host.request({ subtype: 'list_models' })).toMatchObject({
      response: { models: expect.arrayContaining([expect.objectContaining({ value: 'sonnet' })]) },
    });
    expect(await host.request({ subtype: 'reload_output_styles' })).toMatchObject({
      response: { available_output_styles: ['default', 'Explanatory', 'Learning'] },
    });
  });

  it('about hooks', async () => {
    const hook = { matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] };
    const host = await wire({
      files: { '.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [hook] } }) },
    });
    expect(await host.request({ subtype: 'get_hooks_listing' })).toMatchObject({
      response: {
        events: [{ name: 'PreToolUse', hookCount: 1, supportsMatcher: true }],
        hooks: [{ event: 'PreToolUse', matcher: 'Bash', commandText: 'true', type: 'command' }],
        eventCatalog: expect.arrayContaining([expect.objectContaining({ name: 'Stop' })]),
      },
    });
  });

  it('that nobody knows are answered so, and so is what is no request', async () => {
    const host = await wire();
    for (const subtype of ['claim_session', 'remote_control', 'toString', 'reload_plugins']) {
      expect(await host.request({ subtype })).toMatchObject({
        subtype: 'error',
        error_code: 'unsupported_request',
      });
    }
    host.send({ type: 'control_request', request_id: 'bare' });
    const bare = await host.next(
      ({ response }) => (response as { request_id?: unknown } | undefined)?.request_id === 'bare',
    );
    expect(bare).toMatchObject({ response: { error_code: 'unsupported_request' } });
  });

  it('are not confused by what it sends besides', async () => {
    const host = await wire({ script: ['one'] });
    host.send({ type: 'keep_alive' });
    host.send({ type: 'of_a_newer_client', anything: 1 });
    host.send({ type: 'control_cancel_request', request_id: 'nobody' });
    const response = { subtype: 'success', request_id: 'portcullis-99', response: {} };
    host.send({ type: 'control_response', response });
    host.send({ type: 'control_response', response });
    host.prompt('go');
    expect(await host.next(isResult)).toMatchObject({ result: 'one' });
  });
});

describe('files for a host', () => {
  it('are read by the rules that hold for the agent', async () => {
    const host = await wire({
      files: {
        'a.txt': 'héllo',
        'secret.txt': 'no',
        '.claude/settings.json': JSON.stringify({ permissions: { deny: ['Read(./secret.txt)'] } }),
      },
    });
    expect(await host.request({ subtype: 'read_file', path: 'a.txt' })).toMatchObject({
      response: { contents: 'héllo', absPath: host.project.at('a.txt'), lossy: false },
    });
    expect(
      await host.request({ subtype: 'read_file', path: 'a.txt', max_bytes: 2, encoding: 'base64' }),
    ).toMatchObject({
      response: {
        contents: Buffer.from('héllo').subarray(0, 2).toString('base64'),
        truncated: true,
        encoding: 'base64',
      },
    });
    for (const path of ['secret.txt', '/etc/passwd', 'none.txt', '.']) {
      expect(await host.request({ subtype: 'read_file', path })).toMatchObject({
        subtype: 'error',
      });
    }
  });

  it('count as seen by the agent when the host says so, unless they have changed', async () => {
    const edit = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
    const host = await wire({
      files: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
      script: [
        { tool: 'Edit', input: edit },
        { tool: 'Edit', input: { ...edit, file_path: 'b.txt' } },
        'done',
      ],
      config: { permissionMode: 'acceptEdits' },
    });
    const { mtimeMs } = statSync(host.project.at('a.txt'));
    await host.request({ subtype: 'seed_read_state', path: 'a.txt', mtime: Math.ceil(mtimeMs) });
    await host.request({ subtype: 'seed_read_state', path: 'b.txt', mtime: mtimeMs - 60_000 });
    host.prompt('go');
    await host.next(isResult);
    expect(host.project.read('a.txt')).toBe('two\n');
    expect(host.project.read('b.txt')).toBe('one\n');
  });
});

describe('background work', () => {
  it('can be looked at and stopped', async () => {
    const command = 'echo begun; sleep 30';
    const host = await wire({
      script: [{ tool: 'Bash', input: { command, run_in_background: true } }, 'started', 'told'],
      config: { allowedTools: ['Bash'] },
    });
    host.prompt('go');
    const { task_id: id } = await host.next(({ subtype }) => subtype === 'task_started');
    await host.next(isResult);
    await expect
      .poll(async () => (await host.request({ subtype: 'get_task_output', task_id: id })).response)
      .toMatchObject({ output: 'begun\n', total_bytes: 6, truncated: false });
    expect(await host.request({ subtype: 'background_tasks' })).toMatchObject({
      response: { backgrounded: false },
    });
    expect(await host.request({ subtype: 'stop_task', task_id: id })).toMatchObject(isDone);
    expect(await host.next(({ subtype }) => subtype === 'task_notification')).toMatchObject({
      task_id: id,
      status: 'stopped',
    });
    expect(await host.next(isResult)).toMatchObject({ origin: { kind: 'task-notification' } });
    expect(await host.request({ subtype: 'stop_task', task_id: 'nobody' })).toMatchObject({
      subtype: 'error',
      error_code: 'not_found',
    });
    expect(await host.request({ subtype: 'get_task_output', task_id: 'nobody' })).toMatchObject({
      subtype: 'error',
    });
  });

  it('of an agent that is waited for is shown as what it says and does', async () => {
    const host = await wire({
      script: [
        { tool: 'Agent', input: { description: 'd', prompt: 'look' } },
        { text: 'I look.', tool: 'Bash', input: { command: 'echo seen' } },
        'It is there.',
        'end',
      ],
      config: { allowedTools: ['Bash'] },
    });
    host.prompt('go');
    const { task_id: id } = await host.next(({ subtype }) => subtype === 'task_started');
    await host.next(isResult);
    expect(await host.request({ subtype: 'get_task_output', task_id: id })).toMatchObject({
      response: {
        output: 'I look.\n→ Bash {"command":"echo seen"}\n✓ seen\nIt is there.\n',
        truncated: false,
      },
    });
  });

  it('of a prompt that waits can be taken back', async () => {
    const host = await wire({
      script: [{ tool: 'Bash', input: { command: 'until [ -e go ]; do sleep 0.02; done' } }, 'one'],
      config: { allowedTools: ['Bash'] },
    });
    host.prompt('first');
    await host.next(({ type }) => type === 'assistant');
    host.prompt('second', { uuid: 'u2', priority: 'later' });
    const cancel = { subtype: 'cancel_async_message', message_uuid: 'u2' };
    expect(await host.request(cancel)).toMatchObject({ response: { cancelled: true } });
    expect(await host.request(cancel)).toMatchObject({ response: { cancelled: false } });
    host.project.write('go', '');
    host.end();
    await host.served;
    expect(host.frames.filter(isResult)).toHaveLength(1);
  });
});

describe('initialize', () => {
  it('can narrow the skills that the model is told of', async () => {
    const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}s\n---\nText.\n`;
    const host = await wire({
      files: {
        '.claude/skills/apple/SKILL.md': skill('apple'),
        '.claude/skills/pear/SKILL.md': skill('pear'),
      },
      script: ['one'],
    });
    await host.request({ subtype: 'initialize', skills: ['apple'], promptSuggestions: true });
    host.prompt('go');
    await host.next(isResult);
    const sent = JSON.stringify(bodyOf(host.model.requests[0]));
    expect(sent).toContain('About apples');
    expect(sent).not.toContain('About pears');
  });

  it('answers again, and says what has no effect', async () => {
    const host = await wire();
    const fields = { systemPrompt: [''], toolAliases: { Run: 'Bash' } };
    const first = await host.request({ subtype: 'initialize', ...fields });
    const second = await host.request({ subtype: 'initialize', ...fields });
    expect(second.response).toEqual(first.response);
    // Notices of the start wait for `init`, or for the end where no prompt comes.
    host.end();
    await host.served;
    expect(host.frames.some((frame) => JSON.stringify(frame).includes('toolAliases'))).toBe(true);
  });
});

describe('a session', () => {
  it('names the program that drives it to the model server', async () => {
    const host = await wire({ script: ['one'], env: { CLAUDE_AGENT_SDK_CLIENT_APP: 'app/1.0' } });
    host.prompt('go');
    await host.next(isResult);
    expect(host.model.requests[0]?.headers['user-agent']).toMatch(/^portcullis\/.*app\/1\.0/);
  });

  it('gets another name, but not under the id of another one', async () => {
    const host = await wire({ script: ['one'] });
    host.prompt('go');
    const { session_id: id } = await host.next(isResult);
    const rename = { subtype: 'rename_session', title: 'New name' };
    expect(await host.request({ ...rename, session_id: id })).toMatchObject(isDone);
    expect(await host.request({ ...rename, session_id: 'other' })).toMatchObject({
      error_code: 'wrong_session',
    });
    expect(await host.request({ subtype: 'rename_session' })).toMatchObject({ subtype: 'error' });
  });

  it('can be mirrored line by line', async () => {
    const host = await wire({ script: ['one'], config: { mirror: true } });
    host.prompt('go', { uuid: '11111111-2222-4333-8444-555555555555' });
    await host.next(isResult);
    const lines = host.frames
      .filter(({ type }) => type === 'transcript_mirror')
      .flatMap(({ entries }) => entries as { type: string; uuid?: string }[]);
    expect(lines.map(({ type }) => type)).toEqual(expect.arrayContaining(['user', 'assistant']));
    expect(lines.some(({ uuid }) => uuid === '11111111-2222-4333-8444-555555555555')).toBe(true);
  });
});

describe('the mode "auto"', () => {
  it('is refused with what to use in its place', async () => {
    const host = await wire();
    const answer = await host.request({ subtype: 'set_permission_mode', mode: 'auto' });
    expect(answer).toMatchObject({ subtype: 'error', error_code: 'invalid_mode' });
    expect(answer.error).toContain('use "dontAsk"');
  });
});

describe('an agent in a mirrored session', () => {
  it('is described in the copy as beside its transcript', async () => {
    const agent = { description: 'looks', prompt: 'look', subagent_type: 'general-purpose' };
    const host = await wire({
      script: [{ tool: 'Agent', input: agent, id: 'toolu_a' }, 'seen', 'done'],
      config: { mirror: true },
    });
    host.prompt('go');
    await host.next(isResult);
    const copies = host.frames.filter(({ type }) => type === 'transcript_mirror');
    const described = copies.flatMap(({ filePath, entries }) =>
      (entries as { type: string }[])
        .filter(({ type }) => type === 'agent_metadata')
        .map((entry) => ({ filePath: String(filePath), entry })),
    );
    expect(described).toHaveLength(1);
    expect(described[0]?.filePath).toMatch(/subagents[/\\]agent-[^/]+\.jsonl$/);
    const beside = described[0]?.filePath.replace(/\.jsonl$/, '.meta.json') ?? '';
    expect(described[0]?.entry).toEqual({
      type: 'agent_metadata',
      ...JSON.parse(readFileSync(beside, 'utf8')),
    });
  });
});

describe('servers', () => {
  const tool = { name: 'add', description: 'Adds', inputSchema: { type: 'object' } };
  const answers = (request: Readonly<Record<string, unknown>>): unknown => {
    if (request.subtype === 'can_use_tool') return { behavior: 'deny', message: 'not now' };
    const { id, method } = request.message as { id?: number; method: string };
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {}, resources: {} },
            serverInfo: { name: 'calc', version: '1' },
          }
        : method === 'tools/list'
          ? { tools: [tool] }
          : method === 'resources/read'
            ? { contents: [{ uri: 'ui://page', text: '<p>' }] }
            : method === 'resources/list'
              ? { resources: [] }
              : { content: [{ type: 'text', text: '3' }] };
    return { mcp_response: { jsonrpc: '2.0', id, result } };
  };
  const calc = { subtype: 'initialize', sdkMcpServers: ['calc'] };

  it.each([
    ['a rule allows it', { allowedTools: ['mcp__calc__add'] }, true],
    ['the host says no', {}, false],
    ['a rule denies it', { disallowedTools: ['mcp__calc__add'] }, false],
  ])('are called for the host through the gate: %s', async (_name, config, runs) => {
    const host = await wire({ config, asksHost: true, answer: answers });
    await host.request(calc);
    const call = { subtype: 'mcp_call', tool: 'mcp__calc__add', arguments: {} };
    expect(await host.request(call)).toMatchObject(
      runs
        ? { response: { content: [{ type: 'text', text: '3' }] } }
        : { subtype: 'error', error: expect.stringMatching(/^The tool did not run: /) },
    );
    const sent = host.frames.some((frame) => JSON.stringify(frame).includes('tools/call'));
    expect(sent).toBe(runs);
  });

  it('lend the host their pages and nothing else', async () => {
    const host = await wire({ answer: answers });
    await host.request(calc);
    const read = (fields: object) => host.request({ subtype: 'mcp_read_resource', ...fields });
    expect(await read({ serverName: 'calc', uri: 'ui://page' })).toMatchObject({
      response: { contents: [{ uri: 'ui://page', text: '<p>' }] },
    });
    expect(await read({ serverName: 'calc', uri: 'file:///x' })).toMatchObject({
      subtype: 'error',
    });
    expect(await read({ serverName: 'none', uri: 'ui://page' })).toMatchObject({
      subtype: 'error',
    });
    expect(await host.request({ subtype: 'mcp_call', tool: 'Bash' })).toMatchObject({
      subtype: 'error',
    });
  });
});
