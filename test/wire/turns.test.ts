import { describe, expect, it } from 'vitest';
import type { Frame } from '../../src/server/wire.js';
import { isResult, kindOf, wire } from './host.js';

const UUID = '11111111-2222-4333-8444-555555555555';
const NEXT = '22222222-2222-4333-8444-555555555555';
const SLEEP = { tool: 'Bash', input: { command: 'sleep 20' } };

describe('the frames of a turn', () => {
  it('come in one order, from running to idle', async () => {
    const host = await wire({
      script: [{ tool: 'Bash', input: { command: 'echo hi' } }, 'done'],
      messages: { stateChanges: true },
    });
    host.prompt('go', { uuid: UUID });
    host.end();
    await host.served;
    // On a busy machine even a short command takes long enough to be told of.
    const told = host.frames.filter(({ type }) => type !== 'tool_progress');
    expect(told.map(kindOf)).toEqual([
      'command_lifecycle/queued',
      'system/session_state_changed/running',
      'command_lifecycle/started',
      'system/init',
      'assistant',
      'user',
      'assistant',
      'result/success',
      'command_lifecycle/completed',
      'system/session_state_changed/idle',
    ]);
    const answers = host.frames.filter(({ type }) => type === 'assistant');
    expect(answers[0]).toMatchObject({ user_message_uuid: UUID, user_message_uuids: [UUID] });
    expect(answers[1]).not.toHaveProperty('user_message_uuid');
    expect(host.frames.find(isResult)).toMatchObject({ user_message_uuid: UUID, num_turns: 2 });
  });

  it('ask the host about the prompt before the first of them', async () => {
    const host = await wire({ script: ['done'], answer: () => ({}) });
    void host.request({
      subtype: 'initialize',
      hooks: { UserPromptSubmit: [{ matcher: null, hookCallbackIds: ['h'] }] },
    });
    host.prompt('go');
    await host.next(isResult);
    const kinds = host.frames.map(kindOf);
    expect(kinds.indexOf('control_request')).toBeGreaterThan(-1);
    expect(kinds.indexOf('control_request')).toBeLessThan(kinds.indexOf('system/init'));
  });

  it('of a prompt that a hook blocks: init, a notice, a result without a turn', async () => {
    const host = await wire({ answer: () => ({ decision: 'block', reason: 'not today' }) });
    void host.request({
      subtype: 'initialize',
      hooks: { UserPromptSubmit: [{ matcher: null, hookCallbackIds: ['h'] }] },
    });
    host.prompt('go');
    expect(await host.next(isResult)).toMatchObject({ num_turns: 0, stop_reason: null });
    const kinds = host.frames.map(kindOf).filter((kind) => !kind.startsWith('control'));
    expect(kinds).toEqual(['system/init', 'system/informational', 'result/success']);
  });

  it('begin with init: notices of the start come after it, with the id of the session', async () => {
    const host = await wire({
      script: ['one', 'two'],
      files: { '.claude/settings.json': '{"unknownKey": true}' },
    });
    host.prompt('go');
    await host.next(isResult);
    const kinds = host.frames.map(kindOf).filter((kind) => kind.startsWith('system'));
    expect(kinds[0]).toBe('system/init');
    expect(kinds).toContain('system/informational');
    const ids = new Set(
      host.frames.map(({ session_id: id }) => id).filter((id) => id !== undefined),
    );
    expect([...ids]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    const notices = kinds.length;
    host.prompt('again');
    await host.next(isResult);
    const later = host.frames.map(kindOf).filter((kind) => kind.startsWith('system'));
    expect(later.slice(notices)).toEqual(['system/init']);
  });

  it('tell notices of the start also where no prompt ever comes', async () => {
    const host = await wire({ files: { '.claude/settings.json': '{"unknownKey": true}' } });
    await host.request({ subtype: 'initialize' });
    host.end();
    await host.served;
    const notices = host.frames.filter(({ subtype }) => subtype === 'informational');
    expect(notices).not.toEqual([]);
    for (const notice of notices) expect(notice.session_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('end with a result that says where its prompt came from', async () => {
    const host = await wire({ script: ['one', 'two'] });
    const origin = { kind: 'peer', from: 'other' };
    host.prompt('go', { origin });
    expect(await host.next(isResult)).toMatchObject({ origin });
    host.prompt('again');
    expect(await host.next(isResult)).not.toHaveProperty('origin');
  });

  it('carry names of commands, skills and agents', async () => {
    const skill = '---\nname: greet\ndescription: Says hello\nargument-hint: who\n---\nHello.\n';
    const host = await wire({
      script: ['done'],
      files: { '.claude/skills/greet/SKILL.md': skill },
    });
    host.prompt('go');
    expect(await host.next(({ subtype }) => subtype === 'init')).toMatchObject({
      slash_commands: expect.arrayContaining(['compact', 'greet']),
      skills: expect.arrayContaining(['greet']),
      agents: expect.arrayContaining(['general-purpose']),
    });
    await host.next(isResult);
  });

  it('say that commands have changed', async () => {
    const host = await wire({ script: ['one', 'two'] });
    host.prompt('go');
    await host.next(isResult);
    const skill = '---\nname: late\ndescription: Came later\n---\nHello.\n';
    host.project.write('.claude/skills/late/SKILL.md', skill);
    const reloaded = await host.request({ subtype: 'reload_skills' });
    expect(reloaded).toHaveProperty('response.skills');
    expect(JSON.stringify(reloaded)).toContain('Came later');
    host.prompt('again');
    const changed = await host.next(({ subtype }) => subtype === 'commands_changed');
    expect(JSON.stringify(changed.commands)).toContain('late');
    await host.next(isResult);
  });
});

describe('an interrupt', () => {
  it('ends the turn, leaves a mark that hosts see, and lets the queue go on', async () => {
    const host = await wire({
      script: [SLEEP, 'second'],
      config: { allowedTools: ['Bash'] },
    });
    host.prompt('first', { uuid: UUID });
    await host.next(({ type }) => type === 'assistant');
    host.prompt('second', { uuid: NEXT, priority: 'later' });
    const receipt = await host.request({ subtype: 'interrupt' });
    expect(receipt).toMatchObject({ response: { still_queued: [NEXT] } });
    const mark = await host.next((frame) => JSON.stringify(frame).includes('[Request interrupted'));
    expect(mark).toMatchObject({ type: 'user' });
    expect(mark).not.toHaveProperty('isReplay');
    expect(await host.next(isResult)).toMatchObject({
      terminal_reason: 'aborted_tools',
      queued_turn_count: 1,
    });
    expect(await host.next(isResult)).toMatchObject({ result: 'second' });
    host.end();
    await host.served;
    const states = host.frames
      .filter(({ type }) => type === 'command_lifecycle')
      .map(({ command_uuid: id, state }) => [id === UUID ? 'first' : 'second', state].join(' '));
    expect(states).toEqual([
      'first queued',
      'first started',
      'second queued',
      'first cancelled',
      'second started',
      'second completed',
    ]);
  });

  it('can empty the queue', async () => {
    const host = await wire({ script: [SLEEP], config: { allowedTools: ['Bash'] } });
    host.prompt('first');
    await host.next(({ type }) => type === 'assistant');
    host.prompt('second', { uuid: NEXT, priority: 'later' });
    expect(await host.request({ subtype: 'interrupt', cancel_queued: true })).toMatchObject({
      response: { still_queued: [], cancelled: [NEXT] },
    });
    host.end();
    const { lastRun } = await host.served;
    expect(lastRun?.outcome.reason.kind).toBe('aborted');
    expect(host.frames.filter(isResult)).toHaveLength(1);
  });

  it('of a turn that is only about to begin ends it too', async () => {
    const host = await wire({ script: ['never'], answer: () => undefined });
    void host.request({
      subtype: 'initialize',
      hooks: { UserPromptSubmit: [{ matcher: null, hookCallbackIds: ['h'] }] },
    });
    host.prompt('go');
    await host.next(({ type }) => type === 'control_request');
    await host.request({ subtype: 'interrupt' });
    expect(await host.next(isResult)).toMatchObject({ is_error: true });
    expect(host.model.requests).toHaveLength(0);
  });
});

describe('the end', () => {
  it('settles everything at once when it is aborted, with a result and a flushed transcript', async () => {
    const stop = new AbortController();
    const host = await wire({
      script: [SLEEP],
      config: { allowedTools: ['Bash'] },
      serving: { signal: stop.signal },
    });
    host.prompt('go');
    await host.next(({ type }) => type === 'assistant');
    stop.abort();
    const { lastRun } = await host.served;
    expect(lastRun?.outcome.reason).toMatchObject({ kind: 'aborted' });
    expect(host.frames.find(isResult)).toMatchObject({ is_error: true });
  });

  it('of the input finishes what waits, and answers requests that are open', async () => {
    const host = await wire({ script: ['one', 'two'] });
    host.prompt('first', { priority: 'later' });
    const usage = host.request({ subtype: 'get_usage' });
    host.end();
    expect(await usage).toMatchObject({ subtype: 'success' });
    await host.served;
    expect(host.frames.filter(isResult)).toHaveLength(1);
  });

  it('of a start that fails is told by a result', async () => {
    const host = await wire({
      config: { start: { kind: 'resume', id: 'nobody', newId: undefined, at: undefined } },
    });
    host.prompt('go');
    const { startError } = await host.served;
    expect(startError?.message).toContain('nobody');
    expect(host.frames).toMatchObject([
      { type: 'result', subtype: 'error_during_execution', num_turns: 0, session_id: 'nobody' },
    ]);
  });
});

describe('a host that does not read', () => {
  it('holds the model back instead of filling our memory', async () => {
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const seen: string[] = [];
    const host = await wire({
      script: ['a long story that is told in many pieces, one after the other'],
      messages: { partialMessages: true },
      serving: {
        write(frame) {
          seen.push(kindOf(frame));
          return frame.type === 'stream_event' ? blocked : undefined;
        },
      },
    });
    host.prompt('go');
    await expect.poll(() => seen.includes('stream_event')).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(seen.filter((kind) => kind === 'stream_event')).toHaveLength(1);
    release();
    host.end();
    await host.served;
    expect(seen).toContain('result/success');
  });
});

const HELPER = { helper: { description: 'Helps', prompt: 'You help.', background: true } };
const isTask = ({ subtype }: Frame): boolean => subtype === 'task_started';

describe('agents in the background', () => {
  const call = {
    tool: 'Agent',
    input: { subagent_type: 'helper', description: 'help out', prompt: 'HELP' },
  };

  it('keep the session at work until their report is told', async () => {
    const host = await wire({
      script: [
        { ...call, when: 'go' },
        { text: 'a word of the helper', when: 'HELP', delayMs: 400 },
        'launched',
        'reported',
      ],
      messages: { stateChanges: true },
      config: { allowedTools: ['Agent'] },
    });
    void host.request({ subtype: 'initialize', agents: HELPER });
    host.prompt('go');
    expect(await host.next(isTask)).toMatchObject({ is_backgrounded: true });
    await host.next(isResult);
    host.end();
    await host.served;
    const kinds = host.frames.map(kindOf).filter((kind) => /state_changed|result/.test(kind));
    expect(kinds).toEqual([
      'system/session_state_changed/running',
      'result/success',
      'result/success',
      'system/session_state_changed/idle',
    ]);
    expect(host.frames.findLast(isResult)).toMatchObject({ origin: { kind: 'task-notification' } });
  });

  it.each([
    [{}, 'stopped'],
    [{ perTaskStopAffordance: true }, 'completed'],
  ])('end with an interrupt, unless the host can stop each of them: %j', async (more, status) => {
    const host = await wire({
      script: [
        { ...call, when: 'go' },
        { text: 'a word of the helper', when: 'HELP', delayMs: 1500 },
        'launched',
        'reported',
      ],
      config: { allowedTools: ['Agent'] },
    });
    void host.request({ subtype: 'initialize', agents: HELPER, ...more });
    host.prompt('go');
    await host.next(isTask);
    await host.next(isResult);
    await host.request({ subtype: 'interrupt' });
    expect(await host.next(({ subtype }) => subtype === 'task_notification')).toMatchObject({
      status,
    });
  });
});

describe('agents that are waited for', () => {
  it.each([
    [false, 0],
    [true, 1],
  ])('what they say is sent where the host wants it: %s', async (forwardSubagentText, count) => {
    const input = { subagent_type: 'helper', description: 'help out', prompt: 'HELP' };
    const host = await wire({
      script: [
        { tool: 'Agent', input: { ...input, run_in_background: false }, when: 'go' },
        { text: 'a word of the helper', when: 'HELP' },
        'done',
      ],
      config: { allowedTools: ['Agent'] },
    });
    const agents = { helper: { description: 'Helps', prompt: 'You help.' } };
    void host.request({ subtype: 'initialize', agents, forwardSubagentText });
    host.prompt('go');
    expect(await host.next(isResult)).toMatchObject({ result: 'done' });
    const said = host.frames.filter(
      ({ type, parent_tool_use_id: parent }) => type === 'assistant' && parent !== null,
    );
    expect(said).toHaveLength(count);
  });
});

describe('/compact', () => {
  it('is told around the first frame of its turn', async () => {
    const host = await wire({ script: ['one', 'a summary of it all'] });
    host.prompt('go');
    await host.next(isResult);
    const before = host.frames.length;
    host.prompt('/compact');
    expect(await host.next(isResult)).toMatchObject({ num_turns: 0 });
    expect(host.frames.slice(before).map(kindOf)).toEqual([
      'system/status/compacting',
      'system/status',
      'system/init',
      'system/compact_boundary',
      'user',
      'result/success',
    ]);
  });
});

describe('a turn that throws', () => {
  it('closes the session all the same', async () => {
    const ended = { hooks: [{ type: 'command', command: 'touch ended' }] };
    const host = await wire({
      script: ['ok'],
      config: { settings: JSON.stringify({ hooks: { SessionEnd: [ended] } }) },
      serving: {
        write(frame) {
          if (frame.type === 'result') throw new Error('the reader is gone');
        },
      },
    });
    host.send({ type: 'user', message: { role: 'user', content: 'go' } });
    await expect(host.served).rejects.toThrow('the reader is gone');
    expect(host.project.exists('ended')).toBe(true);
  });
});
