import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SettingSource, Sourced } from '../../lib/sourced.js';
import type { SettingValues } from '../../settings/types.js';
import type { McpEntry } from '../server.js';
import { blockedReason, readServerLists } from './server-lists.js';
import { urlFits, whyNeverMatches, wildcard } from './server-lists-url.js';

type Said = readonly (readonly [source: SettingSource, key: string, value: unknown])[];

function values(said: Said): SettingValues {
  const sourced = (key: string): Sourced<unknown>[] =>
    said
      .filter(([, name]) => name === key)
      .flatMap(([source, , value]) =>
        (Array.isArray(value) ? value : [value]).map((one) => ({
          value: one,
          source,
          trusted: true,
        })),
      );
  return {
    get: (key) => sourced(key)[0],
    list: sourced,
    said: sourced,
    has: (key, counts = () => true) =>
      said.some(([source, name]) => name === key && counts(source)),
  };
}

const stdio = (...words: string[]): McpEntry => ({
  type: 'stdio',
  command: words[0] ?? '',
  args: words.slice(1),
  env: {},
});
const http = (url: string): McpEntry => ({ type: 'http', url, headers: {} });
const sdk: McpEntry = { type: 'sdk' };

function isBlocked(
  said: Said,
  name: string,
  entry: McpEntry,
  env: Record<string, string> = {},
): boolean {
  return blockedReason(readServerLists(values(said), env).lists, { name, entry }) !== undefined;
}

const allow = (source: SettingSource, ...items: unknown[]) =>
  [source, 'allowedMcpServers', items] as const;
const deny = (source: SettingSource, ...items: unknown[]) =>
  [source, 'deniedMcpServers', items] as const;

describe('a command that is allowed', () => {
  const fence = [allow('managed', { serverCommand: ['git', 'mcp-ok'] })];
  const withEnv = (name: string): McpEntry => ({
    ...(stdio('git', 'mcp-ok') as McpEntry & { type: 'stdio' }),
    env: { [name]: '/evilbin' },
  });

  it.each([
    ...['PATH', 'Path', 'LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV', 'npm_config_registry', 'HOME'],
    ...['PYTHONPATH', 'UV_INDEX_URL', 'PIP_INDEX_URL', 'GIT_EXEC_PATH', 'DYLD_INSERT_LIBRARIES'],
    ...['HTTPS_PROXY', 'JAVA_TOOL_OPTIONS', 'DOCKER_HOST'],
  ])('is another one with %s', (name) => {
    expect(isBlocked(fence, 'g', withEnv(name))).toBe(true);
    expect(isBlocked([allow('user', { serverName: 'g' })], 'g', withEnv(name))).toBe(false);
    expect(isBlocked([], 'g', withEnv(name))).toBe(false);
  });

  it.each(['NODE_ENV', 'API_TOKEN', 'LOG_LEVEL', 'ANTHROPIC_API_KEY'])(
    'is the same with %s',
    (name) => {
      expect(isBlocked(fence, 'g', withEnv(name))).toBe(false);
    },
  );
});

