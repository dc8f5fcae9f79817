import { describe, expect, it } from 'vitest';
import {
  agentAt,
  answers,
  barrier,
  capture,
  command,
  dispatchRig,
  exits,
  group,
  hooksOf,
  occasion,
  settings,
  sourced,
} from '../../../test/support/dispatch-rig.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { NO_ROUND } from '../registry/hook.js';
import type { CallbackEntry } from '../registry/host-callbacks.js';

const guard = (more: Record<string, unknown> = {}) =>
  capture(hooksOf('PreToolUse', [command('./guard', more)]));
const registered = (entry: Partial<CallbackEntry> = {}) =>
  capture(settings(), {
    callbacks: {
      registered: (event) =>
        event === 'PreToolUse' ? [{ ids: ['hook_0'], onFailure: 'block', ...entry }] : [],
    },
  });

describe('whether somebody is to be asked', () => {
  it('is known without loading anything', async () => {
    const runners = () => Promise.reject(new Error('loaded'));
    const { dispatch } = dispatchRig(guard(), undefined, {
      runners,
      facts: () => {
        throw new Error('asked');
      },
    });
    const at = { agent: MAIN_AGENT, matched: ['Bash'] };
    expect(dispatch.has('PreToolUse', at)).toBe(true);
    expect(dispatch.has('Stop', at)).toBe(false);
    expect(await dispatch.fire('Stop', occasion())).toBe(NO_ROUND);
  });

  it('goes by matcher and agent', async () => {
    const snapshot = capture(
      hooksOf('PreToolUse', [command('x')], { matcher: 'Write', agents: 'main/*' }),
    );
    const { dispatch, asked } = dispatchRig(snapshot);
    const child = agentAt('main/reviewer#1');
    expect(dispatch.has('PreToolUse', { agent: child, matched: ['Write'] })).toBe(true);
    expect(dispatch.has('PreToolUse', { agent: child, matched: ['Bash'] })).toBe(false);
    expect(dispatch.has('PreToolUse', { agent: MAIN_AGENT, matched: ['Write'] })).toBe(false);
    expect(await dispatch.fire('PreToolUse', occasion({ matched: ['Write'] }))).toBe(NO_ROUND);
    await dispatch.fire('PreToolUse', occasion({ agent: child, matched: ['Write'] }));
    expect(asked).toHaveLength(1);
  });
});

describe('what hooks are asked', () => {
  it('is made once, for the root agent without its id', async () => {
    const snapshot = capture(hooksOf('PreToolUse', [command('a'), command('b')]));
    const { dispatch, asked } = dispatchRig(snapshot, undefined, {
      facts: () => ({ sessionId: 's1', transcriptPath: '/t', promptId: 'p1', effort: 'high' }),
    });
    await dispatch.fire('PreToolUse', occasion({ mode: 'default', toolUseId: 'toolu_1' }));
    const [one, two] = asked.map(({ request }) => request);
    expect(one?.input).toEqual({
      session_id: 's1',
      transcript_path: '/t',
      cwd: '/there/p',
      hook_event_name: 'PreToolUse',
      prompt_id: 'p1',
      permission_mode: 'default',
      effort: { level: 'high' },
      agent: { id: 'main', type: 'main', path: 'main', depth: 0, background: false },
      agent_transcript_path: '/t',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    });
    expect(JSON.parse(one?.json ?? '')).toEqual(one?.input);
    expect(two?.json).toBe(one?.json);
    expect(one).toMatchObject({ toolUseId: 'toolu_1', timeoutMs: 600_000, agent: MAIN_AGENT });
  });

  it('names a subagent in both ways, and its own transcript', async () => {
    const { dispatch, asked } = dispatchRig(guard(), undefined, {
      facts: () => ({
        sessionId: 's1',
        transcriptPath: '/t',
        agentTranscriptPath: ({ id }) => `/t/${id}`,
      }),
    });
    const agent = {
      ...agentAt('main/reviewer#1'),
      name: 'Rita',
      parentId: 'main',
      spawnedBy: 'toolu_9',
      background: true,
      isolation: 'worktree',
      workspace: '/w',
    } as const;
    await dispatch.fire('PreToolUse', occasion({ agent }));
    expect(asked[0]?.request.input).toMatchObject({
      transcript_path: '/t',
      agent_id: agent.id,
      agent_type: 'reviewer',
      agent_transcript_path: `/t/${agent.id}`,
      agent: {
        id: agent.id,
        type: 'reviewer',
        name: 'Rita',
        path: 'main/reviewer#1',
        parent_id: 'main',
        depth: 1,
        spawned_by_tool_use_id: 'toolu_9',
        background: true,
        isolation: 'worktree',
        workspace: '/w',
      },
    });
    expect(asked[0]?.request.input).not.toHaveProperty('permission_mode');
  });

  it('cannot be changed behind the gate’s back', async () => {
    const input = { command: 'ls' };
    const { dispatch } = dispatchRig(guard(), async (_hook, request) => {
      (request.input.tool_input as { command: string }).command = 'rm -rf /';
      return answers({});
    });
    const round = await dispatch.fire('PreToolUse', occasion({ fields: { tool_input: input } }));
    expect(input.command).toBe('ls');
    expect(round.reports).toMatchObject([{ failure: { cause: 'threw' }, refuses: true }]);
  });

  it('fails every guard when it cannot be made', async () => {
    const loop: Record<string, unknown> = {};
    loop.loop = loop;
    const { dispatch, asked } = dispatchRig(guard());
    const round = await dispatch.fire('PreToolUse', occasion({ fields: { loop } }));
    expect(asked).toEqual([]);
    expect(round.reports).toMatchObject([{ failure: { cause: 'threw' }, refuses: true }]);
    const blind = dispatchRig(guard(), undefined, {
      facts: () => {
        throw new Error('no facts');
      },
    });
    expect(await blind.dispatch.fire('PreToolUse', occasion())).toMatchObject({
      reports: [{ failure: { message: expect.stringContaining('no facts') }, refuses: true }],
    });
  });

  it('has a file for variables only where they are taken', async () => {
    const values = settings({
      'hooks.SessionStart': [sourced(group([command('x')]))],
      'hooks.PreToolUse': [sourced(group([command('x')]))],
    });
    const { dispatch, asked } = dispatchRig(capture(values), undefined, {
      envFile: () => '/env/file',
    });
    await dispatch.fire('SessionStart', occasion({ matched: ['startup'] }));
    await dispatch.fire('PreToolUse', occasion());
    expect(asked.map(({ request }) => request.envFile)).toEqual(['/env/file', undefined]);
  });
});

