import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AskAnswer, AskRequest } from '../../src/app.js';
import type { Envelope } from '../../src/client/events.js';
import { connectClient, type LocalClient } from '../../src/client/local-client.js';
import type { QuestionKind } from '../../src/client/questions.js';
import { TurnRunner } from '../../src/client/turn-runner.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';

type Kind = Extract<QuestionKind, 'permission' | 'form' | 'confirm'>;

interface Joined {
  readonly client: LocalClient;
  readonly answers: readonly QuestionKind[];
  readonly seen: Envelope[];
  readonly from: number;
  left: boolean;
}

interface Asked {
  readonly kind: Kind;
  readonly only: Joined | undefined;
  readonly withdraw: AbortController;
  id: string | undefined;
  /** Those that may still answer. */
  readonly able: Set<Joined>;
  expected: 'open' | 'yes' | 'refused';
  outcome: unknown;
}

const kinds = fc.subarray<Kind>(['permission', 'form', 'confirm']);
const step = fc.oneof(
  fc.record({ do: fc.constant('join' as const), answers: kinds }),
  fc.record({ do: fc.constant('leave' as const), client: fc.nat(9) }),
  fc.record({
    do: fc.constant('ask' as const),
    kind: fc.constantFrom<Kind>('permission', 'form', 'confirm'),
    only: fc.option(fc.nat(9), { nil: undefined }),
  }),
  fc.record({ do: fc.constant('answer' as const), client: fc.nat(9), question: fc.nat(9) }),
  fc.record({ do: fc.constant('nonsense' as const), client: fc.nat(9), question: fc.nat(9) }),
  fc.record({ do: fc.constant('decline' as const), client: fc.nat(9), question: fc.nat(9) }),
  fc.record({ do: fc.constant('withdraw' as const), question: fc.nat(9) }),
);

const YES = {
  permission: { behavior: 'allow' },
  form: { action: 'accept', content: {} },
  confirm: { option: 'y' },
} as const;

const isYes = (outcome: unknown): boolean =>
  outcome === 'y' ||
  (outcome as AskAnswer | undefined)?.behavior === 'allow' ||
  (outcome as { action?: string } | undefined)?.action === 'accept';

describe('questions to several clients', () => {
  it('have the first answer, refuse where no client is left, and reach all clients in one order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const world = createWorld();
        for (const one of steps) {
          await world.take(one);
          world.check();
        }
      }),
      { numRuns: 300 },
    );
  });
});

