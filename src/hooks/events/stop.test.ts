import { describe, expect, it } from 'vitest';
import { type ScriptedHook, scriptedHooks } from '../../../test/support/scripted-hooks.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { createStopHooks, type Leaving, type StopHookOptions, stopHookCap } from './stop.js';

const leaving: Leaving = {
  event: 'Stop',
  agent: MAIN_AGENT,
  cwd: '/there',
  mode: 'default',
  lastMessage: 'done',
  backgroundTasks: [],
  crons: [],
  signal: new AbortController().signal,
};

/** Stop hooks that say what `hooks` holds when they are asked, and a count of changes to turn. */
function rig(first: readonly ScriptedHook[], options: Partial<StopHookOptions> = {}) {
  const state = { hooks: first, changes: 0 };
  const scripted = scriptedHooks({
    Stop: () => state.hooks,
    SubagentStop: () => state.hooks,
    StopFailure: [{ decision: 'deny', stop: 's' }],
  });
  const stop = createStopHooks(scripted.dispatch, { changes: () => state.changes, ...options });
  stop.beginPrompt();
  return { ...scripted, state, stop, leave: () => stop.beforeLeaving(leaving) };
}

const blocks = (reason = 'tests fail', label = 'check'): ScriptedHook => ({
  label,
  decision: 'deny',
  reason,
});

describe('an agent that wants to leave', () => {
  it('leaves when there are no hooks, or none objects', async () => {
    const { dispatch, fired } = scriptedHooks({});
    const none = createStopHooks(dispatch, { changes: () => 0 });
    expect(await none.beforeLeaving(leaving)).toEqual({ kind: 'leave' });
    expect(fired).toEqual([]);
    const { leave } = rig([{}, { text: 'a log line' }, { decision: 'allow' }]);
    expect(await leave()).toEqual({ kind: 'leave' });
  });

  it('is sent on with the reasons of all who object, and hooks learn that it was', async () => {
    const { leave, lastFields, stop } = rig([blocks(), blocks('no docs', 'docs')]);
    expect(await leave()).toEqual({
      kind: 'go-on',
      message: 'Stop hook feedback:\n- [check]: tests fail\n- [docs]: no docs',
    });
    expect(lastFields()).toEqual({
      stop_hook_active: false,
      last_assistant_message: 'done',
      background_tasks: [],
      session_crons: [],
    });
    await leave();
    expect(lastFields().stop_hook_active).toBe(true);
    stop.beginPrompt();
    await leave();
    expect(lastFields().stop_hook_active).toBe(false);
  });

  it('is sent on by words alone as well', async () => {
    const { leave, state } = rig([{ context: 'mind the changelog' }]);
    const words = 'Stop hook additional context: mind the changelog';
    expect(await leave()).toEqual({ kind: 'go-on', message: words, onlyContext: true });
    state.hooks = [{ context: 'mind the changelog' }, blocks()];
    expect(await leave()).toEqual({
      kind: 'go-on',
      message: `Stop hook feedback:\n- [check]: tests fail\n${words}`,
    });
  });

  it('ends its run when a hook says so, whoever objects', async () => {
    const { leave } = rig([blocks(), { stop: 'out of office' }]);
    expect(await leave()).toEqual({ kind: 'end', stop: 'out of office' });
  });

  it('leaves when hooks crash, also those that must not elsewhere', async () => {
    const failure = { cause: 'signal', message: 'SIGKILL' } as const;
    const { leave } = rig([{ failure }, { failure, refuses: true }]);
    expect(await leave()).toEqual({ kind: 'leave' });
  });

  it('leaves when the goal is out of reach, unless another hook objects', async () => {
    const given: ScriptedHook = { ...blocks('no network', 'judge'), impossible: true };
    const { leave, state } = rig([given]);
    expect(await leave()).toEqual({
      kind: 'leave',
      notice: 'Stop hook judge says that what it asks for cannot be reached: no network',
    });
    state.hooks = [given, blocks()];
    expect(await leave()).toEqual({
      kind: 'go-on',
      message: 'Stop hook feedback:\n- [check]: tests fail',
    });
  });

  it('is not held when it was interrupted, before or while hooks were asked', async () => {
    const controller = new AbortController();
    const { stop, fired, state } = rig([blocks()]);
    state.hooks = [blocks()];
    const scripted = scriptedHooks({
      Stop: () => {
        controller.abort();
        return [blocks()];
      },
    });
    const interrupted = createStopHooks(scripted.dispatch, { changes: () => 0 });
    const { signal } = controller;
    expect(await interrupted.beforeLeaving({ ...leaving, signal })).toEqual({ kind: 'leave' });
    expect(await stop.beforeLeaving({ ...leaving, signal })).toEqual({ kind: 'leave' });
    expect(fired).toEqual([]);
  });

  it('is a child of some type for hooks of SubagentStop', async () => {
    const { stop, fired, lastFields } = rig([blocks()]);
    const agent = { ...MAIN_AGENT, id: 'a1', type: 'reviewer', path: 'main/reviewer#1', depth: 1 };
    const move = await stop.beforeLeaving({
      ...leaving,
      event: 'SubagentStop',
      agent,
      agentTranscriptPath: '/t/a1.jsonl',
      lastMessage: undefined,
      backgroundTasks: [{ id: 'b1', type: 'shell', status: 'running', description: 'server' }],
    });
    expect(move.kind).toBe('go-on');
    expect(fired[0]?.occasion.matched).toEqual(['reviewer']);
    expect(lastFields()).toEqual({
      stop_hook_active: false,
      agent_id: 'a1',
      agent_type: 'reviewer',
      agent_transcript_path: '/t/a1.jsonl',
      background_tasks: [{ id: 'b1', type: 'shell', status: 'running', description: 'server' }],
      session_crons: [],
    });
  });
});