describe('a round', () => {
  it('asks all at once and reports in the order of the declarations', async () => {
    const gate = barrier(3);
    const finished: string[] = [];
    const delays: Record<string, number> = { a: 30, b: 15, c: 0 };
    const snapshot = capture(hooksOf('PreToolUse', [command('a'), command('b'), command('c')]));
    const { dispatch } = dispatchRig(snapshot, async ({ handler }) => {
      const text = handler.type === 'command' ? handler.command : '';
      await gate.arrive();
      await new Promise((resolve) => setTimeout(resolve, delays[text]));
      finished.push(text);
      return answers({ reason: text });
    });
    const round = await dispatch.fire('PreToolUse', occasion());
    expect(finished).toEqual(['c', 'b', 'a']);
    expect(round.reports.map(({ answer }) => answer.reason)).toEqual(['a', 'b', 'c']);
  });

  it('does not wait for another', async () => {
    const gate = barrier(32);
    const { dispatch } = dispatchRig(guard(), async () => {
      await gate.arrive();
      return answers({});
    });
    const rounds = await Promise.all(
      Array.from({ length: 32 }, () => dispatch.fire('PreToolUse', occasion())),
    );
    expect(gate.waiting).toBe(32);
    expect(rounds.every(({ reports }) => reports.length === 1)).toBe(true);
  });

  it('asks identical hooks of several settings files once, others each', async () => {
    const same = { command: './guard', type: 'command', timeout: 5 };
    const turned = { timeout: 5, type: 'command', command: './guard' };
    const values = settings({
      'hooks.PreToolUse': [
        sourced(group([same], { matcher: 'Bash' }), 'project', 1),
        sourced(group([turned]), 'user', 2),
        sourced(group([same], { matcher: 'Write' }), 'user', 3),
        sourced(group([same], { agents: 'main' }), 'user', 4),
        sourced(group([{ ...same, timeout: 6 }]), 'user', 5),
      ],
    });
    const copy = { PreToolUse: [group([same])] };
    const scoped = (['plugin', 'skill'] as const).map((kind) => ({
      kind,
      name: 'x',
      source: 'user' as const,
      trusted: true,
      hooks: copy,
    }));
    const { dispatch, asked } = dispatchRig(capture(values, { scoped }));
    await dispatch.fire('PreToolUse', occasion());
    expect(asked.map(({ hook }) => hook.line ?? hook.id)).toEqual([
      1,
      4,
      5,
      'PreToolUse/plugin:x/0',
      'PreToolUse/skill:x/0',
    ]);
  });

  it('counts what hooks did', async () => {
    let time = 0;
    const { dispatch } = dispatchRig(
      guard({ onFailure: 'continue' }),
      async () => {
        time += 20;
        return time === 20 ? exits(0) : exits(3);
      },
      { clock: { monotonic: () => time, uuid: () => '' } },
    );
    await dispatch.fire('PreToolUse', occasion());
    await dispatch.fire('PreToolUse', occasion());
    expect(dispatch.stats()).toEqual([
      {
        id: 'PreToolUse/project/.claude/settings.json:1/0',
        label: 'command "./guard" (.claude/settings.json:1)',
        event: 'PreToolUse',
        runs: 2,
        failures: 1,
        totalMs: 40,
        maxMs: 20,
        lastMs: 20,
      },
    ]);
  });
});

