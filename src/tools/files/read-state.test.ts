import { describe, expect, it } from 'vitest';
import { createReadState, isSameVersion, unhashedVersion, versionOf } from './read-state.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const stat = { mtimeMs: 1, size: 3 };

describe('read state', () => {
  it('remembers the last version of each file', () => {
    const state = createReadState();
    state.note('/a', versionOf(stat, bytes('abc')));
    expect(state.get('/a')).toEqual({
      mtimeMs: 1,
      size: 3,
      hash: expect.stringMatching(/^[0-9a-f]{40}$/),
      whole: true,
    });
    expect(state.get('/b')).toBeUndefined();
    expect(state.get('constructor')).toBeUndefined();
  });

  it('adds parts of one content up to the whole', () => {
    const state = createReadState();
    const part = (from: number, to: number) =>
      versionOf(stat, bytes('abc'), { part: { from, to, total: 30 } });
    state.note('/a', part(1, 10));
    state.note('/a', part(21, 30));
    expect(state.get('/a')?.whole).toBe(false);
    state.note('/a', part(11, 20));
    expect(state.get('/a')?.whole).toBe(true);
    state.note('/a', part(5, 6));
    expect(state.get('/a')?.whole).toBe(true);
  });

  it('forgets parts of an older content', () => {
    const state = createReadState();
    state.note('/a', versionOf(stat, bytes('abc'), { part: { from: 1, to: 10, total: 20 } }));
    state.note('/a', versionOf(stat, bytes('xyz'), { part: { from: 11, to: 20, total: 20 } }));
    expect(state.get('/a')?.whole).toBe(false);
  });

  it('is copied for a subagent, and the copies go separate ways', () => {
    const parent = createReadState();
    parent.note('/a', versionOf(stat, bytes('abc')));
    const child = parent.clone();
    child.note('/b', versionOf(stat, bytes('abc')));
    expect(child.get('/a')).toEqual(parent.get('/a'));
    expect(parent.get('/b')).toBeUndefined();
  });

  it('goes by content where it is known, by time and size where not', () => {
    const seen = versionOf(stat, bytes('abc'));
    expect(isSameVersion(seen, { stat: { mtimeMs: 9, size: 3 }, bytes: bytes('abc') })).toBe(true);
    expect(isSameVersion(seen, { stat, bytes: bytes('abd') })).toBe(false);
    const large = unhashedVersion(stat);
    expect(isSameVersion(large, { stat, bytes: bytes('abc') })).toBe(true);
    expect(isSameVersion(large, { stat: { mtimeMs: 2, size: 3 }, bytes: bytes('abc') })).toBe(
      false,
    );
  });
});