describe('lists of servers', () => {
  it('have three states: no list, an empty one, one with items', () => {
    expect(isBlocked([], 'a', stdio('x'))).toBe(false);
    expect(isBlocked([allow('managed')], 'a', stdio('x'))).toBe(true);
    expect(isBlocked([allow('managed', { serverName: 'a' })], 'a', stdio('x'))).toBe(false);
    expect(isBlocked([allow('managed', { serverName: 'a' })], 'b', stdio('x'))).toBe(true);
    // Allow lists do not apply to in-process servers.
    expect(isBlocked([allow('managed')], 'a', sdk)).toBe(false);
    expect(isBlocked([deny('user', { serverName: 'A' })], 'a', sdk)).toBe(true);
  });

  it('want the stricter mark where a list has one of its kind', () => {
    const list = allow('managed', { serverName: 'a' }, { serverCommand: ['node', 's.js'] });
    expect(isBlocked([list], 'a', stdio('node', 's.js'))).toBe(false);
    expect(isBlocked([list], 'a', stdio('node', 's.js', '--x'))).toBe(true);
    expect(isBlocked([list], 'a', stdio('sh'))).toBe(true);
    expect(isBlocked([list], 'a', http('https://a.invalid'))).toBe(false);
    expect(
      isBlocked(
        [allow('managed', { serverUrl: 'https://a.invalid' })],
        'x',
        http('https://b.invalid/'),
      ),
    ).toBe(true);
  });

  it('add up, but what a project or a host allows only narrows', () => {
    const admin = allow('managed', { serverName: 'a' });
    expect(isBlocked([admin, allow('user', { serverName: 'b' })], 'b', stdio('x'))).toBe(false);
    expect(isBlocked([admin, allow('project', { serverName: 'b' })], 'b', stdio('x'))).toBe(true);
    expect(isBlocked([admin, allow('project', { serverName: 'b' })], 'a', stdio('x'))).toBe(true);
    expect(isBlocked([allow('sdk')], 'a', stdio('x'))).toBe(true);
    const only = ['managed', 'allowManagedMcpServersOnly', true] as const;
    expect(isBlocked([admin, only, allow('user', { serverName: 'b' })], 'b', stdio('x'))).toBe(
      true,
    );
    expect(isBlocked([admin, only], 'a', stdio('x'))).toBe(false);
  });

  it('still narrow where only those of the administrator allow', () => {
    const only = ['managed', 'allowManagedMcpServersOnly', true] as const;
    const admin = allow('managed', { serverName: 'a' }, { serverName: 'b' });
    for (const source of ['cli', 'user', 'sdk', 'local', 'project'] as const) {
      const said = [admin, only, allow(source, { serverName: 'b' })];
      expect(isBlocked(said, 'a', stdio('x'))).toBe(true);
      expect(isBlocked(said, 'b', stdio('x'))).toBe(false);
    }
    // A host's own settings may also restrict to managed lists.
    const host = allow('sdk', { serverName: 'a' });
    const ofHost = [host, ['sdk', 'allowManagedMcpServersOnly', true] as const];
    expect(isBlocked(ofHost, 'a', stdio('x'))).toBe(false);
    expect(isBlocked(ofHost, 'b', stdio('x'))).toBe(true);
    const loosened = ['managed', 'allowManagedMcpServersOnly', false] as const;
    const both = [loosened, ['sdk', 'allowManagedMcpServersOnly', true] as const];
    const lists = [allow('managed', { serverName: 'a' }), allow('user', { serverName: 'b' })];
    expect(isBlocked([loosened, ...lists], 'b', stdio('x'))).toBe(false);
    expect(isBlocked([...both, ...lists], 'b', stdio('x'))).toBe(true);
  });

  it('let nothing through where only those of the administrator allow, and there is none', () => {
    const only = ['managed', 'allowManagedMcpServersOnly', true] as const;
    const said = [only, allow('user', { serverName: 'a' })];
    expect(isBlocked(said, 'a', stdio('x'))).toBe(true);
    expect(readServerLists(values(said), {}).problems).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('there is no managed list') },
    ]);
  });

  it('are expanded, and one that cannot be is no hole', () => {
    const ref = ['$', '{', 'HOST', '}'].join('');
    const item = { serverUrl: `https://${ref}/*` };
    const env = { HOST: 'a.invalid' };
    expect(isBlocked([deny('managed', item)], 'x', http('https://a.invalid/m'), env)).toBe(true);
    expect(isBlocked([allow('managed', item)], 'x', http('https://a.invalid/m'), env)).toBe(false);
    expect(readServerLists(values([deny('managed', item)]), {}).problems).toMatchObject([
      { severity: 'fatal' },
    ]);
    const both = allow('managed', item, { serverName: 'x' });
    expect(readServerLists(values([both]), {}).problems).toMatchObject([{ severity: 'warning' }]);
    expect(isBlocked([both], 'x', http('https://a.invalid/m'))).toBe(true);
  });

  it('a deny wins, whatever allows and wherever it stands', () => {
    const source = fc.constantFrom<SettingSource>(
      'managed',
      'cli',
      'user',
      'local',
      'project',
      'sdk',
    );
    const item = fc.constantFrom<unknown>(
      { serverName: 'a' },
      { serverCommand: ['node', 's.js'] },
      { serverUrl: '*' },
    );
    const lists = fc.array(fc.tuple(source, fc.constant('allowedMcpServers'), fc.array(item)));
    fc.assert(
      fc.property(lists, source, fc.boolean(), (allowed, where, byName) => {
        const no = deny(where, byName ? { serverName: 'a' } : { serverCommand: ['node', 's.js'] });
        expect(isBlocked([...allowed, no], 'a', stdio('node', 's.js'))).toBe(true);
      }),
    );
  });
});

