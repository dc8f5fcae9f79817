import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainDelta } from './anthropic-delta.js';

const written = (index: unknown, delta: Record<string, unknown>): string =>
  JSON.stringify({ type: 'content_block_delta', index, delta });

/** What it is by the long way; undefined: no JSON. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

describe('a piece of a block as servers write it', () => {
  it('is what a parse of the whole says', () => {
    const deltas = fc.oneof(
      fc.record({ type: fc.constant('text_delta'), text: fc.string({ unit: 'binary' }) }),
      fc.record({ type: fc.constant('thinking_delta'), thinking: fc.string() }),
      fc.record({ type: fc.constant('input_json_delta'), partial_json: fc.json() }),
    );
    fc.assert(
      fc.property(fc.nat(999), deltas, (index, delta) => {
        const data = written(index, delta);
        expect(plainDelta(data)).toEqual(JSON.parse(data));
        expect(Object.keys(plainDelta(data) ?? {})).toEqual(['type', 'index', 'delta']);
      }),
    );
  });

  it.each([
    ['another kind of event', '{"type":"ping"}'],
    ['another kind of delta', written(0, { type: 'signature_delta', signature: 'x' })],
    ['text that is none', written(0, { type: 'text_delta', text: 5 })],
    ['no text', written(0, { type: 'text_delta', text: null })],
    ['more in the delta', written(0, { type: 'text_delta', text: 'a', more: 'b' })],
    ['another order', '{"index":0,"type":"content_block_delta"}'],
    ['blanks', written(0, { type: 'text_delta', text: 'a' }).replaceAll(',', ', ')],
    ['no index', written('0', { type: 'text_delta', text: 'a' })],
    ['a negative index', written(-1, { type: 'text_delta', text: 'a' })],
    ['a broken index', written(0.5, { type: 'text_delta', text: 'a' })],
    ['a huge index', written(12_345, { type: 'text_delta', text: 'a' })],
    ['more behind', `${written(0, { type: 'text_delta', text: 'a' })}}}`],
    [
      'a text that is cut',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a}}',
    ],
    ['leading zeros', written(7, { type: 'text_delta', text: 'a' }).replace('7', '07')],
    [
      'an index in digits of sixteen',
      written(7, { type: 'text_delta', text: 'a' }).replace('7', '0x7'),
    ],
    [
      'a line end in the text',
      written(0, { type: 'text_delta', text: 'a' }).replace('"a"', '"\n"'),
    ],
  ])('is left to the parser where it is otherwise: %s', (_, data) => {
    expect(plainDelta(data)).toBeUndefined();
  });

  it('is never anything that the parser would say differently, however it is spoilt', () => {
    const base = written(3, { type: 'text_delta', text: 'say "}}" \\ and more' });
    fc.assert(
      fc.property(
        fc.nat(base.length),
        fc.nat(6),
        fc.constantFrom('', '"', '}', '}}', '\\', ',', '0', ' ', '"text":"', '\n'),
        (at, length, instead) => {
          const data = base.slice(0, at) + instead + base.slice(at + length);
          const plain = plainDelta(data);
          if (plain !== undefined) expect(plain).toEqual(parsed(data));
        },
      ),
      { numRuns: 500 },
    );
  });
});
