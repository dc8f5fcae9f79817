import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../src/server/wire.js';
import { isResult, wire } from './host.js';

type Host = Awaited<ReturnType<typeof wire>>;
const touch = (file: string) => ({ tool: 'Bash', input: { command: `touch ${file}` } });
const bodies = (host: Host) =>
  host.model.requests.map(({ body }) => body as { messages: unknown[]; model: string });
const ofType = (host: Host, type: string) =>
  host.frames.filter((frame) => frame.type === type || frame.subtype === type);
const kinds = (frames: readonly Frame[]) =>
  frames.map(({ type, subtype }) => (subtype === undefined ? type : `${type}/${subtype}`));

/** Prompts one after the other; the result of each. */
async function say(host: Host, ...texts: readonly string[]): Promise<Frame[]> {
  const results: Frame[] = [];
  for (const text of texts) {
    host.prompt(text);
    results.push(await host.next(isResult));
  }
  return results;
}

describe('commands of the runtime itself', () => {
  it('/clear goes on as a new session', async () => {
    const heard: unknown[] = [];
    const host = await wire({
      script: ['one', 'two'],
      answer(request) {
        const input = request.input as Record<string, unknown>;
        heard.push([input.hook_event_name, input.source ?? input.reason, input.session_id]);
        return {};
      },
    });
    const hooks = {
      SessionStart: [{ hookCallbackIds: ['a'] }],
      SessionEnd: [{ hookCallbackIds: ['b'] }],
    };
    await host.request({ subtype: 'initialize', hooks });
    const [first] = await say(host, 'remember this');
    const from = host.frames.length;
    const [cleared, second] = await say(host, '/clear', 'what was it?');
    const before = first?.session_id;
    const after = cleared?.session_id;
    expect(after).not.toBe(before);
    expect(second?.session_id).toBe(after);
    expect(kinds(host.frames.slice(from)).slice(0, 5)).toEqual([
      'control_request',
      'conversation_reset',
      'control_request',
      'system/init',
      'result/success',
    ]);
    expect(cleared).toMatchObject({ num_turns: 0, result: '', total_cost_usd: 0 });
    expect(ofType(host, 'conversation_reset')).toMatchObject([
      { trigger: 'clear', new_conversation_id: after, session_id: before },
    ]);
    expect(heard).toEqual([
      ['SessionStart', 'startup', before],
      ['SessionEnd', 'clear', before],
      ['SessionStart', 'clear', after],
    ]);
    expect(JSON.stringify(bodies(host)[1]?.messages)).not.toContain('remember this');
  });

  it('/clear lifts nothing that the host has set', async () => {
    const host = await wire({ script: [touch('a'), 'one', 'two'] });
    const deny = { permissions: { deny: ['Bash(touch *)'] } };
    await host.request({ subtype: 'set_permission_mode', mode: 'acceptEdits' });
    await host.request({ subtype: 'set_model', model: 'haiku' });
    await host.request({ subtype: 'apply_flag_settings', settings: deny });
    await say(host, '/clear', 'go');
    expect(host.project.exists('a')).toBe(false);
    expect(ofType(host, 'init').at(-1)).toMatchObject({ permissionMode: 'acceptEdits' });
    expect(bodies(host)[0]?.model).toContain('haiku');
  });

  it.each([
    ['set_permission_mode', { mode: 'plan' }],
    ['set_model', { model: 'haiku' }],
    ['apply_flag_settings', { settings: { permissions: { deny: ['Bash(touch *)'] } } }],
  ])('/clear does not lose a %s that comes while it runs', async (subtype, fields) => {
    let answered: Promise<unknown> | undefined;
    const host = await wire({
      script: ['one', touch('a'), 'done'],
      config: { allowedTools: ['Bash'] },
      async answer() {
        // The old session is closing: it waits for this hook.
        answered ??= host.request({ subtype, ...fields });
        await answered;
        return {};
      },
    });
    const hooks = { SessionEnd: [{ hookCallbackIds: ['e'], timeout: 20 }] };
    await host.request({ subtype: 'initialize', hooks });
    await say(host, 'hello', '/clear', 'go');
    expect(await answered).toMatchObject({ subtype: 'success' });
    expect(host.project.exists('a')).toBe(subtype !== 'apply_flag_settings');
    expect(ofType(host, 'init').at(-1)).toMatchObject(
      subtype === 'set_permission_mode' ? { permissionMode: 'plan' } : {},
    );
    if (subtype === 'set_model') expect(bodies(host)[1]?.model).toContain('haiku');
  });

  it('/context and /cost answer without the model', async () => {
    const host = await wire();
    const [context, cost] = await say(host, '/context', '/cost');
    expect(context).toMatchObject({ num_turns: 0, is_error: false, local_command: 'context' });
    expect(context?.result).toContain('Context Usage');
    expect(cost).toMatchObject({ num_turns: 0, result: 'Total cost: $0.0000' });
    expect(ofType(host, 'assistant')).toMatchObject([
      { message: { model: '<synthetic>' } },
      { message: { model: '<synthetic>' } },
    ]);
    expect(host.model.requests).toEqual([]);
  });

  it('stand alone among prompts that wait', async () => {
    const host = await wire({ script: ['one', 'two'] });
    host.prompt('a');
    host.prompt('/cost');
    host.prompt('b');
    host.end();
    await host.served;
    expect(ofType(host, 'result').map(({ num_turns }) => num_turns)).toEqual([1, 0, 1]);
  });

  it('what names no command is text for the model, and so is all that is meant as text', async () => {
    const host = await wire({ script: ['one', 'two'] });
    await say(host, '/nosuchcommand x');
    host.prompt('/clear', { client_composed: true });
    await host.next(isResult);
    const [first, second] = bodies(host).map(({ messages }) => JSON.stringify(messages.at(-1)));
    expect(first).toContain('/nosuchcommand x');
    expect(second).toContain('/clear');
  });
});

