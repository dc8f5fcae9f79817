import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileNameFor } from './file-name.js';

describe('fileNameFor', () => {
  it('leaves ordinary ids alone', () => {
    const id = '3f2c1a9e-0000-4000-8000-1234567890ab';
    expect(fileNameFor(id)).toBe(id);
  });

  it.each([
    ['../../etc/passwd', '..%2F..%2Fetc%2Fpasswd'],
    ['..', '_..'],
    ['', '_'],
    ['a\\b:c', 'a%5Cb%3Ac'],
    ['a*b', 'a%2Ab'],
    ['a\0b', 'a%00b'],
    ['\ud800', '_'],
  ])('makes %j safe', (id, name) => {
    expect(fileNameFor(id)).toBe(name);
  });

  it('never gives a separator and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (id) => {
        expect(fileNameFor(id)).toMatch(/^[\w.%!~'()-]+$/);
      }),
    );
  });
});
