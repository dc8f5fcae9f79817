import { describe, expect, it } from 'vitest';
import { type EventHook, eventHooks, scene } from '../../../test/support/event-hooks.js';
import { createElicitationHooks } from '../../hooks/events/elicitation.js';
import type { AskElicitation, ElicitQuestion } from '../../protocol/elicitation.js';
import type { ElicitRequest } from '../server.js';
import { createElicit, type ElicitDeps } from './elicitation.js';

const FORM: ElicitRequest = {
  server: 'srv',
  message: 'Which branch?',
  mode: 'form',
  requestedSchema: {
    type: 'object',
    properties: {
      branch: { type: 'string', minLength: 1 },
      deep: { type: 'boolean', default: true },
    },
    required: ['branch'],
  },
};
const URL_QUESTION: ElicitRequest = {
  server: 'srv',
  message: 'Sign in',
  mode: 'url',
  url: 'https://a.example/x',
  elicitationId: 'e1',
};

interface Rig {
  readonly hooks?: Readonly<Record<string, readonly EventHook[]>>;
  readonly ask?: AskElicitation | undefined;
  readonly more?: Partial<ElicitDeps>;
}

function rig({ hooks = {}, ask, more }: Rig) {
  const events = eventHooks(hooks);
  const notes: string[] = [];
  const asked: ElicitQuestion[] = [];
  let now = 0;
  const elicit = createElicit({
    hooks: createElicitationHooks(events),
    scene: () => scene,
    ...(ask === undefined
      ? {}
      : {
          ask: (question: ElicitQuestion, signal: AbortSignal) => {
            asked.push(question);
            return ask(question, signal);
          },
        }),
    onNote: (text) => notes.push(text),
    clock: { monotonic: () => now },
    ...more,
  });
  const live = new AbortController().signal;
  return {
    notes,
    asked,
    fired: events.fired,
    pass: (ms: number) => {
      now += ms;
    },
    elicit: (request: ElicitRequest = FORM, signal: AbortSignal = live) => elicit(request, signal),
  };
}

const says = (action: string, content?: unknown): EventHook => ({
  fields: { action, content },
});
const accepts =
  (content: Readonly<Record<string, unknown>>): AskElicitation =>
  async () => ({ action: 'accept', content });