describe('a prompt that asks for no answer', () => {
  it('is part of the conversation', async () => {
    const host = await wire({ script: ['one'] });
    host.prompt('the number is 42', { shouldQuery: false });
    expect(await host.next(isResult)).toMatchObject({ subtype: 'success', num_turns: 0 });
    expect(host.model.requests).toEqual([]);
    await say(host, 'which?');
    expect(JSON.stringify(bodies(host)[0]?.messages)).toContain('the number is 42');
  });

  it('is shown to the hooks all the same', async () => {
    const host = await wire({
      script: ['one'],
      answer: ({ input }) =>
        JSON.stringify(input).includes('secret') ? { decision: 'block', reason: 'NO' } : {},
    });
    const hooks = { UserPromptSubmit: [{ hookCallbackIds: ['a'] }] };
    await host.request({ subtype: 'initialize', hooks });
    host.prompt('the secret', { shouldQuery: false });
    expect((await host.next(isResult)).result).toContain('NO');
    await say(host, 'go');
    expect(JSON.stringify(bodies(host)[0]?.messages)).not.toContain('the secret');
  });
});

describe('what hosts look for in frames', () => {
  it('a failed model is told as a message too', async () => {
    const error = { status: 401, type: 'authentication_error', message: 'WRONG KEY' };
    const host = await wire({ script: [{ error }] });
    const [result] = await say(host, 'go');
    expect(ofType(host, 'assistant')).toMatchObject([
      {
        error: 'authentication_failed',
        message: { model: '<synthetic>', content: [{ text: result?.result }] },
      },
    ]);
  });

  it('a result of a tool stands beside its block, also in an error', async () => {
    const host = await wire({ script: [{ tool: 'Read', input: { file_path: 'no' } }, 'end'] });
    await say(host, 'go');
    const told = ofType(host, 'user').map((frame) => frame.tool_use_result);
    expect(told).toEqual([expect.stringMatching(/^Error: /)]);
  });

  it('a background command is listed while it runs', async () => {
    const command = 'until [ -e end ]; do sleep 0.05; done';
    const input = { command, run_in_background: true, description: 'd' };
    const host = await wire({
      script: [{ tool: 'Bash', input }, 'one', 'two'],
      config: { allowedTools: ['Bash'] },
    });
    await say(host, 'go');
    writeFileSync(host.project.at('end'), '');
    await host.next(isResult);
    const tasks = ofType(host, 'background_tasks_changed').map((frame) => frame.tasks);
    expect(tasks).toEqual([[expect.objectContaining({ task_type: 'local_bash' })], []]);
    expect(ofType(host, 'task_updated')).toMatchObject([{ patch: { status: 'completed' } }]);
  });

  it('words of a Stop hook are no turn of their own', async () => {
    let times = 0;
    const host = await wire({
      script: ['one', 'two'],
      answer: () =>
        times++ === 0
          ? { hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'more' } }
          : {},
    });
    await host.request({ subtype: 'initialize', hooks: { Stop: [{ hookCallbackIds: ['a'] }] } });
    expect(await say(host, 'go')).toMatchObject([{ result: 'two', num_turns: 1 }]);
  });

  it('an answer in a schema that is never right is what it is', async () => {
    const reply = { tool: 'StructuredOutput', input: { n: 'x' } };
    const jsonSchema = { type: 'object', properties: { n: { type: 'number' } } };
    const host = await wire({ script: Array.from({ length: 9 }, () => reply) });
    await host.request({ subtype: 'initialize', jsonSchema });
    expect(await say(host, 'go')).toMatchObject([
      { subtype: 'error_max_structured_output_retries', is_error: true },
    ]);
  });

  it('lines that were added and removed are counted', async () => {
    const host = await wire({
      script: [
        { tool: 'Write', input: { file_path: 'a.txt', content: '1\n2\n3\n' } },
        { tool: 'Edit', input: { file_path: 'a.txt', old_string: '2', new_string: 'x\ny' } },
        'end',
      ],
      config: { permissionMode: 'acceptEdits' },
    });
    await say(host, 'go');
    expect(await host.request({ subtype: 'get_usage' })).toMatchObject({
      response: { session: { total_lines_added: 5, total_lines_removed: 1 } },
    });
  });
});

