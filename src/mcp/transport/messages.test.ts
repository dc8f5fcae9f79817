import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { messageOf, messagesIn } from './messages.js';

const messageIn = (text: string) => messagesIn(text)[0];

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

  it('is taken without the members that the protocol does not know', () => {
    const extra = { foo: 1, bar: null };
    for (const sound of [
      { jsonrpc: '2.0', id: 1, result: { content: [], more: 2, _meta: {} } },
      { jsonrpc: '2.0', id: 'a', error: { code: 1, message: 'x', data: [1] } },
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', id: 3, method: 'roots/list', params: { a: 1 } },
    ]) {
      const taken = messageIn(JSON.stringify({ ...sound, ...extra }));
      expect(taken).toEqual(sound);
      expect(parseJSONRPCMessage(taken)).toEqual(sound);
    }
  });

  it('may have null for a member that is left out', () => {
    const answer = { jsonrpc: '2.0', id: 1, result: {} };
    expect(messageOf({ ...answer, error: null, method: null })).toEqual(answer);
    const failure = { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } };
    expect(messageOf({ ...failure, result: null })).toEqual(failure);
    const notification = { jsonrpc: '2.0', method: 'notifications/progress' };
    expect(messageOf({ ...notification, id: null, params: null })).toEqual(notification);
  });

  it.each([
    ['a result and an error', { result: {}, error: { code: 1, message: 'x' } }],
    ['a result and half an error', { result: {}, error: {} }],
    ['a result and a method', { result: {}, method: 'ping' }],
    ['a number for _meta', { result: { _meta: 5 } }],
    ['a list for _meta', { result: { _meta: [] } }],
    ['null for _meta', { result: { _meta: null } }],
    ['a code that is too large', { error: { code: 1e300, message: 'x' } }],
  ])('fails the request that it answers at once when it has %s', (_what, more) => {
    const failure = messageOf({ jsonrpc: '2.0', id: 7, ...more });
    expect(failure).toMatchObject(failed(7));
    expect(parseJSONRPCMessage(failure)).toEqual(failure);
  });

  it('is no answer to anything when it is a request that cannot be taken', () => {
    const text = '{"jsonrpc":"2.0","id":4,"method":"x","params":{"__proto__":{}}}';
    expect(messageIn(text)).toBeUndefined();
  });
});
