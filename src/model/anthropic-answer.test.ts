import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../env/http.js';
import { AnthropicAnswer } from './anthropic-answer.js';

const START = 'event: message_start\ndata: {"type":"message_start","message":{"id":"1"}}\n\n';
const PING = 'data: {"type":"ping"}\n\n';
const STOP = 'data: {"type":"message_stop"}\n\n';

/** A body in pieces, and what became of it. */
function bodyOf(pieces: readonly (string | Error)[]) {
  const state = { read: 0, left: 0, finished: 0 };
  const chunks: AsyncIterableIterator<string> = {
    async next() {
      const piece = pieces[state.read++];
      if (piece instanceof Error) throw piece;
      return piece === undefined ? { value: undefined, done: true } : { value: piece, done: false };
    },
    async return() {
      state.left++;
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  const response: HttpResponse = {
    status: 200,
    headers: { 'request-id': 'r1' },
    chunks,
    finish: () => void state.finished++,
  };
  return { state, response };
}

function answerOf(send: () => Promise<HttpResponse>, signal = new AbortController().signal) {
  const context = {
    baseUrl: 'http://localhost',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    keyVariables: ['ANTHROPIC_API_KEY'],
    hasKey: true,
  };
  return new AnthropicAnswer({ send, model: 'a', signal, context });
}

async function kinds(answer: AnthropicAnswer): Promise<string[][]> {
  const bunches: string[][] = [];
  for (;;) {
    const { value, done } = await answer.next();
    if (done === true) return bunches;
    bunches.push(value.map(({ type }) => type));
  }
}

describe('an answer of the Messages API', () => {
  it('comes in a bunch for each piece and is finished at its end, whatever stands behind it', async () => {
    const { state, response } = bodyOf([START + PING, PING, `${STOP}${PING}`, PING]);
    expect(await kinds(answerOf(async () => response))).toEqual([
      ['message_start', 'ping'],
      ['ping'],
      ['message_stop'],
    ]);
    expect(state).toEqual({ read: 3, left: 0, finished: 1 });
  });

  it('is sent for only when it is asked for', async () => {
    let sent = 0;
    const { response } = bodyOf([STOP]);
    const answer = answerOf(async () => {
      sent++;
      return response;
    });
    expect(sent).toBe(0);
    await answer.next();
    await answer.next();
    expect(sent).toBe(1);
  });

  it('leaves a body that it cannot read, and one that its reader leaves', async () => {
    const broken = bodyOf([START, 'data: {\n\n', PING]);
    expect(await kinds(answerOf(async () => broken.response))).toEqual([
      ['message_start'],
      ['failure'],
    ]);
    expect(broken.state).toEqual({ read: 2, left: 1, finished: 0 });

    const endless = bodyOf([START, `data: ${'x'.repeat(129 * 1024 * 1024)}`, PING]);
    expect((await kinds(answerOf(async () => endless.response))).at(-1)).toEqual(['failure']);
    expect(endless.state.left).toBe(1);

    const long = bodyOf([START, PING, STOP]);
    const answer = answerOf(async () => long.response);
    await answer.next();
    expect(await answer.return()).toEqual({ value: undefined, done: true });
    expect(await answer.next()).toEqual({ value: undefined, done: true });
    expect(long.state).toEqual({ read: 1, left: 1, finished: 0 });
  });

  it('leaves a body that begins after its reader has left', async () => {
    const { state, response } = bodyOf([START, STOP]);
    let arrive: (response: HttpResponse) => void = () => undefined;
    const answer = answerOf(() => new Promise((resolve) => (arrive = resolve)));
    const first = answer.next();
    await answer.return();
    arrive(response);
    expect(await first).toEqual({ value: undefined, done: true });
    expect(state).toEqual({ read: 0, left: 1, finished: 0 });
  });

  it('ends with a failure that names the request where the body breaks off', async () => {
    const { response } = bodyOf([START, new Error('gone')]);
    const answer = answerOf(async () => response);
    await answer.next();
    expect((await answer.next()).value).toMatchObject([
      { type: 'failure', failure: { requestId: 'r1' } },
    ]);
    expect(await answer.next()).toEqual({ value: undefined, done: true });
  });

  it('says of an abort that it was one', async () => {
    const controller = new AbortController();
    const answer = answerOf(async () => {
      controller.abort();
      throw new Error('aborted');
    }, controller.signal);
    expect((await answer.next()).value).toMatchObject([{ failure: { kind: 'aborted' } }]);
  });
});
