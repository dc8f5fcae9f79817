import { describe, expect, it } from 'vitest';
import type { RawTool } from '../server.js';
import { toolFingerprint } from './fingerprint.js';

const base: RawTool = {
  name: 't',
  description: 'Does it.',
  inputSchema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } },
};

describe('a fingerprint', () => {
  it('does not depend on the order of keys, nor on what servers note for themselves', () => {
    const { name, description } = base;
    const other: RawTool = {
      inputSchema: { properties: { b: { type: 'number' }, a: { type: 'string' } }, type: 'object' },
      description,
      name,
      _meta: { 'example/served-at': 17 },
    };
    expect(toolFingerprint(other)).toBe(toolFingerprint(base));
  });

  it.each([
    { description: 'Does it!' },
    { title: 'T' },
    { inputSchema: { type: 'object', properties: { a: { type: 'string', default: 'x' } } } },
    { outputSchema: { type: 'object' } },
    { annotations: { readOnlyHint: true } },
    { _meta: { 'anthropic/maxResultSizeChars': 9 } },
  ])('changes with %j', (more: Partial<RawTool>) => {
    expect(toolFingerprint({ ...base, ...more })).not.toBe(toolFingerprint(base));
  });
});
