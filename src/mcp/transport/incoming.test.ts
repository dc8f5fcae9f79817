import { describe, expect, it } from 'vitest';
import { Incoming } from './incoming.js';

const nameless = (more: Record<string, unknown> = { id: null }): string =>
  JSON.stringify({ jsonrpc: '2.0', ...more, error: { code: -32700, message: 'not read' } });

function asking(...ids: (string | number)[]): Incoming {
  const incoming = new Incoming();
  for (const id of ids) incoming.sent({ jsonrpc: '2.0', id, method: 'tools/call' });
  return incoming;
}

describe('what comes over one channel', () => {
  it('is one message, or a list of them', () => {
    const answer = { jsonrpc: '2.0', id: 1, result: {} };
    const news = { jsonrpc: '2.0', method: 'notifications/progress' };
    expect(asking(1).read(JSON.stringify(answer))).toEqual([answer]);
    expect(asking(1).read(`\ufeff${JSON.stringify(answer)}`)).toEqual([answer]);
    const mixed = [{ ...news, extra: 1 }, 5, answer];
    expect(asking(1).read(JSON.stringify(mixed))).toEqual([news, answer]);
    for (const noise of ['', 'hello', '[]', '[1]', 'null'])
      expect(asking(1).read(noise)).toEqual([]);
  });

  it('is an error of the one request that waits when it has no id', () => {
    for (const text of [nameless(), nameless({})]) {
      expect(asking(7).read(text)).toMatchObject([{ id: 7, error: { message: 'not read' } }]);
    }
    expect(asking(7).read(`[${nameless()}]`)).toMatchObject([{ id: 7 }]);
  });

  it('is for nobody when it has no id and none waits, or several do', () => {
    expect(asking().read(nameless())).toEqual([]);
    expect(asking(1, 2).read(nameless())).toEqual([]);
    const answered = asking(1, 2);
    answered.read('{"jsonrpc":"2.0","id":"1","result":{}}');
    expect(answered.read(nameless())).toMatchObject([{ id: 2 }]);
    const cancelled = asking(1, 2);
    const params = { requestId: 1 };
    cancelled.sent({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    expect(cancelled.read(nameless())).toMatchObject([{ id: 2 }]);
  });
});
