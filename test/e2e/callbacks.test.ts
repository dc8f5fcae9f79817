import { describe, expect, it } from 'vitest';
import type { Scenario, ScenarioRun } from '../../src/testing/scenario.js';
import { type HostLog, type WireHost, wireHost } from '../support/wire-host.js';
import { run } from './worlds.js';

async function play(
  host: WireHost,
  scenario: Scenario,
): Promise<{ done: ScenarioRun; log: HostLog }> {
  const { log, scenario: wire } = wireHost(host);
  const asks = host.canUseTool === undefined ? [] : ['--permission-prompt-tool', 'stdio'];
  const done = await run({ ...scenario, ...wire, args: [...asks, ...(scenario.args ?? [])] });
  return { done, log };
}

const bash = (command: string) => ({ tool: 'Bash', input: { command } });
const hooks = (entry: Record<string, unknown> = {}) => ({
  hooks: { PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['pre'], ...entry }] },
});
const pre = (fields: Record<string, unknown>) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields },
});
const allowBash = ['--allowedTools', 'Bash'];

describe('initialize', () => {
  it('is answered with what a host wants to know', async () => {
    const { done, log } = await play({ initialize: hooks() }, { script: ['hi'] });
    expect(done.exitCode).toBe(0);
    expect(log.answers.get('host-1')).toMatchObject({
      subtype: 'success',
      response: {
        commands: expect.arrayContaining([expect.objectContaining({ name: 'compact' })]),
        agents: expect.arrayContaining([expect.objectContaining({ name: 'general-purpose' })]),
        account: { apiKeySource: 'ANTHROPIC_API_KEY' },
        output_style: 'default',
        available_output_styles: ['default', 'Explanatory', 'Learning'],
        current_permission_mode: 'default',
        hook_on_failure_supported: true,
      },
      pending_permission_requests: [],
    });
    expect(log.answers.get('host-1')).toHaveProperty(
      'response.models',
      expect.arrayContaining([expect.objectContaining({ value: 'sonnet' })]),
    );
  });

  it('keeps the callbacks when it comes again without any, and lists what is still open', async () => {
    let again = '';
    const { done, log } = await play(
      {
        initialize: hooks(),
        callback: () => pre({ permissionDecision: 'ask', permissionDecisionReason: 'FIRST' }),
        canUseTool: async (_request, host) => {
          again = host.control({ subtype: 'initialize', hooks: null });
          await host.answered(again);
          return { behavior: 'allow' };
        },
      },
      { script: [bash('echo one'), bash('echo two'), 'end'] },
    );
    expect(done.exitCode).toBe(0);
    const each = ['hook_callback', 'can_use_tool'];
    expect(log.asked.map(({ subtype }) => subtype)).toEqual([...each, ...each]);
    expect(log.answers.get(again)).toMatchObject({
      pending_permission_requests: [
        { type: 'control_request', request: { subtype: 'can_use_tool', tool_name: 'Bash' } },
      ],
    });
  });
});

