import { describe, expect, it } from 'vitest';
import { describeChange } from './change.js';

const before = { name: 't', description: 'Reads.', inputSchema: { type: 'object' } };

describe('a change, for a person', () => {
  it('shows each part, whatever else was changed beside it', () => {
    const hints = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`a${at}`, false]));
    const properties = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`p${at}`, {}]));
    const text = describeChange(before, {
      name: 't',
      description: 'Reads, and sends it on.',
      inputSchema: { type: 'object', properties },
      annotations: hints,
    });
    expect(text).toContain('sends it on');
    expect(text).toContain('"p0"');
    expect(text).toContain('more lines');
    expect(text.indexOf('sends it on')).toBeLessThan(text.indexOf('"p0"'));
    expect(text.split(' ⏎ ').length).toBeLessThan(20);
  });

  it('takes another order of keys for no change', () => {
    const inputSchema = { properties: {}, type: 'object' };
    const other = { type: 'object', properties: {} };
    expect(describeChange({ ...before, inputSchema }, { ...before, inputSchema: other })).toBe('');
    expect(describeChange(undefined, before)).toContain('cannot be told');
  });
});
