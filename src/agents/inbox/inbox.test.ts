import { beforeEach, describe, expect, it } from 'vitest';
import { err, ok } from '../../lib/result.js';
import type { AskAnswer, Asker, AskRequest } from '../../permissions/gate/types.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { inboxAsker, inboxGuard } from './asker.js';
import { Inbox, type InboxParts, MOST_SHOWN_CHARS } from './inbox.js';

let files: Map<string, string>;
let news: SessionNews[];
let now: number;
let alive: boolean;
let inbox: Inbox;
let damaged: string | undefined;
beforeEach(() => {
  files = new Map();
  news = [];
  now = 1_000;
  alive = true;
  damaged = undefined;
  const disk: Required<InboxParts>['files'] = {
    createOnce(path, text) {
      if (files.has(path)) return false;
      files.set(path, text);
      return true;
    },
    readOwn(path) {
      const text = files.get(path);
      if (text === undefined) return undefined;
      return damaged !== undefined && path.includes('answer') ? err(damaged) : ok(text);
    },
    list: () => [...files.keys()].map((path) => path.split('/').at(-1) ?? ''),
    remove: (path) => void files.delete(path),
  };
  inbox = new Inbox({
    files: disk,
    processes: { isAlive: () => alive },
    stateDirectory: '/state',
    now: () => now,
  });
});

const ID = 'q0123456789ab';
const LONG = `mkdir ok ${' '.repeat(2_100)}; touch tail`;

const requestOf = (background = true, signal = new AbortController().signal): AskRequest =>
  ({
    call: {
      toolUseId: 't1',
      tool: { name: 'Bash' },
      input: { command: 'make' },
      subject: { paths: [], command: 'make', summary: 'make' },
      agent: { id: 'a1', path: 'main/x#1', type: 'x', depth: 1, background },
      workspace: { cwd: '/p', roots: ['/p'] },
      signal,
    },
    mode: 'default',
    trace: [],
    reason: 'nothing allows make',
  }) as unknown as AskRequest;

const askerOf = (
  inner: Asker | undefined,
  unattended = false,
  more: Partial<Parameters<typeof inboxAsker>[1]> = {},
): Asker | undefined =>
  inboxAsker(inner, {
    inbox,
    sessionId: 's',
    expiryMs: () => 60_000,
    unattended: () => unattended,
    self: () => ({ pid: 1 }),
    now: () => now,
    newId: () => ID,
    emit: (one) => void news.push(one),
    warn: () => undefined,
    lookMs: 1,
    ...more,
  });

const states = () => news.map((one) => (one.type === 'inbox' ? one.state : one.type));
const never: Asker = () => new Promise<AskAnswer>(() => undefined);

