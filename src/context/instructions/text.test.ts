import { describe, expect, it } from 'vitest';
import { firstLines, withoutBlockComments, withoutHidden } from './text.js';

describe('comments', () => {
  it.each([
    ['TOP\n<!-- a -->\nEND', 'TOP\nEND'],
    ['TOP\n<!--\na\n-->\nEND', 'TOP\nEND'],
    ['<!-- a --><!-- b -->\nEND', 'END'],
    ['<!-- a --> rest', ' rest'],
    ['  <!-- a\nb --> rest\nEND', ' rest\nEND'],
    ['<!-->\nEND', 'END'],
    ['- item\n\n  <!-- a -->\n  text', '- item\n\n  text'],
  ])('that begin a line are taken out: %j', (text, expected) => {
    expect(withoutBlockComments(text)).toBe(expected);
  });

  it.each([
    'text <!-- inline --> more',
    '```\n<!-- a -->\n```',
    '~~~\n<!--\n-->\n~~~',
    'x\n\n    <!-- indented -->',
    'END\n<!-- open',
    'END\n<!-- open\n```\n<!-- x\n```',
  ])('elsewhere stay: %j', (text) => {
    expect(withoutBlockComments(text)).toBe(text);
  });

  it('are one comment up to their end, whatever they hold', () => {
    expect(withoutBlockComments('<!--\n```\n-->\nA\n<!-- b -->\nC')).toBe('A\nC');
  });
});

describe('what cannot be seen', () => {
  it.each([
    ['Use tabs.\u{e0061}\u{e0064}\u200b\u200b evil', 'Use tabs. evil', 4],
    ['a\u202eb\u2066c\u2069', 'abc', 3],
    ['a\u200d\u200cb', 'ab', 2],
    ['a\u0000\u001b[2Jb\u009b', 'a[2Jb', 3],
    ['x\ufe0f\ufe00y', 'xy', 2],
    ['\ufeffx\u00ad', 'x', 2],
    ['é\u{e0100}', 'é', 1],
  ])('is taken out and counted: %j', (text, expected, removed) => {
    expect(withoutHidden(text)).toEqual({ text: expected, removed });
  });

  it.each(['plain\ttext\n', 'Ünïcode 日本語', '👨‍👩‍👧 ❤️‍🔥 1️⃣ ⚠️', 'می‌خواهم', 'क्‍ष'])(
    'is not what scripts and pictures need: %s',
    (text) => {
      expect(withoutHidden(text)).toEqual({ text, removed: 0 });
    },
  );
});

describe('the first lines', () => {
  const most = { lines: 3, bytes: 20 };
  it('are all of a short text', () => {
    expect(firstLines('a\nb\nc\n', most)).toEqual({ text: 'a\nb\nc\n' });
    expect(firstLines('x'.repeat(20), most)).toEqual({ text: 'x'.repeat(20) });
  });

  it('are cut by number and by size, with a note', () => {
    expect(firstLines('a\nb\nc\nd', most)).toEqual({
      text: 'a\nb\nc',
      note: 'only the first 3 of 4 lines are shown; keep it shorter',
    });
    expect(firstLines('ää\n0123456789abcdefgh', most).text).toBe('ää');
    expect(firstLines('x'.repeat(21), most)).toEqual({
      text: '',
      note: 'its first line is longer than 20 bytes; keep it shorter',
    });
  });
});
