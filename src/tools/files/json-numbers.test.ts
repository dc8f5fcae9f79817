import { describe, expect, it } from 'vitest';
import { numberThatWouldChange } from './notebook.js';

describe('numberThatWouldChange', () => {
  it('finds numbers that a double cannot hold', () => {
    expect(numberThatWouldChange('{"a":[1, 12345678901234567890]}')).toBe('12345678901234567890');
    expect(numberThatWouldChange('{"a":-1e400}')).toBe('-1e400');
    expect(numberThatWouldChange('9007199254740993')).toBe('9007199254740993');
  });

  it('lets pass what stays the same number, however it is spelled', () => {
    for (const number of [
      '0',
      '-1',
      '1.0',
      '0.1',
      '1e3',
      '9007199254740992',
      '1.7976931348623157e308',
    ]) {
      expect(numberThatWouldChange(`[${number}]`)).toBeUndefined();
    }
  });

  it('does not look into strings', () => {
    const text = JSON.stringify({ a: 'id 12345678901234567890', b: '\\" 1e400 \\\\', c: 1 });
    expect(numberThatWouldChange(text)).toBeUndefined();
    expect(numberThatWouldChange(`{"a\\\\":1e400}`)).toBe('1e400');
  });
});
