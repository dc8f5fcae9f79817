import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EntryContext, parseEntry } from './entry.js';

const ref = (inner: string): string => ['$', '{', inner, '}'].join('');
const context: EntryContext = { scope: 'user', variables: { A: 'one' }, ofHost: false };
const read = (raw: unknown, more: Partial<EntryContext> = {}) =>
  parseEntry(raw, { ...context, ...more });
const reason = (raw: unknown, more: Partial<EntryContext> = {}): string => {
  const done = read(raw, more);
  return done.ok ? '' : done.reason;
};
const warned = (raw: unknown): string =>
  read(raw)
    .warnings.map(({ message }) => message)
    .join('\n');

describe('entries', () => {
  it('may carry words for people, which are no news', () => {
    const words = { description: 'd', name: 'n', version: '1', tags: ['t'], _comment: 'c' };
    expect(warned({ command: 'x', ...words })).toBe('');
    expect(warned({ type: 'http', url: 'http://127.0.0.1/', ...words })).toBe('');
    expect(warned({ command: 'x', autoApprove: ['all'] })).toContain('`autoApprove`');
  });

  it('are programs unless they say otherwise', () => {
    expect(read({ command: 'x' })).toMatchObject({
      ok: true,
      entry: { type: 'stdio', command: 'x', args: [], env: {} },
    });
    expect(
      read({
        command: ref('A'),
        args: [ref('A'), ref('B:-two')],
        env: { E: `${ref('A')}!` },
        timeout: 2000,
        alwaysLoad: true,
      }),
    ).toMatchObject({
      entry: {
        command: 'one',
        args: ['one', 'two'],
        env: { E: 'one!' },
        timeout: 2000,
        alwaysLoad: true,
      },
    });
  });

  it('may be addresses', () => {
    const oauth = { clientId: 'c', callbackPort: 8080, scopes: 'a b' };
    expect(
      read({
        type: 'streamable-http',
        url: 'https://a.invalid/',
        headers: { 'X-A': ref('A') },
        headersHelper: './h.sh',
        oauth,
      }),
    ).toMatchObject({
      ok: true,
      entry: {
        type: 'http',
        url: 'https://a.invalid/',
        headers: { 'X-A': 'one' },
        headersHelper: './h.sh',
        oauth,
      },
    });
    expect(read({ type: 'ws', url: 'wss://a.invalid/' })).toMatchObject({ ok: true });
    expect(read({ type: 'http', url: '' })).toMatchObject({ idle: { kind: 'not-configured' } });
    expect(read({ type: 'http', url: ref('U:-') })).toMatchObject({
      idle: { kind: 'not-configured' },
    });
  });

  it('of an account want an address and a token', () => {
    const proxy = { type: 'claudeai-proxy', url: 'https://a.invalid/', id: 'x' };
    expect(read(proxy)).toMatchObject({
      entry: { type: 'proxy' },
      idle: { kind: 'not-configured' },
    });
    expect(read({ type: 'claudeai-proxy' })).toMatchObject({ idle: { kind: 'not-configured' } });
    const ready = read({ ...proxy, headers: { authorization: 'Bearer x' } });
    expect([ready.ok, 'idle' in ready]).toEqual([true, false]);
  });

  it.each([
    [[], 'not an object'],
    [null, 'not an object'],
    [{}, 'no `command`'],
    [{ command: 1 }, '`command` must be text'],
    [{ command: ' ' }, 'empty'],
    [{ command: 'x', args: 'y' }, '`args`'],
    [{ command: 'x', args: [1] }, '`args.0`'],
    [{ command: 'x', env: { P: 1 } }, '`env.P`'],
    [{ command: 'x', env: { 'A=B': '1' } }, 'A=B'],
    [{ command: 'x\0y' }, 'cannot be passed on'],
    [{ command: ref('NONE') }, `${ref('NONE')} has no value (in \`command\`)`],
    [
      { command: 'x', args: ['y', ref('NONE')], env: { B: ref('TOO') } },
      'have no value (in `args.1`)',
    ],
    [{ url: 'https://a.invalid' }, 'no `type`'],
    [{ url: 'https://a.invalid', command: 'x' }, 'both'],
    [{ type: 'http', command: 'x', url: 'https://a.invalid' }, 'no `command`'],
    [{ type: 'htttp', url: 'x' }, 'did you mean "http"'],
    [{ type: 'HTTP', url: 'x' }, 'not known'],
    [{ type: 'constructor' }, 'not known'],
    [{ type: 1 }, '`type` must be text'],
    [{ type: 'http' }, 'no `url`'],
    [{ type: 'http', url: 'a.invalid' }, 'not an address'],
    [{ type: 'http', url: 'file:///etc/passwd' }, 'begin with http'],
    [{ type: 'ws', url: 'https://a.invalid' }, 'begin with ws'],
    [{ type: 'http', url: 'https://a.invalid@evil.invalid/' }, 'user or password'],
    [{ type: 'http', url: 'https://a.invalid', headers: { 'A B': 'x' } }, 'no name of a header'],
    [{ type: 'http', url: 'https://a.invalid', headers: { A: 'x\r\nB: y' } }, 'line break'],
    [{ type: 'http', url: 'https://a.invalid', oauth: { callbackPort: 0 } }, 'callbackPort'],
    [{ type: 'sdk', name: 'x' }, 'host'],
    [{ command: 'x', timeout: '5' }, '`timeout`'],
  ])('%j cannot be used', (raw, words) => {
    expect(reason(raw)).toContain(words);
  });

  it('that say so are not used, in whichever spelling', () => {
    for (const more of [
      { disabled: true },
      { disabled: 'yes' },
      { enabled: false },
      { enabled: 'no' },
    ])
      expect(read({ command: 'x', ...more })).toMatchObject({ idle: { kind: 'disabled' } });
    expect(read({ command: 'x', disabled: false, enabled: true })).not.toHaveProperty('idle');
  });

  it('are warned about where something would be lost', () => {
    expect(warned({ command: 'x ', args: [' y'] })).toMatch(/`command` begins or ends.*\n`args.0`/);
    expect(warned({ command: 'x', argz: [] })).toContain('`argz`');
    expect(warned({ command: 'x', timeout: 5 })).toContain('1000 ms');
    expect(warned({ type: 'http', url: 'https://a.invalid', tools: [{ name: 'x' }] })).toContain(
      'not enforced',
    );
    expect(warned({ command: 'x', args: [], env: {}, type: 'stdio' })).toBe('');
  });

  it('of a project get no keys by address', () => {
    const entry = { type: 'http', url: `https://a.invalid/${ref('ANTHROPIC_API_KEY:-x')}` };
    expect(reason(entry, { scope: 'project' })).toContain('ANTHROPIC_API_KEY');
    expect(reason(entry)).toBe('');
  });

  it('of any shape are read or refused with a reason, never thrown', () => {
    const field = fc.constantFrom(
      'type',
      'command',
      'args',
      'env',
      'url',
      'headers',
      'oauth',
      'timeout',
      'headersHelper',
      'disabled',
    );
    fc.assert(
      fc.property(
        fc.dictionary(
          field,
          fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('stdio', 'http', 'sse', 'ws')),
        ),
        (raw) => {
          const done = read(raw);
          expect(done.ok ? done.entry.type : done.reason).not.toBe('');
        },
      ),
    );
  });
});