describe('what a host asks for with initialize', () => {
  it('planModeInstructions are told once, in plan mode alone', async () => {
    const host = await wire({ script: ['one', 'two', 'three'] });
    await host.request({ subtype: 'initialize', planModeInstructions: 'PLAN THIS WAY' });
    await say(host, 'a');
    await host.request({ subtype: 'set_permission_mode', mode: 'plan' });
    await say(host, 'b', 'c');
    const told = bodies(host).map(
      ({ messages }) => JSON.stringify(messages).split('PLAN THIS WAY').length - 1,
    );
    expect(told).toEqual([0, 1, 1]);
  });

  it('an empty prompt does not wipe that of the agent of the settings', async () => {
    const host = await wire({
      script: ['one'],
      files: { '.claude/agents/rev.md': '---\nname: rev\ndescription: d\n---\nYOU REVIEW' },
      config: { settings: '{"agent":"rev"}' },
    });
    await host.request({ subtype: 'initialize', systemPrompt: [''] });
    await say(host, 'go');
    expect(JSON.stringify(host.model.requests[0]?.body)).toContain('YOU REVIEW');
  });
});

describe('prompts of servers', () => {
  it('that are others now are told as other commands', async () => {
    const prompts = [{ name: 'first' }];
    const results: Readonly<Record<string, () => object>> = {
      initialize: () => ({
        protocolVersion: '2025-06-18',
        capabilities: { tools: {}, prompts: { listChanged: true } },
        serverInfo: { name: 's', version: '1' },
      }),
      'tools/list': () => ({ tools: [] }),
      'prompts/list': () => ({ prompts }),
    };
    const host = await wire({
      answer(request) {
        const { id, method } = request.message as { id?: number; method: string };
        const result = results[method]?.() ?? {};
        return { mcp_response: { jsonrpc: '2.0', id: id ?? 0, result } };
      },
    });
    const names = (rows: unknown) => (rows as { name: string }[]).map(({ name }) => name);
    const first = await host.request({ subtype: 'initialize', sdkMcpServers: ['s'] });
    const { commands } = first.response as { commands: unknown };
    expect(names(commands)).toContain('mcp__s__first');
    prompts.push({ name: 'second' });
    const message = { jsonrpc: '2.0', method: 'notifications/prompts/list_changed' };
    await host.request({ subtype: 'mcp_message', server_name: 's', message });
    const told = await host.next(({ subtype }) => subtype === 'commands_changed');
    expect(names(told.commands)).toEqual(
      expect.arrayContaining(['mcp__s__first', 'mcp__s__second']),
    );
  });
});

describe('servers that never answer', () => {
  it('hold back neither the answer to initialize nor, for ever, the first turn', async () => {
    const host = await wire({
      script: ['one'],
      config: { mcpConfig: [{ silent: { command: 'sleep', args: ['60'] } }] },
    });
    expect(await host.request({ subtype: 'initialize' })).toMatchObject({ subtype: 'success' });
    host.prompt('go');
    await host.request({ subtype: 'interrupt' });
    await host.next(isResult);
    expect(ofType(host, 'init')).toMatchObject([{ mcp_servers: [{ status: 'pending' }] }]);
  });
});

describe('switches of the settings', () => {
  it('are what the reports say', async () => {
    const settings = { autoCompactEnabled: false, disableAllHooks: true };
    const host = await wire({ config: { settings: JSON.stringify(settings) } });
    expect(await host.request({ subtype: 'get_context_usage' })).toMatchObject({
      response: { isAutoCompactEnabled: false },
    });
    expect(await host.request({ subtype: 'get_hooks_listing' })).toMatchObject({
      response: { policy: { allDisabled: true, disabledByPolicy: false } },
    });
  });
});