function createWorld() {
  let ids = 0;
  const runner = new TurnRunner({
    env: {},
    clock: { now: Date.now, uuid: () => `q${++ids}` },
    open: () => Promise.reject(new Error('no session is opened here')),
  });
  const all: Envelope[] = [];
  runner.log.subscribe((envelope) => all.push(envelope));
  const clients: Joined[] = [];
  const questions: Asked[] = [];
  const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % (list.length || 1)];
  const lose = (question: Asked, client: Joined): void => {
    if (!question.able.delete(client) || question.expected !== 'open') return;
    if (question.able.size === 0) question.expected = 'refused';
  };
  const join = (answers: readonly QuestionKind[]): void => {
    const client = connectClient(runner, { name: `c${clients.length}`, answers });
    const seen: Envelope[] = [];
    // Every other client joins late and asks for all that it missed.
    const from = clients.length % 2 === 0 ? runner.log.seq : 0;
    client.subscribe((envelope) => seen.push(envelope), { after: from });
    const joined = { client, answers, seen, from, left: false };
    clients.push(joined);
    for (const question of questions) {
      const mayJoin = question.only === undefined && answers.includes(question.kind);
      if (question.expected === 'open' && mayJoin) question.able.add(joined);
    }
  };
  const ask = (kind: Kind, only: Joined | undefined): void => {
    const withdraw = new AbortController();
    const able = clients.filter(
      (one) => !one.left && one.answers.includes(kind) && (only === undefined || one === only),
    );
    const expected = able.length === 0 ? 'refused' : 'open';
    const asked: Asked = {
      kind,
      only,
      withdraw,
      id: undefined,
      able: new Set(able),
      expected,
      outcome: 'none',
    };
    questions.push(asked);
    const { signal } = withdraw;
    const before = new Set(runner.questions.open.map(({ id }) => id));
    const answering: Promise<unknown> =
      kind === 'permission'
        ? runner.questions.askAboutCall(askRequest(signal))
        : kind === 'form'
          ? runner.questions.elicit(FORM, signal)
          : runner.questions.confirm(CONFIRM, { signal, only: only?.client.respondent });
    asked.id = runner.questions.open.find(({ id }) => !before.has(id))?.id;
    void answering.then((outcome) => {
      asked.outcome = outcome;
    });
  };
  return {
    async take(one: StepOf) {
      if (one.do === 'join') join(one.answers);
      else if (one.do === 'ask') {
        // Only confirmations can be for one client alone.
        const only =
          one.kind === 'confirm' && one.only !== undefined ? pick(clients, one.only) : undefined;
        ask(one.kind, only);
      } else if (one.do === 'leave') {
        const client = pick(clients, one.client);
        if (client !== undefined && !client.left) {
          client.left = true;
          client.client.close();
          for (const question of questions) lose(question, client);
        }
      } else if (one.do === 'withdraw') {
        const question = pick(questions, one.question);
        question?.withdraw.abort();
        if (question?.expected === 'open') question.expected = 'refused';
      } else {
        const client = pick(clients, one.client);
        const question = pick(questions, one.question);
        if (client === undefined || question?.id === undefined) return;
        const isOpen = question.expected === 'open';
        const isAble = question.able.has(client);
        if (one.do === 'decline') {
          client.client.decline(question.id, { message: 'cannot', silent: true });
          lose(question, client);
        } else {
          const answer = one.do === 'answer' ? YES[question.kind] : { nonsense: true };
          const told = await client.client
            .answer(question.id, answer as (typeof YES)[Kind])
            .catch(() => 'rejected');
          const isValid = isAble && one.do === 'answer';
          expect(told).toBe(isOpen ? (isValid ? 'accepted' : 'rejected') : 'closed');
          if (isOpen && isValid) question.expected = 'yes';
        }
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
    check() {
      for (const { expected, outcome } of questions) {
        if (expected === 'open') expect(outcome).toBe('none');
        else {
          expect(outcome).not.toBe('none');
          expect(isYes(outcome)).toBe(expected === 'yes');
        }
      }
      const openIds = questions.flatMap(({ expected, id }) => (expected === 'open' ? [id] : []));
      expect(runner.questions.open.map(({ id }) => id)).toEqual(openIds);
      for (const { seen, from, left } of clients) {
        if (!left) expect(seen).toEqual(all.filter(({ seq }) => seq > from));
      }
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
      const ended = all.flatMap(({ event }) =>
        event.type === 'question_closed' ? [event.id] : [],
      );
      expect(new Set(ended).size).toBe(ended.length);
    },
  };
}

type StepOf =
  | { do: 'join'; answers: Kind[] }
  | { do: 'leave'; client: number }
  | { do: 'ask'; kind: Kind; only: number | undefined }
  | { do: 'answer' | 'nonsense' | 'decline'; client: number; question: number }
  | { do: 'withdraw'; question: number };

const FORM = { server: 's', message: 'm', mode: 'form', fields: [], warnings: [] } as const;
const CONFIRM = {
  topic: 'rewind',
  title: 'Restore?',
  details: [],
  options: [
    { key: 'y', label: 'Yes' },
    { key: 'n', label: 'No' },
  ],
} as const;

/** A call with what the question about it is made of. */
function askRequest(signal: AbortSignal): AskRequest {
  const request = {
    call: {
      toolUseId: 't',
      tool: { name: 'Bash', kind: 'execute' },
      input: { command: 'ls' },
      subject: { paths: [], summary: 'ls' },
      agent: MAIN_AGENT,
      workspace: { cwd: '/', roots: ['/'] },
      signal,
    },
    mode: 'default',
    trace: [],
    reason: 'no rule allows it',
  };
  return request as unknown as AskRequest;
}