describe('patterns of addresses', () => {
  it.each([
    ['https://a.invalid/mcp', 'https://a.invalid/mcp', true, true],
    ['https://a.invalid/mcp', 'https://A.INVALID/mcp', true, true],
    ['https://A.invalid', 'https://a.invalid/any/path?q=1', true, true],
    ['https://a.invalid/mcp', 'https://a.invalid/MCP', false, false],
    ['https://*.a.invalid/*', 'https://b.a.invalid/x', true, true],
    ['https://*.a.invalid/*', 'https://evil.invalid/.a.invalid/x', false, false],
    ['https://*.a.invalid/*', 'https://a.invalid/x', false, false],
    ['https://a.invalid/*', 'https://a.invalid.evil.invalid/x', false, false],
    ['https://a.invalid/*', 'https://a.invalid@evil.invalid/x', false, false],
    ['https://a.invalid/*', 'https://a.invalid:8443/x', false, true],
    ['https://a.invalid:*/*', 'https://a.invalid:8443/x', true, true],
    ['https://a.invalid:443/*', 'https://a.invalid/x', true, true],
    ['https://a.invalid/*', 'http://a.invalid/x', false, false],
    ['https://a.invalid/*', 'wss://a.invalid/x', false, true],
    ['*://a.invalid/*', 'http://a.invalid/x', true, true],
    ['a.invalid', 'http://a.invalid/x', false, true],
    ['a.invalid', 'https://a.invalid/x', true, true],
    ['https://a.invalid/*', 'https://a.invalid./x', true, true],
    ['https://a.invalid/mcp', 'https://a.invalid/mcp?x=1', false, true],
    ['https://a.invalid/mcp', 'https://a.invalid/x/../mcp', true, true],
    ['https://a.invalid/mcp', 'https://a.invalid/%6dcp', false, true],
    ['http://127.0.0.1:*', 'http://2130706433:9/x', true, true],
    ['http://[::1]:9/*', 'http://[::1]:9/x', true, true],
    ['https://a.invalid/*', 'no address', false, false],
    ['*', 'https://a.invalid/', true, true],
    ['', 'https://a.invalid/', false, false],
  ])('%s · %s', (pattern, url, allows, refuses) => {
    expect([urlFits(pattern, url, false), urlFits(pattern, url, true)]).toEqual([allows, refuses]);
  });

  it.each([
    ['https://evil.example/', 'https://evil.example/any/path?q=1', false],
    ['https://evil.example/?', 'https://evil.example/mcp', false],
    ['https://evil.example/#top', 'https://evil.example/mcp', false],
    ['https://evil.example?*', 'https://evil.example/mcp', false],
    ['https://evil.example/?k=*', 'https://evil.example/mcp?k=1', false],
    ['https://evil.example/mcp', 'https://evil.example/mcp/', false],
    ['https://evil.example/mcp', 'https://evil.example//mcp', false],
    ['https://evil.example/mcp', 'https://evil.example/mcp/?x=1', false],
    ['https://evil.example/mcp?', 'https://evil.example/mcp', false],
    ['https://evil.example/mcp#x', 'https://evil.example/mcp', false],
    ['https://evil.example/mcp/', 'https://evil.example/mcp', false],
    ['https://evil.example/mcp/*', 'https://evil.example/mcp', false],
    ['https://evil.example/mcp/*', 'https://evil.example/mcp/', true],
    ['https://evil.example//mcp', 'https://evil.example/mcp', false],
    ['https://evil.example/x/../mcp', 'https://evil.example/mcp', false],
    ['https://evil.example/%6Dcp', 'https://evil.example/mcp', false],
    ['https://evil.example/%6Dcp', 'https://evil.example/%6dcp', false],
    ['https://evil.example/a%2fb', 'https://evil.example/a%2Fb', false],
    ['https:\\\\evil.example\\mcp', 'https://evil.example/mcp', false],
    ['https://2130706433/mcp', 'https://127.0.0.1/mcp', false],
    ['https://*.bücher.example/*', 'https://a.xn--bcher-kva.example/mcp', false],
    ['https://evil.example:0443/*', 'https://evil.example/mcp', false],
  ])('one that forbids reads other spellings as the same: %s · %s', (pattern, url, allows) => {
    expect(urlFits(pattern, url, true)).toBe(true);
    expect(whyNeverMatches(pattern)).toBeUndefined();
    expect(urlFits(pattern, url, false)).toBe(allows);
  });

  it.each([
    ['https://evil.example/mcp', 'https://evil.example/mcpx'],
    ['https://evil.example/mcp/', 'https://evil.example/'],
    ['https://evil.example/mcp/*', 'https://evil.example/mcpx'],
    ['https://evil.example/', 'https://good.example/'],
    ['https://evil.example/?k=*', 'https://evil.example/mcp?q=1'],
    ['https://evil.example/mcp?x=1', 'https://evil.example/mcp'],
  ])('one that forbids still leaves others alone: %s · %s', (pattern, url) => {
    expect(urlFits(pattern, url, true)).toBe(false);
  });

  it.each([
    ...['', 'https://', 'https://user@evil.example/*', '//evil.example/*', 'https:/evil.example/*'],
    ...['https:evil.example', 'http//evil.example', ' https://evil.example/*', 'evil.example\t/x'],
    ...['ftp://evil.example/*', 'https://evil.example:99999/*', 'https://evil example/*', '::1'],
    ...['https://evil.example:port/*', 'https://*evil$/*', 'https:///*'],
  ])('%j can fit no address, and stops the start where it is to forbid', (pattern) => {
    expect(whyNeverMatches(pattern)).toBeDefined();
    const item = { serverUrl: pattern };
    expect(readServerLists(values([deny('user', item)]), {}).problems).toMatchObject([
      { severity: 'fatal', source: 'user', remedy: expect.stringContaining('https://*.') },
    ]);
    expect(readServerLists(values([allow('user', item)]), {}).problems).toEqual([]);
    expect(isBlocked([allow('user', item)], 'x', http('https://evil.example/mcp'))).toBe(true);
  });

  it.each([
    ...['*', '**', 'evil.example', '*evil.example*', 'https://evil.*', '*://evil.example/*'],
    ...['https://evil.example?*', 'https://[::1]:9/*', 'http://127.0.0.1:*', 'EVIL.example:8*'],
  ])('%j can fit one', (pattern) => {
    expect(whyNeverMatches(pattern)).toBeUndefined();
  });

  it.each([
    { serverName: '*' },
    { serverName: 'a*' },
    { serverName: 'a ' },
    { serverName: '' },
    { serverCommand: [] },
    { serverCommand: ['*'] },
  ])('%j forbids nothing, and stops the start', (item) => {
    expect(readServerLists(values([deny('user', item)]), {}).problems).toMatchObject([
      { severity: 'fatal', message: expect.stringContaining('forbids nothing') },
    ]);
    expect(readServerLists(values([allow('user', item)]), {}).problems).toEqual([]);
  });

  it('whatever one allows, the same one forbids', () => {
    const path = fc.stringMatching(/^(\/|[a-c.]|%6[a-f]|%2[ef]|\?|\*){0,8}$/);
    fc.assert(
      fc.property(path, path, (wanted, asked) => {
        const pattern = `https://a.invalid/${wanted}`;
        const url = `https://a.invalid/${asked.replaceAll('*', '')}`;
        if (urlFits(pattern, url, false)) expect(urlFits(pattern, url, true)).toBe(true);
      }),
    );
  });

  it('a pattern that allows never reaches another host', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
    fc.assert(
      fc.property(label, label, fc.webPath(), (host, other, path) => {
        fc.pre(host !== other);
        const pattern = `https://${host}.invalid/*`;
        expect(urlFits(pattern, `https://${other}.invalid/${host}.invalid${path}`, false)).toBe(
          false,
        );
        expect(urlFits(pattern, `https://${host}.invalid.${other}.invalid${path}`, false)).toBe(
          false,
        );
        expect(urlFits(pattern, `https://${host}.invalid/${path}`, false)).toBe(true);
      }),
    );
  });

  it('a star is any text, and only a star is', () => {
    const part = fc.stringMatching(/^[a-c]{0,4}$/);
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.array(part, { maxLength: 5 }),
        (parts, fill) => {
          const text = parts
            .map((one, at) => one + (at < parts.length - 1 ? (fill[at] ?? '') : ''))
            .join('');
          expect(wildcard(parts.join('*'), text)).toBe(true);
          const form = new RegExp(`^${parts.join('.*')}$`, 's');
          for (const one of [text, `${text}a`, text.slice(1), fill.join('')])
            expect(wildcard(parts.join('*'), one)).toBe(form.test(one));
        },
      ),
    );
  });
});
