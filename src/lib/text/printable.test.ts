import { describe, expect, it } from 'vitest';
import { printable } from './printable.js';

describe('printable', () => {
  it('keeps text, tabs and newlines', () => {
    expect(printable('a\tb\nc ü 世界 🎉')).toBe('a\tb\nc ü 世界 🎉');
  });

  it('takes away what steers a terminal', () => {
    expect(printable('\u001b]0;title\u0007\u001b[2Jx\r\b\u009b31m\u007f\0')).toBe(
      ']0;title[2Jx31m',
    );
  });

  it('takes away what turns text around', () => {
    expect(printable('rm \u202eelif-live\u202c \u2066a\u2069\u200f')).toBe('rm elif-live a');
  });
});
