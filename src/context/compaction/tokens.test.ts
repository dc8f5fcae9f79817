import { describe, expect, it } from 'vitest';
import type { Message, Usage } from '../../protocol/content.js';
import { ZERO_USAGE } from '../../protocol/content.js';
import { createTokenMeter, estimateFixed, estimateMessages, estimateText } from './tokens.js';

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });
const usage = (input: number, output: number): Usage => ({
  ...ZERO_USAGE,
  input_tokens: input,
  cache_read_input_tokens: 5,
  cache_creation_input_tokens: 5,
  output_tokens: output,
});

describe('estimates', () => {
  it('go by the length in UTF-8', () => {
    expect(estimateText('')).toBe(0);
    expect(estimateText('abcd')).toBe(1);
    expect(estimateText('abcde')).toBe(2);
    for (const text of ['ü', '漢字', '😀', 'a😀ü漢']) {
      expect(estimateText(text.repeat(400))).toBe(
        Math.ceil(Buffer.byteLength(text.repeat(400)) / 4),
      );
    }
  });

  it('count every kind of block', () => {
    const data = 'A'.repeat(400_000);
    const base64 = { type: 'base64', media_type: 'x', data } as const;
    const of = (content: Message['content']): number =>
      estimateMessages([{ role: 'user', content } as Message]);
    expect(of([{ type: 'image', source: base64 }])).toBe(1604);
    expect(of([{ type: 'document', source: base64 }])).toBe(10_004);
    expect(of([{ type: 'document', source: { type: 'url', url: 'u' } }])).toBe(1604);
    expect(
      of([{ type: 'tool_use', id: 'i', name: 'T', input: { a: 'x'.repeat(300) } }]),
    ).toBeGreaterThan(100);
    expect(of([{ type: 'tool_result', tool_use_id: 'i', content: 'x'.repeat(400) }])).toBe(104);
    expect(
      of([
        {
          type: 'tool_result',
          tool_use_id: 'i',
          content: [
            { type: 'text', text: 'x'.repeat(400) },
            { type: 'image', source: base64 },
          ],
        },
      ]),
    ).toBe(1704);
    expect(of([{ type: 'thinking', thinking: 'x'.repeat(40), signature: data }])).toBe(14);
    expect(of([{ type: 'redacted_thinking', data: 'x'.repeat(40) }])).toBe(14);
  });

  it('count system prompt and tools', () => {
    const tool = { name: 'T', description: 'x'.repeat(3000), input_schema: {} };
    const fixed = estimateFixed({
      system: [{ type: 'text', text: 'x'.repeat(400) }],
      tools: [tool],
    });
    // What the whole list takes as JSON, each tool measured once.
    const tools = [1, 2, 3].map((n) => ({
      name: `tool ${n}`,
      description: 'ä'.repeat(n),
      input_schema: {},
    }));
    const bytes = Buffer.byteLength(JSON.stringify(tools));
    expect(estimateFixed({ system: [], tools })).toBe(Math.ceil(bytes / 3));
    expect(estimateFixed({ system: [], tools })).toBe(Math.ceil(bytes / 3));
    const frozen = Object.freeze([...tools]);
    expect(estimateFixed({ system: [], tools: frozen })).toBe(Math.ceil(bytes / 3));
    expect(estimateFixed({ system: [], tools: frozen })).toBe(Math.ceil(bytes / 3));
    expect(estimateFixed({ system: [], tools: [] })).toBe(1);
    // A list that may change is measured anew.
    const growing = [tool];
    const before = estimateFixed({ system: [], tools: growing });
    growing.push(tool);
    expect(estimateFixed({ system: [], tools: growing })).toBeGreaterThan(before);
    expect(fixed).toBeGreaterThan(1100);
    expect(fixed).toBeLessThan(1200);
  });
});

describe('the meter', () => {
  it('trusts the provider up to its last answer and estimates the rest', () => {
    const meter = createTokenMeter(100);
    const history = [user('x'.repeat(4000)), user('y'.repeat(4000))];
    expect(meter.used(history)).toBe(100 + 2 * 1004);
    meter.reported(usage(2098, 0), history);
    expect(meter.used(history)).toBe(2108);
    expect(meter.used([...history, user('z'.repeat(4000))])).toBe(2108 + 1004);
  });

  it('learns how far its estimates are off, within reason', () => {
    const meter = createTokenMeter(0);
    const history = [user('x'.repeat(4000))];
    meter.reported(usage(100_000, 0), history);
    expect(meter.used([...history, user('z'.repeat(4000))])).toBe(100_010 + 2008);
    const other = createTokenMeter(0);
    other.reported(usage(0, 0), history);
    expect(other.used([...history, user('z'.repeat(4000))])).toBe(10 + 502);
  });

  it('starts over when the history was replaced', () => {
    const meter = createTokenMeter(100);
    const history = [user('x'.repeat(4000)), user('y'.repeat(4000))];
    meter.reported(usage(4206, 0), history);
    expect(meter.used([user('summary!')])).toBe(Math.ceil((100 + 6) * 2));
  });

  it('adds up a history that grows as if it were counted anew each time', () => {
    const running = createTokenMeter(100);
    const history: Message[] = [];
    for (let turn = 1; turn <= 20; turn++) {
      history.push(user('x'.repeat(40 * turn)));
      running.reported(usage(1_000 * turn, 0), history);
      const afresh = createTokenMeter(100);
      afresh.reported(usage(1_000 * turn, 0), history);
      const next = [...history, user('z'.repeat(4000))];
      expect(running.used(next)).toBe(afresh.used(next));
    }
    // One message in the middle was exchanged for another.
    const other = [user('summary'), ...history.slice(1)];
    const afresh = createTokenMeter(100);
    running.reported(usage(9_000, 0), other);
    afresh.reported(usage(9_000, 0), other);
    expect(running.used([...other, user('z')])).toBe(afresh.used([...other, user('z')]));
  });

  it('counts a last message anew that another one was put in the place of', () => {
    const running = createTokenMeter(100);
    const history = [user('a'.repeat(400)), user('b'.repeat(800))];
    running.reported(usage(900, 0), history);
    running.used([...history, user('c'.repeat(1200))]);
    const afresh = createTokenMeter(100);
    afresh.reported(usage(900, 0), history);
    const merged = [...history, user('c'.repeat(4000))];
    expect(running.used(merged)).toBe(afresh.used(merged));
    expect(running.used(history)).toBe(910);
  });

  it('ignores a provider that counts nothing', () => {
    const meter = createTokenMeter(100);
    meter.reported(ZERO_USAGE, [user('x')]);
    expect(meter.used([user('x')])).toBe(105);
  });
});
