import { describe, expect, it } from 'vitest';
import { isResult, wire } from './host.js';

const deny = {
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' },
};
const write = { tool: 'Write', input: { file_path: 'a.txt', content: 'x' } };
const guard = { PreToolUse: [{ hookCallbackIds: ['g'] }] };
const ofInit = (fields: object) => ({ subtype: 'initialize', ...fields });

describe('a start that is refused', () => {
  it.each([
    { skills: 'all' },
    { jsonSchema: 'x' },
    { agents: [] },
    { agents: 5 },
    { disallowedTools: ['Bash'] },
    { permissionMode: 'plan' },
    { tools: [] },
    { hooks: { PreToolUse: [{ matcher: 'Bsh', hookCallbackIds: ['g'] }] } },
  ])('where %j would be lost: initialize has no answer, a result says why', async (fields) => {
    const host = await wire();
    host.send({ type: 'control_request', request_id: 'i', request: ofInit(fields) });
    expect((await host.served).startError).toBeDefined();
    expect(host.frames).toMatchObject([
      { type: 'result', subtype: 'error_during_execution', is_error: true, num_turns: 0 },
    ]);
  });

  it.each(['pretooluse', 'PreToolUse ', 'pre_tool_use', 'PreTolUse', 'PreToolUses'])(
    'for hooks of "%s", which can only be meant for another event',
    async (event) => {
      const host = await wire();
      const request = ofInit({ hooks: { [event]: guard.PreToolUse } });
      host.send({ type: 'control_request', request_id: 'i', request });
      expect((await host.served).startError?.message).toContain('did you mean PreToolUse?');
    },
  );
});

describe('initialize', () => {
  it('does not say that hooks of events that nobody knows are in force', async () => {
    const host = await wire();
    const hooks = { ...guard, SomethingNewer: guard.PreToolUse };
    expect(await host.request(ofInit({ hooks }))).toMatchObject({
      response: { hooks_applied: false, hooks_unknown: ['SomethingNewer'] },
    });
    expect(await host.request(ofInit({ hooks: guard }))).toMatchObject({
      response: { hooks_applied: true },
    });
  });

  it.each([
    { agents: { r: { description: 'd', prompt: 'p', tools: ['Read'] } } },
    { skills: [] },
    { jsonSchema: { type: 'object' } },
    { systemPrompt: ['Be brief.'] },
  ])('that comes too late for %j is refused', async (fields) => {
    const host = await wire();
    await host.request({ subtype: 'set_model', model: 'default' });
    expect(await host.request(ofInit(fields))).toMatchObject({
      subtype: 'error',
      error_code: 'too_late',
    });
    expect(await host.request(ofInit({}))).toMatchObject({ subtype: 'success' });
  });

  it('that comes again may say the same, but nothing else', async () => {
    const host = await wire();
    const first = ofInit({ skills: ['a'], systemPrompt: [''] });
    expect(await host.request(first)).toMatchObject({ subtype: 'success' });
    expect(await host.request(first)).toMatchObject({ subtype: 'success' });
    expect(await host.request({ ...first, skills: ['a', 'b'] })).toMatchObject({
      error_code: 'too_late',
    });
  });

  it.each([
    ['says nothing of hooks', {}, 'success'],
    ['has no hooks', { hooks: null }, 'success'],
    ['is refused', { skills: ['other'] }, 'error'],
    ['misspells them', { hooks: { pretooluse: [] } }, 'error'],
  ])('that comes again and %s leaves the guards in force', async (_name, again, subtype) => {
    const host = await wire({
      script: [write, 'done'],
      config: { permissionMode: 'acceptEdits' },
      answer: () => deny,
    });
    await host.request(ofInit({ hooks: guard }));
    expect(await host.request(ofInit(again))).toMatchObject({ subtype });
    host.prompt('go');
    await host.next(isResult);
    expect(host.project.exists('a.txt')).toBe(false);
  });

  it('that is refused as too late puts its guards in force all the same', async () => {
    const host = await wire({
      script: [write, 'done'],
      config: { permissionMode: 'acceptEdits' },
      answer: () => deny,
    });
    await host.request({ subtype: 'set_model', model: 'default' });
    expect(await host.request(ofInit({ hooks: guard, skills: [] }))).toMatchObject({
      error_code: 'too_late',
    });
    host.prompt('go');
    await host.next(isResult);
    expect(host.project.exists('a.txt')).toBe(false);
  });
});

describe('names that are no texts', () => {
  it('are answered with an error', async () => {
    const host = await wire();
    for (const subtype of [['initialize'], { toString: 1 }, null, 5]) {
      expect(await host.request({ subtype })).toMatchObject({
        error_code: 'unsupported_request',
      });
    }
    host.send({ type: 'control_request', request_id: { a: 1 }, request: { subtype: 'interrupt' } });
    const odd = await host.next((frame) => JSON.stringify(frame).includes('"request_id":{"a":1}'));
    expect(odd).toMatchObject({ response: { error_code: 'invalid_request' } });
  });

  it('answer no question, end no session, and are told', async () => {
    const host = await wire({ script: [write, 'done'], asksHost: true });
    await host.request(ofInit({}));
    host.prompt('go');
    const { request_id: id } = await host.next(({ type }) => type === 'control_request');
    const yes = { subtype: 'success', response: { behavior: 'allow' } };
    for (const odd of [[id], { toString: 1 }, null]) {
      host.send({ type: 'control_response', response: { ...yes, request_id: odd } });
    }
    await host.next(({ content }) => String(content).includes('without the id of a request'));
    expect(host.project.exists('a.txt')).toBe(false);
    const no = { behavior: 'deny', message: 'no' };
    const response = { subtype: 'success', request_id: id, response: no };
    host.send({ type: 'control_response', response });
    expect(await host.next(isResult)).toMatchObject({ subtype: 'success' });
    expect(host.project.exists('a.txt')).toBe(false);
  });
});
