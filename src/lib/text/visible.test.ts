import { describe, expect, it } from 'vitest';
import { hasInvisible, visible, visibleText } from './visible.js';

describe('text of others on a terminal', () => {
  it.each([
    ['plain words, ünd 漢字 🙂', 'plain words, ünd 漢字 🙂'],
    ['a\u001b[2Kb', 'a\\u001b[2Kb'],
    ['a\r\nb\tc', 'a\\r\\nb\\tc'],
    ['a\u0000b\u007fc\u009bd', 'a\\u0000b\\u007fc\\u009bd'],
    ['rm \u202ex\u2066', 'rm \\u202ex\\u2066'],
    ['zero\u200bwidth\ufeff', 'zero\\u200bwidth\\ufeff'],
    ['a\u00a0b\u2028c', 'a\\u00a0b\\u2028c'],
    ['tag\u{e0041}', 'tag\\u{e0041}'],
    ['join\u034f\u17b4\u2065\ufff0', 'join\\u034f\\u17b4\\u2065\\ufff0'],
    ['lone \ud800', 'lone \\ud800'],
    [`ls${' '.repeat(200)}; rm`, 'ls⟨200 spaces⟩; rm'],
  ])('%j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });
});

describe('text with something that no person sees', () => {
  it.each(['a\u200bb', 'a\u00adb', 'a\u034fb', 'a\u3164b', 'a\u202eb', 'a\u2028b', 'a\u{e0041}b'])(
    'is told from others: %j',
    (text) => expect(hasInvisible(text)).toBe(true),
  );
  it.each(['plain', 'ünd 漢字 🙂', 'I ❤️ it', 'a\u00a0b', 'a\tb\n'])('is not %j', (text) =>
    expect(hasInvisible(text)).toBe(false),
  );
});

describe('text of many lines on a terminal', () => {
  it('keeps lines, tabs and blanks, and shows everything else that is invisible as its code', () => {
    const patch = '+\tif (x) {        // far\r\n \u001b]0;T\u0007\u009b2J\u202ea\rb\n';
    expect(visibleText(patch)).toBe(
      '+\tif (x) {        // far\r\n \\u001b]0;T\\u0007\\u009b2J\\u202ea\\u000db\n',
    );
  });
});