describe('what a hook says', () => {
  it('is told to the person where it is for him', async () => {
    const { dispatch, news } = dispatchRig(guard(), async () =>
      answers({ systemMessage: 'mind the gap' }),
    );
    await dispatch.fire('PreToolUse', occasion());
    expect(news).toContainEqual({
      type: 'notice',
      level: 'notice',
      text: 'PreToolUse:Bash: mind the gap',
      hookId: expect.any(String),
    });
    const stop = dispatchRig(capture(hooksOf('Stop', [command('x')])), async () =>
      answers({ systemMessage: 'bye' }),
    );
    await stop.dispatch.fire('Stop', occasion({ matched: [], fields: {} }));
    expect(stop.notices()).toEqual(['Stop: bye']);
  });

  it('is a warning when it ends with 1, and kept whole in the report', async () => {
    const { dispatch, notices } = dispatchRig(guard(), async () => exits(1, 'out', 'oops'));
    const { reports } = await dispatch.fire('PreToolUse', occasion());
    expect(reports).toMatchObject([
      { complaint: 'oops', exitCode: 1, stdout: 'out', stderr: 'oops' },
    ]);
    expect(reports[0]?.failure).toBeUndefined();
    expect(notices('hook_error')).toEqual([expect.stringContaining('oops')]);
  });

  it('makes news with its output', async () => {
    const { dispatch, news } = dispatchRig(guard(), async () => exits(2, 'out', 'no'));
    await dispatch.fire('PreToolUse', occasion());
    const run = { hookId: 'run-1', name: 'PreToolUse:Bash', event: 'PreToolUse' };
    expect(news).toEqual([
      { type: 'hook_started', ...run },
      { type: 'hook_finished', ...run, stdout: 'out', stderr: 'no', exitCode: 2, outcome: 'error' },
    ]);
  });

  it('grants nothing where it may only restrict; a new input stays', async () => {
    const say = async (answer: Parameters<typeof answers>[0]) => {
      const snapshot = capture(settings({}, { allowManagedHooksOnly: sourced(true, 'managed') }), {
        callbacks: { registered: () => [{ ids: ['h'], onFailure: 'block' }] },
      });
      const { dispatch } = dispatchRig(snapshot, async () => answers(answer));
      return (await dispatch.fire('PermissionRequest', occasion())).reports[0]?.answer;
    };
    const updatedInput = { command: 'ls -l' };
    expect(await say({ decision: 'allow', fields: { updatedInput } })).toMatchObject({
      decision: 'none',
      fields: { updatedInput },
    });
    expect(await say({ decision: 'deny', reason: 'x' })).toMatchObject({
      decision: 'deny',
      reason: 'x',
    });
    const yes = { decision: { behavior: 'allow', updatedPermissions: [{}] } };
    expect((await say({ fields: yes }))?.fields).toEqual({});
    const no = { decision: { behavior: 'deny' } };
    expect((await say({ fields: no }))?.fields).toEqual(no);
  });

  it('is not its answer when it goes on by itself', async () => {
    const { dispatch } = dispatchRig(registered(), async () =>
      answers({ decision: 'deny', asyncMs: 5 }),
    );
    const { reports } = await dispatch.fire('PreToolUse', occasion());
    expect(reports[0]?.answer).toEqual({ decision: 'none', fields: {}, asyncMs: 5 });
  });

  it('is read as all hooks are when nothing else is given', async () => {
    const said = { hookEventName: 'PreToolUse', permissionDecision: 'deny' };
    const { dispatch } = dispatchRig(
      guard(),
      async () => exits(0, JSON.stringify({ hookSpecificOutput: said })),
      { read: undefined },
    );
    const { reports } = await dispatch.fire('PreToolUse', occasion());
    expect(reports).toMatchObject([{ answer: { decision: 'deny' } }]);
  });

  it('counts although nobody can be told', async () => {
    const { dispatch } = dispatchRig(guard(), async () => exits(2), {
      emit: () => {
        throw new Error('gone');
      },
    });
    expect((await dispatch.fire('PreToolUse', occasion())).reports[0]?.answer.decision).toBe(
      'deny',
    );
  });
});
