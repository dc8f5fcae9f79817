import { describe, expect, it } from 'vitest';
import { decodeText } from './text-file.js';

describe('decoding a text', () => {
  it.each<[string, Uint8Array, { text: string; bom: boolean; damaged: boolean }]>([
    ['plain', Buffer.from('a\nb'), { text: 'a\nb', bom: false, damaged: false }],
    ['empty', Buffer.alloc(0), { text: '', bom: false, damaged: false }],
    [
      'with other letters',
      Buffer.from('é €\u{1f600}'),
      { text: 'é €\u{1f600}', bom: false, damaged: false },
    ],
    ['behind a mark', Buffer.from('\ufeff\ufeffa'), { text: '\ufeffa', bom: true, damaged: false }],
    [
      'that holds the sign for what is not valid',
      Buffer.from('a\ufffdb'),
      { text: 'a\ufffdb', bom: false, damaged: false },
    ],
    [
      'that is not valid',
      Uint8Array.of(0x61, 0xc3, 0x28),
      { text: 'a\ufffd(', bom: false, damaged: true },
    ],
    [
      'that ends within a letter',
      Uint8Array.of(0x61, 0xe2, 0x82),
      { text: 'a\ufffd', bom: false, damaged: true },
    ],
  ])('%s', (_name, bytes, expected) => {
    expect(decodeText(bytes)).toEqual({ encoding: 'utf-8', ...expected });
  });

  it('takes the part of a buffer that it is given, and no more', () => {
    const all = Uint8Array.from(Buffer.from('[inner]'));
    expect(decodeText(all.subarray(1, 6))?.text).toBe('inner');
  });
});
