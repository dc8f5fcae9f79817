import { describe, expect, it } from 'vitest';
import { isSafeValue, readCallResult } from './results.js';

const nested = (levels: number): unknown =>
  JSON.parse(`${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`);

describe('a value of a remote server', () => {
  it('is handed on when it is nested like what people and programs write', () => {
    for (const value of [undefined, null, 1, 'x', [], {}, { a: [{ b: null }] }, nested(100)]) {
      expect(isSafeValue(value)).toBe(true);
    }
  });

  it('is not when it could overflow a stack', () => {
    expect(isSafeValue(nested(500))).toBe(true);
    expect(isSafeValue(nested(502))).toBe(false);
    expect(isSafeValue(nested(200_000))).toBe(false);
  });

  it('is not when a key could reach a prototype', () => {
    expect(isSafeValue(JSON.parse('{"a":[{"__proto__":{"polluted":true}}]}'))).toBe(false);
    expect(isSafeValue({ constructor: { prototype: {} } })).toBe(true);
  });
});

describe('the result of a call', () => {
  it.each([
    {},
    { content: [] },
    { content: null },
    { isError: true },
    { _meta: {}, resultType: 'complete' },
    { structuredContent: { a: 1 }, more: 1 },
    { content: [{ type: 'text', text: 'x' }], more: 1 },
  ])('is one: %j', (value) => {
    expect(readCallResult(value)).toBeDefined();
  });

  it.each([
    { task: { taskId: '1', status: 'working' } },
    { toolResult: 'of the oldest revision' },
    { resultType: 'input_required', inputRequests: {} },
    { resultType: 'later', content: [] },
    { contents: [] },
    { content: 'text' },
    { content: [null] },
  ])('is not taken for an empty one: %j', (value) => {
    expect(readCallResult(value)).toBeUndefined();
  });
});
