import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { learnSecrets } from '../util/redact.js';
import { Envelope, LinkedEntry, type OwnFields, plainLine } from './linked-entry.js';
import { createMemoryStore } from './memory-store.js';
import { mirrored } from './mirror.js';
import { MAX_INLINE_PAYLOAD, serialiseLine } from './payload.js';

const SECRET = `ghp_${'a1B2'.repeat(9)}`;
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  // Halves of characters, line ends of scripts, quotes, and what looks like the beginning of a field.
  fc.constantFrom('\ud83d', '\u2028"\\', '","type":"user"', '/p', 'the token is', SECRET, ''),
  fc.uuid(),
);
const envelope = fc.record(
  {
    isSidechain: fc.boolean(),
    agentId: text,
    userType: fc.constant('external' as const),
    cwd: text,
    sessionId: text,
    version: text,
    gitBranch: text,
    entrypoint: text,
  },
  { requiredKeys: ['isSidechain', 'userType', 'cwd', 'sessionId', 'version'] },
);
const base = { uuid: text, timestamp: text };
const own: fc.Arbitrary<OwnFields> = fc.oneof(
  fc.record({
    type: fc.constant('user' as const),
    ...base,
    message: fc.record({ role: fc.constant('user' as const), content: text }),
    toolUseResult: fc.oneof(fc.anything(), fc.jsonValue()),
  }),
  fc.record({
    type: fc.constant('attachment' as const),
    isMeta: fc.boolean(),
    ...base,
    attachment: fc.record({ type: text, more: fc.jsonValue() }),
  }),
  fc.record({
    type: fc.constant('system' as const),
    ...base,
    subtype: fc.constant('informational' as const),
    content: fc.oneof(text, fc.constant(undefined)) as fc.Arbitrary<string>,
  }),
);
const entry = fc.record({ parent: fc.option(text), envelope, own });

/** What comes of it, were it an error. */
function outcome(make: () => string): unknown {
  try {
    return make();
  } catch (thrown) {
    return String(thrown);
  }
}

const kept: string[] = [];
const spill = (json: string) => {
  kept.push(json);
  return { $ref: 'x', bytes: json.length, sha256: 'x' };
};
const line = (own: Partial<OwnFields>, common = {}, parent: string | null = null): LinkedEntry => {
  const fields = { isSidechain: false, userType: 'external', cwd: '/p', sessionId: 's' } as const;
  const rest = { type: 'user', uuid: 'u', timestamp: 't', message: { role: 'user', content: '' } };
  const whole = { ...rest, ...own } as OwnFields;
  return new LinkedEntry(parent, new Envelope({ ...fields, ...common }), whole);
};

describe('a linked entry', () => {
  it('is written byte for byte as the whole entry is, whatever stands in it', () => {
    fc.assert(
      fc.property(entry, ({ parent, envelope: fields, own }) => {
        const linked = new LinkedEntry(parent, new Envelope(fields), own);
        const whole = { parentUuid: parent, ...fields, ...own };
        expect(outcome(() => serialiseLine(linked, spill))).toBe(
          outcome(() => serialiseLine(whole, spill)),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('is the JSON of its fields in the order of the format', () => {
    fc.assert(
      fc.property(entry, ({ parent, envelope: fields, own }) => {
        const json = new LinkedEntry(parent, new Envelope(fields), own).cleanJson();
        if (json === undefined) return;
        expect(json).toBe(JSON.stringify({ parentUuid: parent, ...fields, ...own }));
      }),
    );
  });

  it('can be had as an object, as others are', () => {
    const linked = line({ uuid: 'u1' }, { agentId: 'a' }, 'u0');
    expect(plainLine(linked)).toStrictEqual({
      parentUuid: 'u0',
      isSidechain: false,
      userType: 'external',
      cwd: '/p',
      sessionId: 's',
      agentId: 'a',
      type: 'user',
      uuid: 'u1',
      timestamp: 't',
      message: { role: 'user', content: '' },
    });
    const other = { type: 'tag', tag: 'x', sessionId: 's' };
    expect(plainLine(other)).toBe(other);
  });

  it('is kept in memory and told to a host as an object', async () => {
    const told: unknown[] = [];
    const store = mirrored(createMemoryStore({ directory: '/none' }), (news) => {
      if (news.type === 'transcript') told.push(...news.lines);
    });
    const lines = [line({ uuid: 'u1' }), line({ uuid: 'u2' }, {}, 'u1')];
    store.append('s', lines);
    const whole = lines.map((one) => one.whole());
    expect(told).toStrictEqual(whole);
    expect((await store.read('s'))?.entries).toStrictEqual(whole);
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
    expect(linked.cleanJson()).toBeUndefined();
    const written = serialiseLine(linked, spill);
    expect(written).not.toContain(SECRET);
    expect(JSON.parse(written)).toMatchObject({ type: 'user', timestamp: 't' });
  });

  it('is searched again for what was learned since the last one', () => {
    const secret = 'learned-Later_77';
    const common = new Envelope({ sessionId: 's', cwd: `/src/${secret}`, userType: 'external' });
    const next = () => new LinkedEntry('u0', common, line({}).own);
    expect(serialiseLine(next(), spill)).toContain(secret);
    learnSecrets([secret]);
    expect(serialiseLine(next(), spill)).not.toContain(secret);
  });

  it('is searched with the name of its parent, unless that is the entry searched before it', () => {
    const common = new Envelope({ sessionId: 's', cwd: '/p', userType: 'external' });
    const next = (parent: string | null, uuid: string) =>
      serialiseLine(new LinkedEntry(parent, common, { ...line({}).own, uuid }), spill);
    expect(next(null, SECRET)).not.toContain(SECRET);
    expect(next(SECRET, 'u1')).not.toContain(SECRET);
    expect(next('u1', 'u2')).toContain('"parentUuid":"u1"');
    // A secret that was no secret yet when it became a name.
    const secret = 'learned-Later_88';
    expect(next('u2', secret)).toContain(secret);
    learnSecrets([secret]);
    expect(next(secret, 'u3')).not.toContain(secret);
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