describe('a PreToolUse callback', () => {
  it('is told about the call, before anything runs', async () => {
    const { done, log } = await play(
      { initialize: hooks(), callback: () => ({}) },
      { args: allowBash, script: [bash('echo hi'), 'end'] },
    );
    expect(log.asked).toMatchObject([
      {
        subtype: 'hook_callback',
        callback_id: 'pre',
        input: {
          hook_event_name: 'PreToolUse',
          session_id: done.result?.session_id,
          cwd: done.project.directory,
          permission_mode: 'default',
          tool_name: 'Bash',
          tool_input: { command: 'echo hi' },
        },
      },
    ]);
    const [asked] = log.asked;
    const input = asked?.input as Record<string, string>;
    expect(input.prompt_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(input.transcript_path).toContain(`${input.session_id}.jsonl`);
    expect(input.tool_use_id).toBe(asked?.tool_use_id);
    expect(done.toolResult(0)).toMatchObject({ isError: false });
  });

  it('keeps a call from running: no, silence, error, nonsense', async () => {
    for (const [callback, entry] of [
      [() => pre({ permissionDecision: 'deny', permissionDecisionReason: 'WHY' }), {}],
      [() => undefined, { timeout: 0.2 }],
      [() => Promise.reject(new Error('BOOM')), {}],
      [() => pre({ permissionDecision: 'sure' }), {}],
    ] as const) {
      const { done } = await play(
        { initialize: hooks(entry), callback },
        { args: allowBash, script: [bash('touch made'), 'end'] },
      );
      expect(done.project.exists('made')).toBe(false);
      expect(done.toolResult(0).isError).toBe(true);
      expect(done.result).toMatchObject({
        subtype: 'success',
        permission_denials: [{ tool_name: 'Bash', tool_input: { command: 'touch made' } }],
      });
    }
  });

  it('withdraws a question that took too long', async () => {
    const { log } = await play(
      { initialize: hooks({ timeout: 0.2 }), callback: () => undefined },
      { args: allowBash, script: [bash('touch made'), 'end'] },
    );
    expect(log.cancelled).toHaveLength(1);
  });

  it('is passed over when it fails and was registered so, with a warning', async () => {
    const { done, log } = await play(
      {
        initialize: hooks({ onFailure: 'continue' }),
        callback: () => Promise.reject(new Error('BOOM')),
      },
      { args: allowBash, script: [bash('touch made'), 'end'] },
    );
    expect(done.project.exists('made')).toBe(true);
    expect(log.frames).toContainEqual(
      expect.objectContaining({
        subtype: 'informational',
        level: 'warning',
        tag: 'hook_callback_failed',
      }),
    );
  });

  it('opens what nothing holds, and no rule', async () => {
    const { done } = await play(
      { initialize: hooks(), callback: () => pre({ permissionDecision: 'allow' }) },
      {
        args: ['--disallowedTools', 'Bash(touch two)'],
        script: [bash('touch one'), bash('touch two'), 'end'],
      },
    );
    expect([done.project.exists('one'), done.project.exists('two')]).toEqual([true, false]);
  });

  it('may change the input, which the rules then judge', async () => {
    const { done } = await play(
      {
        initialize: hooks(),
        callback: (request) => {
          const { command } = (request.input as { tool_input: { command: string } }).tool_input;
          return pre({ updatedInput: { command: command.replace('OLD', 'new') } });
        },
      },
      {
        args: [...allowBash, '--disallowedTools', 'Bash(rmdir *)'],
        files: { 'd/x': '' },
        script: [bash('touch OLD'), bash('OLDrmdir d'.replace('OLD', '')), 'end'],
      },
    );
    expect(done.project.exists('new')).toBe(true);
    expect(done.project.exists('OLD')).toBe(false);
    expect(done.toolResult(1).text).toContain('denied by permission rule');
  });

  it('ends the turn without running the call', async () => {
    const { done } = await play(
      {
        initialize: hooks(),
        callback: () => ({ continue: false, stopReason: 'ENOUGH', systemMessage: 'HELLO' }),
      },
      { args: allowBash, script: [bash('touch made'), 'never'] },
    );
    expect(done).toMatchObject({
      exitCode: 0,
      result: { subtype: 'success', terminal_reason: 'hook_stopped', result: '' },
    });
    expect(done.project.exists('made')).toBe(false);
    expect(done.requests).toHaveLength(1);
    expect(done.frames).toContainEqual(
      expect.objectContaining({ content: 'PreToolUse:Bash: HELLO', level: 'notice' }),
    );
  });

  it('cannot be asked any more when the host has left, which refuses', async () => {
    const { done } = await play(
      {
        initialize: hooks(),
        callback: (_request, host) => {
          host.end();
          return undefined;
        },
      },
      { args: allowBash, script: [bash('touch made'), 'end'] },
    );
    expect(done.project.exists('made')).toBe(false);
    expect(done.result).toMatchObject({ subtype: 'success' });
  });
});

describe('can_use_tool', () => {
  it('carries what a host needs to decide', async () => {
    const { log } = await play(
      { canUseTool: () => ({ behavior: 'deny', message: 'no' }) },
      {
        home: { '.claude/settings.json': { json: { permissions: { ask: ['Bash(echo *)'] } } } },
        script: [
          { tool: 'Bash', input: { command: 'npm run build --x', description: 'Build it' } },
          { tool: 'Write', input: { file_path: 'n.txt', content: 'x' } },
          bash('echo hi'),
          { tool: 'Write', input: { file_path: '.git/config', content: 'x' } },
          'end',
        ],
      },
    );
    const [build, write, echo, git] = log.asked;
    expect(build).toMatchObject({
      subtype: 'can_use_tool',
      tool_name: 'Bash',
      description: 'Build it',
      input: { command: 'npm run build --x' },
      permission_suggestions: [
        {
          type: 'addRules',
          rules: [{ toolName: 'Bash', ruleContent: expect.stringMatching(/^npm run .*\*$/) }],
          behavior: 'allow',
          destination: 'localSettings',
        },
      ],
    });
    expect(write?.permission_suggestions).toEqual([
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    ]);
    expect(echo).toMatchObject({
      decision_reason_type: 'rule',
      matched_ask_rule: { source: 'userSettings', tool_name: 'Bash', rule_content: 'echo *' },
    });
    expect(git).toMatchObject({
      decision_reason_type: 'safetyCheck',
      blocked_path: expect.stringContaining('.git/config'),
      permission_suggestions: [],
    });
  });

  it('a hook can ask for it, and gives its reason', async () => {
    const { done, log } = await play(
      {
        initialize: hooks(),
        callback: () => pre({ permissionDecision: 'ask', permissionDecisionReason: 'LOOK' }),
        canUseTool: () => ({ behavior: 'allow' }),
      },
      { args: allowBash, script: [bash('touch made'), 'end'] },
    );
    expect(log.asked[1]).toMatchObject({ decision_reason: 'LOOK', decision_reason_type: 'hook' });
    expect(done.project.exists('made')).toBe(true);
  });

  it('anything but a well-formed yes is a no', async () => {
    const answers: Record<string, unknown> = {
      'touch a': { behavior: 'banana' },
      'touch b': [],
      'touch c': { behavior: 'allow', updatedInput: 'x' },
      'touch d': { behavior: 'allow', updatedPermissions: [{ type: 'what' }] },
      'touch e': { behavior: 'deny', message: 'MSG' },
    };
    const { done } = await play(
      {
        canUseTool: (request) => answers[(request.input as { command: string }).command],
      },
      { script: [...Object.keys(answers).map(bash), 'end'] },
    );
    expect(['a', 'b', 'c', 'd', 'e'].filter((name) => done.project.exists(name))).toEqual([]);
    expect(done.toolResult(4)).toEqual({ text: 'MSG', isError: true });
  });

  it('a no can end the turn', async () => {
    const { done } = await play(
      { canUseTool: () => ({ behavior: 'deny', message: 'STOP', interrupt: true }) },
      { script: [bash('touch made'), 'never'] },
    );
    expect(done).toMatchObject({
      exitCode: 1,
      result: { subtype: 'error_during_execution', terminal_reason: 'aborted_tools' },
    });
    expect(done.requests).toHaveLength(1);
  });

  it('is withdrawn by an interrupt, and a late answer changes nothing', async () => {
    const { done, log } = await play(
      {
        canUseTool: async (_request, host) => {
          const id = host.control({ subtype: 'interrupt' });
          await host.answered(id);
          return { behavior: 'allow' };
        },
      },
      { script: [bash('touch made'), 'never'] },
    );
    expect(log.cancelled).toHaveLength(1);
    expect(done.project.exists('made')).toBe(false);
    expect(done.result).toMatchObject({ terminal_reason: 'aborted_tools' });
  });

  it('races with PermissionRequest callbacks', async () => {
    const { done, log } = await play(
      {
        initialize: { hooks: { PermissionRequest: [{ hookCallbackIds: ['pr'] }] } },
        callback: () => ({
          hookSpecificOutput: {
            hookEventName: 'PermissionRequest',
            decision: { behavior: 'allow' },
          },
        }),
        canUseTool: () => undefined,
      },
      { script: [bash('touch made'), 'end'] },
    );
    expect(done.project.exists('made')).toBe(true);
    expect(log.cancelled).toHaveLength(1);
  });
});

describe('the mode', () => {
  it('is changed with an answer, then a status frame', async () => {
    const { log } = await play(
      {
        onFrame: (frame, host) => {
          if (frame.subtype === 'init')
            host.control({ subtype: 'set_permission_mode', mode: 'plan' });
        },
      },
      { script: ['hi'] },
    );
    const at = log.frames.findIndex((frame) => frame.subtype === 'status');
    expect(log.frames[at]).toMatchObject({ status: null, permissionMode: 'plan' });
    expect(log.frames[at - 1]).toMatchObject({
      response: { subtype: 'success', response: { mode: 'plan' } },
    });
  });

  it('is refused when it is unknown or was not armed', async () => {
    const { log } = await play(
      {
        onFrame: (frame, host) => {
          if (frame.subtype !== 'init') return;
          host.control({ subtype: 'set_permission_mode', mode: 'god' });
          host.control({ subtype: 'set_permission_mode', mode: 'bypassPermissions' });
          host.control({ subtype: 'get_binary_version' });
          host.control({ subtype: 'list_permission_rules' });
          host.control({ subtype: 'get_settings' });
          host.control({ subtype: 'what_is_this' });
        },
      },
      { args: ['--disallowedTools', 'Bash(rm *)'], env: { IS_SANDBOX: '1' }, script: ['hi'] },
    );
    expect(['host-2', 'host-3', 'host-7'].map((id) => log.answers.get(id)?.error_code)).toEqual([
      'invalid_mode',
      'bypass_not_launched',
      'unsupported_request',
    ]);
    expect(log.answers.get('host-4')?.response).toMatchObject({ version: expect.any(String) });
    expect(log.answers.get('host-5')?.response).toMatchObject({
      state: { rules: [{ behavior: 'deny', rule: 'Bash(rm *)', source: 'cliArg' }] },
    });
    expect(log.answers.get('host-6')?.response).toMatchObject({
      effective: {},
      sources: [],
      applied: { model: expect.any(String) },
    });
  });
});
