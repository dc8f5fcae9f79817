import { describe, expect, it } from 'vitest';
import type { Message } from '../protocol/content.js';
import { ConversationBytes, type ConversationView } from './conversation-bytes.js';

function user(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function shown({ bytes, size }: ConversationView): string {
  return Buffer.from(bytes.subarray(0, size)).toString('utf8');
}

function counting() {
  const encoded: Message[] = [];
  const bytes = new ConversationBytes((message) => {
    encoded.push(message);
    return { text: JSON.stringify(message.content), behindMark: 0 };
  });
  const textOf = (messages: readonly Message[]): string => shown(bytes.view(messages));
  return { bytes, encoded, textOf };
}

const expected = (messages: readonly Message[]): string =>
  messages.map(({ content }) => JSON.stringify(content)).join(',');

describe('ConversationBytes', () => {
  it('encodes each message of many conversations once, whichever goes on', () => {
    const { encoded, textOf } = counting();
    const conversations = Array.from({ length: 200 }, (_, index) => [user(`start ${index}`)]);
    for (let turn = 0; turn < 3; turn++) {
      for (const messages of conversations.toReversed()) {
        messages.push(user(`turn ${turn}`));
        expect(textOf(messages)).toBe(expected(messages));
      }
    }
    expect(encoded.length).toBe(200 * 4);
  });

  it('goes on with the longest of several that begin alike', () => {
    const { encoded, textOf } = counting();
    const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(user) as [
      Message,
      Message,
      Message,
      Message,
      Message,
    ];
    textOf([a, b]);
    textOf([a, c, d]);
    textOf([a, b, e]);
    expect(encoded).toEqual([a, b, c, d, e]);
    expect(textOf([a, c, d, e])).toBe(expected([a, c, d, e]));
    expect(textOf([a, b, e, d])).toBe(expected([a, b, e, d]));
    expect(encoded.length).toBe(7);
  });

  it('copies what is common where a history goes another way', () => {
    const { bytes, encoded, textOf } = counting();
    const [a, b, c] = ['a', 'b', 'c'].map(user) as [Message, Message, Message];
    const first = bytes.view([a, b]);
    expect(textOf([a, c])).toBe(expected([a, c]));
    expect(shown(first)).toBe(expected([a, b]));
    expect(encoded).toEqual([a, b, c]);
  });

  it('forgets the one that was not used for longest, and encodes it anew', () => {
    const { encoded, textOf } = counting();
    const old = [user('old')];
    const used = [user('used')];
    textOf(old);
    textOf(used);
    for (let index = 0; index < 255; index++) {
      textOf([user(`other ${index}`)]);
      textOf(used);
    }
    const before = encoded.length;
    expect(textOf(used)).toBe(expected(used));
    expect(encoded.length).toBe(before);
    expect(textOf(old)).toBe(expected(old));
    expect(encoded.length).toBe(before + 1);
  });

  it('takes a history without any message', () => {
    const { textOf } = counting();
    expect(textOf([])).toBe('');
    expect(textOf([])).toBe('');
  });
});