describe("a server's question", () => {
  it('is declined at once when nobody can answer, and says so', async () => {
    const { elicit, notes } = rig({});
    expect(await elicit()).toEqual({ action: 'decline' });
    expect(notes).toEqual([
      'The MCP server "srv" asked something: declined, as no person is there to answer',
    ]);
    expect(await rig({ ask: async () => undefined }).elicit()).toEqual({ action: 'decline' });
  });

  it('goes to the person, whose answer is checked and gets its defaults', async () => {
    const { elicit, asked } = rig({ ask: accepts({ branch: 'main' }) });
    expect(await elicit()).toEqual({ action: 'accept', content: { branch: 'main', deep: true } });
    expect(asked).toMatchObject([
      { server: 'srv', mode: 'form', fields: [{ name: 'branch' }, { name: 'deep' }] },
    ]);
    const wrong = rig({ ask: accepts({ branch: '' }) });
    expect(await wrong.elicit()).toEqual({ action: 'decline' });
    expect(wrong.notes[0]).toContain('does not fit the form: "branch" has fewer than 1');
    const cancel: AskElicitation = async () => ({ action: 'cancel', content: { branch: 'x' } });
    expect(await rig({ ask: cancel }).elicit()).toEqual({ action: 'cancel' });
  });

  it('is answered by hooks first, and by nobody else then', async () => {
    const hooks = { Elicitation: [says('accept', { branch: 'dev' })] };
    const answered = rig({ hooks, ask: accepts({ branch: 'main' }) });
    expect(await answered.elicit()).toMatchObject({ content: { branch: 'dev' } });
    expect(answered.asked).toEqual([]);
    const unfit = rig({ hooks: { Elicitation: [says('accept', { other: 1 })] } });
    expect(await unfit.elicit()).toEqual({ action: 'decline' });
    const refused = rig({
      hooks: {
        Elicitation: [says('perhaps')],
        ElicitationResult: [says('accept', { branch: 'x' })],
      },
      ask: accepts({ branch: 'main' }),
    });
    expect(await refused.elicit()).toEqual({ action: 'decline' });
    expect(refused.asked).toEqual([]);
  });

  it('has its answer looked at by hooks, whose own has to fit as well', async () => {
    const change = (hook: EventHook) =>
      rig({ hooks: { ElicitationResult: [hook] }, ask: accepts({ branch: 'main' }) }).elicit();
    expect(await change(says('accept', { branch: 'dev' }))).toMatchObject({
      content: { branch: 'dev' },
    });
    expect(await change(says('accept', { branch: 7 }))).toEqual({ action: 'decline' });
    expect(await change(says('decline'))).toEqual({ action: 'decline' });
    // Hooks may answer when no person can, but not after a person declined.
    const hooks = { ElicitationResult: [says('accept', { branch: 'dev' })] };
    expect(await rig({ hooks }).elicit()).toMatchObject({ action: 'accept' });
    const no = rig({ hooks, ask: async () => ({ action: 'decline' }) });
    expect(await no.elicit()).toEqual({ action: 'decline' });
  });

  it('never hangs and never rejects', async () => {
    const thrown = rig({
      ask: async () => {
        throw new Error('terminal gone');
      },
    });
    expect(await thrown.elicit()).toEqual({ action: 'decline' });
    expect(thrown.notes[0]).toContain('terminal gone');
    const controller = new AbortController();
    const hanging = rig({ ask: () => new Promise(() => undefined) }).elicit(
      FORM,
      controller.signal,
    );
    controller.abort();
    expect(await hanging).toEqual({ action: 'cancel' });
    expect(await rig({ ask: accepts({}) }).elicit(FORM, controller.signal)).toEqual({
      action: 'cancel',
    });
  });

  it('with a form that cannot be shown is not shown', async () => {
    const { elicit, asked, fired, notes } = rig({ ask: accepts({}) });
    const requestedSchema = { type: 'object', properties: { a: { type: 'object' } } };
    expect(await elicit({ ...FORM, requestedSchema })).toEqual({ action: 'decline' });
    expect([asked, fired]).toEqual([[], []]);
    expect(notes[0]).toContain('of no kind we know');
  });

  it('for a secret comes with a warning', async () => {
    const { elicit, asked } = rig({ ask: accepts({}) });
    const properties = { api_key: { type: 'string' } };
    await elicit({ ...FORM, requestedSchema: { type: 'object', properties } });
    expect(asked[0]?.warnings[0]).toContain('ask for a secret (api_key)');
  });

  it('is bounded in number for each server', async () => {
    const { elicit, notes, pass } = rig({
      ask: accepts({ branch: 'x' }),
      more: { limits: { perMinute: 2 } },
    });
    const actions = async () => (await elicit()).action;
    expect([await actions(), await actions(), await actions()]).toEqual([
      'accept',
      'accept',
      'decline',
    ]);
    expect(notes.at(-1)).toContain('2 times within a minute');
    // The note appears once per minute, however often the server asks.
    for (let count = 0; count < 50; count++) expect(await actions()).toBe('decline');
    expect(notes.filter((note) => note.includes('within a minute'))).toHaveLength(1);
    expect((await elicit({ ...FORM, server: 'other' })).action).toBe('accept');
    pass(60_001);
    expect(await actions()).toBe('accept');
    const waiting = rig({
      ask: () => new Promise(() => undefined),
      more: { limits: { atOnce: 1 } },
    });
    void waiting.elicit();
    expect(await waiting.elicit()).toEqual({ action: 'decline' });
  });
});

describe('a question by address', () => {
  it('is shown in full with its host, and a yes carries nothing', async () => {
    const { elicit, asked } = rig({ ask: accepts({ secret: 1 }) });
    expect(await elicit(URL_QUESTION)).toEqual({ action: 'accept' });
    expect(asked).toMatchObject([
      { mode: 'url', url: 'https://a.example/x', host: 'a.example', elicitationId: 'e1' },
    ]);
  });

  it('is declined unless it is https or this machine', async () => {
    const { elicit, asked } = rig({ ask: accepts({}), more: { limits: { perMinute: 100 } } });
    const action = async (url: string) => (await elicit({ ...URL_QUESTION, url })).action;
    const refused = [
      'http://a.example/',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://good.example@evil.example/',
      'http://localhost.evil.example/',
      'http://127.0.0.1.evil.example/',
      'nothing',
      '',
    ];
    for (const url of refused) expect(await action(url), url).toBe('decline');
    expect(asked).toEqual([]);
    for (const url of ['http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]:1/']) {
      expect(await action(url), url).toBe('accept');
    }
  });

  it('with a host of other letters or a number says so, in the form that the network uses', async () => {
    const { elicit, asked } = rig({ ask: accepts({}) });
    await elicit({ ...URL_QUESTION, url: 'https://аpple.example/' });
    expect(asked[0]?.host).toMatch(/^xn--/);
    expect(asked[0]?.warnings).toHaveLength(1);
    await elicit({ ...URL_QUESTION, url: 'https://192.0.2.1/' });
    expect(asked[1]?.warnings).toHaveLength(1);
  });
});