describe('hooks that never let go', () => {
  it('are obeyed eight times; the ninth objection is overridden, visibly', async () => {
    const { leave, state } = rig([]);
    for (let turn = 1; turn <= 8; turn++) {
      state.hooks = [blocks(`reason ${turn}`)];
      expect((await leave()).kind).toBe('go-on');
    }
    state.hooks = [blocks('reason 9')];
    const last = await leave();
    expect(last).toMatchObject({ kind: 'leave', notice: expect.stringContaining('overridden') });
    expect('notice' in last && last.notice).toContain('8 times in a row');
    expect('notice' in last && last.notice).toContain('reason 9');
    expect(await leave()).toMatchObject({
      kind: 'leave',
      notice: expect.stringContaining('overridden'),
    });
  });

  it('are counted together with those that only add words, and to the cap that is set', async () => {
    const { leave, state } = rig([{ context: 'one' }], { cap: 2 });
    expect((await leave()).kind).toBe('go-on');
    state.hooks = [blocks('two')];
    expect((await leave()).kind).toBe('go-on');
    state.hooks = [{ context: 'three' }];
    expect(await leave()).toMatchObject({
      kind: 'leave',
      notice: expect.stringContaining('overridden'),
    });
  });

  it('are overridden the third time they say the same and nothing has changed', async () => {
    const { leave } = rig([blocks()]);
    expect((await leave()).kind).toBe('go-on');
    expect((await leave()).kind).toBe('go-on');
    const third = await leave();
    expect(third).toMatchObject({ kind: 'leave', notice: expect.stringContaining('overridden') });
    expect('notice' in third && third.notice).toContain('said the same 3 times');
  });

  it('may say the same as long as the agent changes something', async () => {
    const { leave, state } = rig([blocks()]);
    for (let turn = 1; turn <= 8; turn++) {
      state.changes++;
      expect((await leave()).kind).toBe('go-on');
    }
    state.changes++;
    expect((await leave()).kind).toBe('leave');
  });

  it('start anew when the agent was let go, and with a new prompt', async () => {
    const { leave, state, stop } = rig([blocks()], { cap: 1 });
    expect((await leave()).kind).toBe('go-on');
    state.hooks = [{}];
    expect(await leave()).toEqual({ kind: 'leave' });
    state.hooks = [blocks()];
    expect((await leave()).kind).toBe('go-on');
    expect((await leave()).kind).toBe('leave');
    stop.beginPrompt();
    expect((await leave()).kind).toBe('go-on');
  });
});

describe('the cap of the environment', () => {
  it.each([
    [undefined, 8],
    ['', 8],
    ['3', 3],
    [' 12 ', 12],
    ['0', 8],
    ['-1', 8],
    ['2.5', 8],
    ['many', 8],
    ['9'.repeat(400), 8],
  ])('of %j is %d', (value, cap) => {
    expect(stopHookCap({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: value })).toBe(cap);
  });
});

describe('a turn that ended with an error', () => {
  it('is told to hooks, which change nothing', async () => {
    const { stop, fired, lastFields } = rig([]);
    const { agent, cwd, signal } = leaving;
    await stop.failure({ agent, cwd, signal, error: 'rate_limit', details: 'slow down' });
    expect(fired[0]?.event).toBe('StopFailure');
    expect(fired[0]?.occasion.matched).toEqual(['rate_limit']);
    expect(lastFields()).toEqual({ error: 'rate_limit', error_details: 'slow down' });
    const none = scriptedHooks({});
    await createStopHooks(none.dispatch, { changes: () => 0 }).failure({
      agent,
      cwd,
      signal,
      error: 'overloaded',
    });
    expect(none.fired).toEqual([]);
  });
});