describe('the inbox', () => {
  it('is asked for background agents alone', async () => {
    const yes: Asker = async () => ({ behavior: 'allow' });
    expect(await askerOf(yes)?.(requestOf(false))).toEqual({ behavior: 'allow' });
    expect(news).toEqual([]);
    expect(askerOf(undefined)).toBeUndefined();
    expect(await askerOf(undefined, true)?.(requestOf(false))).toMatchObject({ unanswered: true });
  });

  it('gives the first answer, from wherever it comes', async () => {
    const asked = askerOf(never)?.(requestOf());
    expect(inbox.list().map(({ id }) => id)).toEqual([ID]);
    expect(inbox.answer(ID, { behavior: 'allow', scope: 'session' }).ok).toBe(true);
    expect(inbox.answer(ID, { behavior: 'deny', scope: 'once' })).toMatchObject({ ok: false });
    expect(await asked).toEqual({
      behavior: 'allow',
      by: `inbox ${ID}`,
      scope: { what: 'exact', until: 'session' },
    });
    expect(files.size).toBe(0);
    expect(states()).toEqual(['asked', 'answered']);
    let withdrawn = false;
    const host: Asker = async ({ call }) => {
      call.signal.addEventListener('abort', () => {
        withdrawn = true;
      });
      return { behavior: 'deny', message: 'no' };
    };
    expect(await askerOf(host)?.(requestOf())).toEqual({ behavior: 'deny', message: 'no' });
    expect(withdrawn).toBe(true);
    expect(files.size).toBe(0);
  });

  it('waits on when the host says that nobody is there', async () => {
    const host: Asker = async () => ({ behavior: 'deny', message: '', unanswered: true });
    const asked = askerOf(host)?.(requestOf());
    await new Promise((resolve) => setTimeout(resolve, 5));
    inbox.answer(ID, { behavior: 'deny', scope: 'once', message: 'not now' });
    expect(await asked).toMatchObject({ behavior: 'deny', message: 'not now' });
  });

  it('says no when the time is up, when the call is over, and when the host fails', async () => {
    const asked = askerOf(undefined, true)?.(requestOf());
    now += 60_001;
    expect(await asked).toMatchObject({ behavior: 'deny', unanswered: true });
    expect(states()).toEqual(['asked', 'expired']);
    const controller = new AbortController();
    const over = askerOf(never)?.(requestOf(true, controller.signal));
    controller.abort();
    expect(await over).toMatchObject({ behavior: 'deny' });
    const broken: Asker = () => Promise.reject(new Error('gone'));
    expect(await askerOf(broken)?.(requestOf())).toMatchObject({ behavior: 'deny' });
    expect(files.size).toBe(0);
  });

  it('gives the answer although the question cannot be taken away', async () => {
    const stuck: Pick<Inbox, 'put' | 'answerTo' | 'remove'> = {
      put: (question) => inbox.put(question),
      answerTo: (question) => inbox.answerTo(question),
      remove() {
        throw new Error('read-only');
      },
    };
    const warned: string[] = [];
    const asked = askerOf(never, false, { inbox: stuck, warn: (text) => void warned.push(text) });
    const answer = asked?.(requestOf());
    inbox.answer(ID, { behavior: 'allow', scope: 'once' });
    expect(await answer).toMatchObject({ behavior: 'allow' });
    expect(warned.join()).toContain('read-only');
  });

  it('does not take the answer to another question or call, nor a file that others wrote', async () => {
    for (const forged of [
      { question: 'qffffffffffff', behavior: 'allow', scope: 'once' },
      { question: ID, callHash: 'other', behavior: 'allow', scope: 'once' },
      { question: ID, behavior: 'allow' },
    ]) {
      const asked = askerOf(never)?.(requestOf());
      const { callHash } = inbox.list()[0] ?? {};
      files.set(`/state/inbox/${ID}.answer.json`, JSON.stringify({ callHash, ...forged }));
      expect(await asked).toMatchObject({ behavior: 'deny' });
    }
    damaged = 'it belongs to another user';
    const asked = askerOf(never)?.(requestOf());
    inbox.answer(ID, { behavior: 'allow', scope: 'once' });
    expect(await asked).toMatchObject({ behavior: 'deny' });
  });

  it.each<[string, object, object, string]>([
    ['a command', { command: LONG }, { command: LONG, summary: 'make' }, LONG],
    [
      'what is written',
      { file_path: 'a', content: 'x' },
      { summary: 'a' },
      'a with {"file_path":"a","content":"x"}',
    ],
    [
      'what is sent',
      { url: 'u', body: 'b' },
      { summary: 's', url: 'u' },
      'u with {"url":"u","body":"b"}',
    ],
    ['what its line has', { q: 1 }, { summary: 't with {"q":1}' }, 't with {"q":1}'],
  ])('shows all that a yes covers: %s', async (_, input, subject, summary) => {
    const request = requestOf();
    const call = { ...request.call, input, subject: { paths: [], ...subject } };
    const asked = askerOf(never)?.({ ...request, call } as unknown as AskRequest);
    expect(inbox.list()).toMatchObject([{ summary }]);
    expect(news).toMatchObject([{ question: { summary } }]);
    expect(inbox.answer(ID, { behavior: 'allow', scope: 'once' }).ok).toBe(true);
    expect(await asked).toMatchObject({ behavior: 'allow' });
  });

  it('takes no yes for what is too long to be shown, and says so', async () => {
    const command = `mkdir ok ${' '.repeat(MOST_SHOWN_CHARS)}; touch tail`;
    const request = requestOf();
    const call = { ...request.call, subject: { paths: [], command, summary: 'make' } };
    const long: AskRequest = { ...request, call };
    // Without a host no person could see the whole question.
    expect(await askerOf(undefined, true)?.(long)).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining('too long for a person to judge'),
    });
    const absent: Asker = async () => ({ behavior: 'deny', message: '', unanswered: true });
    expect(await askerOf(absent)?.(long)).toMatchObject({
      message: expect.stringContaining('too long for a person to judge'),
    });
    expect(await askerOf(async () => ({ behavior: 'allow' }))?.(long)).toEqual({
      behavior: 'allow',
    });
    const asked = askerOf(never)?.(long);
    expect(inbox.list()).toMatchObject([
      {
        tooLong: true,
        summary: expect.stringMatching(/^mkdir ok[\s\S]*characters left out[\s\S]*tail$/),
      },
    ]);
    expect(inbox.answer(ID, { behavior: 'allow', scope: 'once' })).toMatchObject({
      ok: false,
      error: expect.stringContaining('can only be refused'),
    });
    expect(inbox.answer(ID, { behavior: 'deny', scope: 'once' }).ok).toBe(true);
    expect(await asked).toMatchObject({ behavior: 'deny' });
    // A forged answer file does not count either.
    const again = askerOf(never)?.(long);
    const { callHash } = inbox.list()[0] ?? {};
    const forged = { question: ID, callHash, behavior: 'allow', scope: 'once' };
    files.set(`/state/inbox/${ID}.answer.json`, JSON.stringify(forged));
    expect(await again).toMatchObject({ behavior: 'deny' });
  });

  it('forgets what nobody waits for, and knows no odd ids', () => {
    void askerOf(never)?.(requestOf());
    alive = false;
    expect(inbox.answer(ID, { behavior: 'allow', scope: 'once' })).toMatchObject({ ok: false });
    expect(inbox.list()).toEqual([]);
    expect(files.size).toBe(0);
    expect(inbox.answer('../x', { behavior: 'allow', scope: 'once' })).toMatchObject({ ok: false });
  });
});

describe('an agent', () => {
  it.each([
    ['portcullis inbox answer q1 allow', 'deny'],
    ["env -i /opt/bin/portcullis 'in'box answ\\er q1 allow", 'deny'],
    ['node bin/p inbox  answer q1 allow', 'deny'],
    ['portcullis inbox list', 'none'],
    ['git commit -m "answer of the inbox"', 'none'],
  ])('does not answer by %s', async (command, decision) => {
    const view = { call: { subject: { paths: [], command, summary: '' } } } as never;
    expect(await inboxGuard.decide(view)).toMatchObject({ decision });
  });
});
