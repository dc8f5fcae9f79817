import { describe, expect, it } from 'vitest';
import {
  type EventHook,
  eventHooks,
  FAILED,
  FAILED_OPEN,
  scene,
} from '../../../test/support/event-hooks.js';
import { createElicitationHooks, type ElicitationResult } from './elicitation.js';

const QUESTION = {
  mcp_server_name: 'srv',
  message: 'Which branch?',
  mode: 'form' as const,
  requested_schema: { type: 'object' },
};

const says = (action: unknown, content?: unknown): EventHook => ({
  fields: { action, content },
});

const ask = async (hooks: readonly EventHook[]) => {
  const rig = eventHooks({ Elicitation: hooks });
  return { ...rig, answer: await createElicitationHooks(rig).ask(QUESTION, scene) };
};

describe('Elicitation hooks', () => {
  it('are matched by server and read the question', async () => {
    const { fired, answer } = await ask([{ matcher: 'srv' }]);
    expect(fired).toMatchObject([{ occasion: { matched: ['srv'] } }]);
    expect(fired[0]?.occasion.fields).toEqual(QUESTION);
    expect(answer).toEqual({ kind: 'none' });
    expect((await ask([{ matcher: 'other', ...says('accept') }])).fired).toEqual([]);
  });

  it('answer in the place of a person', async () => {
    const { answer } = await ask([{}, says('accept', { branch: 'main' }), FAILED_OPEN]);
    expect(answer).toEqual({ kind: 'answer', action: 'accept', content: { branch: 'main' } });
    expect((await ask([says('accept')])).answer).toEqual({ kind: 'answer', action: 'accept' });
  });

  it('are as strict as the strictest: cancel, decline, accept', async () => {
    const accept = says('accept', { a: 1 });
    expect((await ask([accept, says('decline', { b: 1 })])).answer).toEqual({
      kind: 'answer',
      action: 'decline',
    });
    expect((await ask([says('cancel'), says('decline'), accept])).answer).toEqual({
      kind: 'answer',
      action: 'cancel',
    });
  });

  it('agree on one content, whatever the order of its keys', async () => {
    const one = says('accept', { a: 1, b: [{ c: 2, d: 3 }] });
    const same = says('accept', { b: [{ d: 3, c: 2 }], a: 1 });
    expect((await ask([one, says('accept'), same])).answer).toMatchObject({ action: 'accept' });
    const { answer } = await ask([one, { label: 'other', ...says('accept', { a: 2 }) }]);
    expect(answer).toEqual({
      kind: 'refused',
      reason: 'hook 1 and other want different answers sent',
    });
  });

  it.each<[EventHook, string]>([
    [{ decision: 'deny', reason: 'phishing' }, 'said no: phishing'],
    [{ decision: 'ask' }, 'person'],
    [{ stop: 'halt' }, 'stop: halt'],
    [FAILED, 'guard failed: guard.sh gave no verdict (timeout'],
    [says('maybe'), 'unknown action "maybe"'],
    [says('accept', 'text'), 'not an object'],
    [says('accept', ['a']), 'not an object'],
  ])('refuse: %j', async (hook, text) => {
    const { answer } = await ask([says('accept', { a: 1 }), hook]);
    expect(answer.kind).toBe('refused');
    expect(JSON.stringify(answer)).toContain(JSON.stringify(text).slice(1, -1));
  });

  it('that may only restrict may say no, not yes', async () => {
    const limited = { restrictOnly: true };
    expect((await ask([{ ...says('accept', { a: 1 }), ...limited }])).answer.kind).toBe('none');
    expect((await ask([{ ...says('cancel'), ...limited }])).answer).toEqual({
      kind: 'answer',
      action: 'cancel',
    });
  });

  it('that answer later have no answer now', async () => {
    expect((await ask([{ asyncMs: 5, ...says('accept') }])).answer).toEqual({ kind: 'none' });
  });
});

const GIVEN: ElicitationResult = {
  mcp_server_name: 'srv',
  action: 'accept',
  content: { token: 'abc' },
};

const result = async (
  hooks: readonly EventHook[],
  given: Partial<ElicitationResult> = {},
  answeredBy?: 'person' | 'hook' | 'nobody',
) => {
  const rig = eventHooks({ ElicitationResult: hooks });
  return createElicitationHooks(rig).result({ ...GIVEN, ...given }, scene, { answeredBy });
};

describe('ElicitationResult hooks', () => {
  const same = { action: 'accept', content: { token: 'abc' } };

  it('leave the answer as it is when they have no opinion, or there are none', async () => {
    expect(await result([])).toEqual(same);
    expect(await result([{}, FAILED_OPEN, { decision: 'allow' }])).toEqual(same);
    expect(await result([{}], { action: 'cancel', content: undefined })).toEqual({
      action: 'cancel',
    });
  });

  it('change what is sent', async () => {
    expect(await result([says(undefined, { token: '***' })])).toEqual({
      action: 'accept',
      content: { token: '***' },
    });
    expect(await result([says('decline')])).toEqual({
      action: 'decline',
      reason: 'hook 1 made it "decline"',
    });
    expect(await result([says('accept', { a: 1 }), says('cancel')])).toMatchObject({
      action: 'cancel',
    });
  });

  it.each<[string, EventHook]>([
    ['a no', { decision: 'deny', reason: 'secret' }],
    ['a stop', { stop: 'halt' }],
    ['a failure', FAILED],
    ['a word that nobody knows', says('send')],
  ])('make it a decline by %s', async (_name, hook) => {
    const outcome = await result([says('accept', { a: 1 }), hook]);
    expect(outcome.action).toBe('decline');
    expect(outcome).not.toHaveProperty('content');
    expect(outcome.reason).toBeTruthy();
    expect((await result([hook], { action: 'cancel' })).action).toBe('cancel');
  });

  it('decline when two want different contents', async () => {
    const outcome = await result([says('accept', { a: 1 }), says('accept', { a: 2 })]);
    expect(outcome).toEqual({
      action: 'decline',
      reason: 'hook 1 and hook 2 want different answers sent',
    });
  });

  it("never turn a person's no into a yes, but may answer where nobody did", async () => {
    const yes = says('accept', { a: 1 });
    const no = { action: 'decline', content: undefined } as const;
    expect(await result([yes], no)).toEqual({ action: 'decline' });
    expect(await result([yes], no, 'person')).toEqual({ action: 'decline' });
    expect(await result([yes], no, 'nobody')).toEqual({ action: 'accept', content: { a: 1 } });
    expect((await result([says('cancel')], no)).action).toBe('cancel');
  });

  it('that may only restrict cannot choose words: then nothing is sent', async () => {
    const limited = { restrictOnly: true };
    const reworded = await result([{ ...says('accept', { token: '***' }), ...limited }]);
    expect(reworded.action).toBe('decline');
    expect(reworded).not.toHaveProperty('content');
    expect(await result([{ ...says('accept', { token: 'abc' }), ...limited }])).toEqual(same);
    expect((await result([{ ...says('decline'), ...limited }])).action).toBe('decline');
    const opened = await result([{ ...says('accept'), ...limited }], { action: 'cancel' }, 'hook');
    expect(opened.action).toBe('cancel');
  });
});
