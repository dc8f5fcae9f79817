import { describe, expect, it } from 'vitest';
import type { CheckpointNote } from '../checkpoint/types.js';
import { targetOf } from './rewind-target.js';

const point = (messageId: string): CheckpointNote => ({
  messageId,
  at: 0,
  title: messageId,
  complete: true,
  gaps: [],
});
const listed = { points: [point('7abc'), point('1234'), point('9aaa')], listedBy: '/rewind' };
const goTo = (word: string): unknown => targetOf(word, {}, listed);

describe('the point that a person names', () => {
  it.each([
    ['1', '9aaa'],
    ['3', '7abc'],
    ['7a', '7abc'],
    ['7abc', '7abc'],
  ])('%s is %s', (word, messageId) => {
    expect(goTo(word)).toEqual({ kind: 'message', messageId });
  });

  it.each(['0', '4', '7', '1234', ''])('%s is none', (word) => {
    expect(() => goTo(word)).toThrow(/there is no point|stands for/);
  });
});
