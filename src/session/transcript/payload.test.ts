import { describe, expect, it } from 'vitest';
import { learnSecrets } from '../../lib/text/redact.js';
import type { TranscriptEntry, UserEntry } from '../../protocol/transcript.js';
import { createMemoryStore } from './memory-store.js';
import { mirrored } from './mirror.js';
import { MAX_INLINE_PAYLOAD, serialiseLine } from './payload.js';

const SECRET = `ghp_${'a1B2'.repeat(9)}`;
const kept: string[] = [];
const spill = (json: string) => {
  kept.push(json);
  return { $ref: 'x', bytes: json.length, sha256: 'x' };
};
const line = (own: Partial<UserEntry>, common = {}, parentUuid: string | null = null) =>
  ({
    parentUuid,
    isSidechain: false,
    userType: 'external',
    cwd: '/p',
    sessionId: 's',
    ...common,
    type: 'user',
    uuid: 'u',
    timestamp: 't',
    message: { role: 'user', content: '' },
    ...own,
  }) as TranscriptEntry;

describe('an entry', () => {
  it('is kept in memory and told to a host as it is', async () => {
    const told: unknown[] = [];
    const store = mirrored(createMemoryStore({ directory: '/none' }), (news) => {
      if (news.type === 'transcript') told.push(...news.lines);
    });
    const lines = [line({ uuid: 'u1' }), line({ uuid: 'u2' }, {}, 'u1')];
    store.append('s', lines);
    expect(told).toStrictEqual(lines);
    expect((await store.read('s'))?.entries).toStrictEqual(lines);
  });

  it('is told to a host without what is surely a secret, and without what is not JSON', () => {
    const told: unknown[] = [];
    const store = mirrored(createMemoryStore({ directory: '/none' }), (news) => {
      if (news.type === 'transcript') told.push(...news.lines);
    });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const message = { role: 'user', content: SECRET } as const;
    store.append('s', [line({ message }), line({ message, toolUseResult: circle })]);
    expect(told).toMatchObject([
      { type: 'user', message: { content: '[redacted]' } },
      { message: { content: '[redacted]' }, toolUseResult: { unrepresentable: expect.anything() } },
    ]);
    expect(JSON.stringify(told)).not.toContain(SECRET);
  });

  it.each([
    ['what it says', line({ message: { role: 'user', content: SECRET } })],
    ['its name', line({ uuid: SECRET })],
    ['the name of its parent', line({}, {}, SECRET)],
    ['its directory', line({}, { cwd: `/home/${SECRET}` })],
    ['its branch', line({}, { gitBranch: SECRET })],
  ])('loses what is surely a secret in %s', (_where, linked) => {
    const written = serialiseLine(linked, spill);
    expect(written).not.toContain(SECRET);
    expect(JSON.parse(written)).toMatchObject({ type: 'user', timestamp: 't' });
  });

  it('is searched for secrets that were learned since the last one', () => {
    const secret = 'learned-Later_77';
    const entry = line({}, { cwd: `/src/${secret}` });
    expect(serialiseLine(entry, spill)).toContain(secret);
    learnSecrets([secret]);
    expect(serialiseLine(entry, spill)).not.toContain(secret);
  });

  it('keeps a long output of a tool beside the transcript', () => {
    kept.length = 0;
    const toolUseResult = { stdout: 'x'.repeat(MAX_INLINE_PAYLOAD) };
    const written = serialiseLine(line({ toolUseResult }), spill);
    expect(JSON.parse(written).toolUseResult).toMatchObject({ $ref: 'x' });
    expect(kept).toEqual([JSON.stringify(toolUseResult)]);
  });

  it('says so where an output is not JSON', () => {
    const written = JSON.parse(serialiseLine(line({ toolUseResult: { big: 1n } }), spill));
    expect(written.toolUseResult).toHaveProperty('unrepresentable');
  });
});
