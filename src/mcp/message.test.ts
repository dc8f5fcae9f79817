import { describe, expect, it } from 'vitest';
import { messageIn, messageOf } from './message.js';

const failed = (id: string | number) => ({ id, error: { code: -32603 } });

describe('what a server sends', () => {
  it('is a message when it is one', () => {
    for (const sound of [
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 'a', error: { code: 1, message: 'x' } },
      { jsonrpc: '2.0', method: 'notifications/progress' },
      { jsonrpc: '2.0', id: 3, method: 'ping' },
    ]) {
      expect(messageIn(JSON.stringify(sound))).toEqual(sound);
    }
  });

  it.each(['', 'hello', '[]', 'null', '{}', '{"jsonrpc":"1.0","id":1,"result":{}}', '{"id":1'])(
    'is left out when it is none: %s',
    (text) => {
      expect(messageIn(text)).toBeUndefined();
    },
  );

  it('fails the request that it answers when it cannot be taken', () => {
    const proto = '{"jsonrpc":"2.0","id":4,"result":{"__proto__":{}}}';
    const deep = `{"jsonrpc":"2.0","id":"d","result":{"a":${'['.repeat(900)}${']'.repeat(900)}}}`;
    expect(messageIn(proto)).toMatchObject(failed(4));
    expect(messageIn(deep)).toMatchObject(failed('d'));
    for (const more of [{}, { result: 1 }, { result: null }, { error: 'no' }, { error: {} }]) {
      expect(messageOf({ jsonrpc: '2.0', id: 5, ...more })).toMatchObject(failed(5));
    }
  });

  it('is no answer to anything when it is a request that cannot be taken', () => {
    const text = '{"jsonrpc":"2.0","id":4,"method":"x","params":{"__proto__":{}}}';
    expect(messageIn(text)).toBeUndefined();
  });
});
