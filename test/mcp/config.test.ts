import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { configWorld, json, problemsOf, reasonOf, ref, servers } from './config-rig.js';

const echo = (text: string) => ({ command: 'echo', args: [text] });
const argsOf = (entry: unknown): unknown => (entry as { args?: unknown } | undefined)?.args;

describe('sources', () => {
  it('cost nothing where there are none', async () => {
    const read: string[] = [];
    const world = configWorld();
    const done = await world.load({
      fs: { ...nodeFileSystem, readText: async (file) => `${read.push(file)}` },
      trusted: async () => expect.fail('nobody was to be asked'),
    });
    expect(done).toMatchObject({ servers: [], hidden: [], problems: [], exclusive: false });
    expect(read).toEqual([]);
  });

  it('are ordered: dynamic, local, project, user; the weaker ones are hidden', async () => {
    const world = configWorld({ files: { '.mcp.json': servers({ s: echo('project') }) } });
    const personal = {
      mcpServers: { s: echo('user'), u: echo('user') },
      projects: { [world.project.directory]: { mcpServers: { s: echo('local') } } },
    };
    await nodeFileSystem.writeAtomic(path.join(world.project.home, '.claude.json'), json(personal));
    await world.trust();
    const plain = await world.load();
    expect(plain.servers.map(({ name, scope }) => `${name} ${scope}`)).toEqual([
      's local',
      'u user',
    ]);
    expect(plain.hidden.map(({ scope }) => scope)).toEqual(['project', 'user']);
    const dynamic = [servers({ s: echo('flag') })];
    const flagged = await world.load({ dynamic });
    expect(argsOf(flagged.servers[0]?.entry)).toEqual(['flag']);
    expect(flagged.servers[0]?.origin.file).toBeUndefined();
    expect(flagged.servers[0]?.origin.line).toBe(3);
    const strict = await world.load({ dynamic, strict: true });
    expect(strict.servers.map(({ name }) => name)).toEqual(['s']);
    expect(strict.hidden).toEqual([]);
    expect((await world.load({ sources: ['project'] })).servers.map(({ scope }) => scope)).toEqual([
      'project',
    ]);
  });

  it('of a sub-directory stand before those of the root', async () => {
    const world = configWorld({
      files: {
        '.mcp.json': servers({ s: echo('root'), r: echo('root') }),
        'sub/.mcp.json': servers({ s: echo('sub') }),
      },
    });
    const cwd = path.join(world.project.directory, 'sub');
    const done = await world.load({
      cwd,
      levels: [cwd, world.project.directory],
      trusted: async () => true,
    });
    expect(done.servers.map(({ entry }) => argsOf(entry))).toEqual([['sub'], ['root']]);
  });

  it('know where the personal file is', async () => {
    const world = configWorld({ home: { 'other/.claude.json': servers({ a: echo('x') }) } });
    const configDir = path.join(world.project.home, 'other');
    const startEnv = { CLAUDE_CONFIG_DIR: configDir };
    expect(await world.standings()).toEqual({});
    expect(await world.standings({ configDir, startEnv })).toEqual({ a: 'ready' });
  });

  it('warn about file names that nobody reads', async () => {
    const world = configWorld({
      files: { '.claude/mcp.json': servers({ a: echo('x') }), 'claude.json': servers({}) },
      home: { '.claude/mcp.json': servers({ a: echo('x') }) },
    });
    const done = await world.load();
    expect(done.servers).toEqual([]);
    expect(problemsOf(done)).toContain(`Move them to ${world.project.at('.mcp.json')}`);
    expect(problemsOf(done)).toContain(
      `Move them to ${path.join(world.project.home, '.claude.json')}`,
    );
    expect(done.problems).toHaveLength(3);
  });

  it('that are broken are told with their line, and take nobody with them', async () => {
    const world = configWorld({
      files: { '.mcp.json': '{\n "mcpServers": {\n  "a": {,\n' },
      home: { '.claude.json': servers({ u: echo('x') }) },
    });
    const done = await world.load();
    expect(done.servers.map(({ name }) => name)).toEqual(['u']);
    expect(problemsOf(done)).toContain('.mcp.json:3: it is not valid JSON');
    expect(problemsOf(done)).toContain('None of its servers is used');
  });

  it('on the command line must be right', async () => {
    const world = configWorld();
    for (const value of [
      '{"mcpServers":',
      '{"servers":{}}',
      'no-such-file.json',
      '{"mcpServers":[]}',
    ])
      expect(problemsOf(await world.load({ dynamic: [value] })), value).toMatch(/^fatal /);
  });

  it('may switch servers off for a project; a broken file keeps those of the project off', async () => {
    const world = configWorld({ files: { '.mcp.json': servers({ p: echo('x') }) } });
    const personal = path.join(world.project.home, '.claude.json');
    const off = { projects: { [world.project.directory]: { disabledMcpServers: ['p', 'u'] } } };
    await nodeFileSystem.writeAtomic(personal, json({ mcpServers: { u: echo('x') }, ...off }));
    expect(await world.standings({ trusted: async () => true })).toEqual({
      p: 'disabled',
      u: 'disabled',
    });
    await nodeFileSystem.writeAtomic(personal, '{"mcpServers":');
    expect(await world.standings({ trusted: async () => true })).toEqual({ p: 'disabled' });
  });
});

describe('entries', () => {
  it('that are bad stay in the list with a reason, file and line', async () => {
    const world = configWorld({
      files: {
        '.mcp.json': servers({
          good: echo('x'),
          nonsense: { nonsense: true },
          remote: { url: 'https://a.invalid' },
          strange: { type: 'carrier-pigeon' },
          inproc: { type: 'sdk', name: 'inproc' },
          text: 'x',
        }),
      },
    });
    await world.trust();
    const done = await world.load();
    expect(
      Object.fromEntries(done.servers.map(({ name, standing }) => [name, standing.kind])),
    ).toEqual({
      good: 'ready',
      nonsense: 'invalid',
      remote: 'invalid',
      strange: 'invalid',
      inproc: 'invalid',
      text: 'invalid',
    });
    expect(reasonOf(done, 'remote')).toContain('no `type`');
    expect(reasonOf(done, 'strange')).toContain('"carrier-pigeon"');
    expect(reasonOf(done, 'inproc')).toContain('host');
    expect(problemsOf(done)).toMatch(/\.mcp\.json:\d+: MCP server "remote"/);
    for (const { entry, standing } of done.servers)
      expect(entry === undefined).toBe(standing.kind === 'invalid');
  });

  it('of a host may live in its process', async () => {
    const world = configWorld();
    const sdk = { type: 'sdk', name: 'h' };
    expect(await world.standings({ dynamic: [{ a: sdk }, servers({ b: sdk })] })).toEqual({
      a: 'ready',
      b: 'ready',
    });
    world.project.write('m.json', servers({ c: sdk }));
    expect(await world.standings({ dynamic: ['m.json'] })).toEqual({ c: 'invalid' });
  });

  it('whose names cannot be told apart: the later one is refused', async () => {
    const world = configWorld();
    const table = {
      'my server': echo('1'),
      'my.server': echo('2'),
      a: echo('3'),
      a__b: echo('4'),
      ab: echo('5'),
    };
    const done = await world.load({ dynamic: [servers(table)] });
    expect(done.servers.map(({ name, standing }) => `${name} ${standing.kind}`)).toEqual([
      'my server ready',
      'my.server invalid',
      'a ready',
      'a__b invalid',
      'ab ready',
    ]);
    expect(reasonOf(done, 'my.server')).toContain('"my server"');
    expect(problemsOf(done)).toContain('Rename one of the two');
  });

  it('of a project that nobody approved do not push out servers of the person', async () => {
    const world = configWorld({
      files: { '.mcp.json': servers({ git: echo('evil'), hub_: echo('evil') }) },
      home: { '.claude.json': servers({ git: echo('mine'), hub: echo('mine') }) },
    });
    const done = await world.load();
    expect(
      done.servers.map(({ name, scope, standing }) => `${name} ${scope} ${standing.kind}`),
    ).toEqual(['hub_ project invalid', 'git user ready', 'hub user ready']);
    expect(
      done.hidden.map(({ name, scope, standing }) => `${name} ${scope} ${standing.kind}`),
    ).toEqual(['git project pending-approval']);
  });

  it('are shown as written', async () => {
    const world = configWorld({ env: { HOME: '/x', GITHUB_TOKEN: 'SECRET' } });
    const entry = {
      type: 'http',
      url: 'https://a.invalid/mcp?key=0123456789abcdef0123',
      headers: { Authorization: `Bearer ${ref('GITHUB_TOKEN')}` },
    };
    const done = await world.load({ dynamic: [servers({ a: entry })] });
    const [server] = done.servers;
    expect(server?.entry).toMatchObject({ headers: { Authorization: 'Bearer SECRET' } });
    const text = server === undefined ? '' : done.describe(server).join('\n');
    expect(text).toBe(
      'url: https://a.invalid/mcp?key=…\nheaders: Authorization\nis given: GITHUB_TOKEN',
    );
  });
});

describe('an administrator', () => {
  it('with a list of servers is the only one to have any, but for the host itself', async () => {
    const world = configWorld({
      managed: { 'managed-mcp.json': { mcpServers: { pol: echo('x') } } },
      files: { '.mcp.json': servers({ p: echo('x') }) },
      home: { '.claude.json': servers({ u: echo('x') }) },
    });
    const done = await world.load({ dynamic: [{ h: { type: 'sdk', name: 'h' } }] });
    expect(done.exclusive).toBe(true);
    expect(done.servers.map(({ name }) => name)).toEqual(['pol', 'h']);
    expect(done.problems).toEqual([]);
    const flagged = await world.load({ dynamic: [servers({ x: echo('x') })] });
    expect(problemsOf(flagged)).toMatch(/^fatal --mcp-config: servers cannot be added/);
    expect(flagged.servers.map(({ name }) => name)).toEqual(['pol']);
  });

  it('with an empty or broken list leaves none', async () => {
    for (const [text, fatal] of [
      ['{"mcpServers":{}}', false],
      ['{', true],
      ['[]', true],
      ['{"mcpServers":[]}', true],
    ] as const) {
      const world = configWorld({
        managed: { 'managed-mcp.json': text },
        home: { '.claude.json': servers({ u: echo('x') }) },
      });
      const done = await world.load();
      expect([done.exclusive, done.servers.length, /^fatal/.test(problemsOf(done))]).toEqual([
        true,
        0,
        fatal,
      ]);
    }
  });

  it.skipIf(process.platform === 'win32')('is not who anybody may write for', async () => {
    const world = configWorld({
      managed: { 'managed-mcp.json': { mcpServers: { pol: echo('x') } } },
    });
    chmodSync(path.join(world.project.root, 'managed/managed-mcp.json'), 0o666);
    const done = await world.load();
    expect(done.servers).toEqual([]);
    expect(problemsOf(done)).toMatch(/^fatal .*others than the administrator/);
  });

  it('adds servers by a setting, forbids flags that add some, and connectors', async () => {
    const world = configWorld({
      managed: {
        'managed-settings.json': {
          managedMcpServers: { m: echo('x') },
          disableSideloadFlags: true,
          disableClaudeAiConnectors: true,
        },
      },
      home: {
        '.claude.json': servers({
          c: { type: 'claudeai-proxy', url: 'https://a.invalid', headers: { Authorization: 'x' } },
        }),
      },
    });
    expect(await world.standings()).toEqual({ m: 'ready', c: 'blocked' });
    expect(problemsOf(await world.load({ dynamic: [servers({ x: echo('x') })] }))).toContain(
      'fatal --mcp-config',
    );
  });

  it('forbids by lists, whatever the source', async () => {
    const world = configWorld({
      managed: {
        'managed-settings.json': {
          deniedMcpServers: [
            { serverName: 'evil' },
            { serverCommand: ['sh', '-c', 'x'] },
            { serverUrl: 'https://*.evil.invalid/*' },
          ],
        },
      },
      home: { '.claude.json': servers({ ok: echo('x'), Evil: echo('x') }) },
    });
    const dynamic = [
      servers({
        evil: echo('x'),
        bycmd: { command: 'sh', args: ['-c', ref('X:-x')] },
        byurl: { type: 'http', url: 'https://a.EVIL.invalid/mcp' },
      }),
    ];
    expect(await world.standings({ dynamic })).toEqual({
      evil: 'blocked',
      bycmd: 'blocked',
      byurl: 'blocked',
      ok: 'ready',
      Evil: 'blocked',
    });
  });
});

describe('a state that lies inside the project', () => {
  it('brings no approvals along', async () => {
    const world = configWorld({ files: { '.mcp.json': servers({ p: echo('x') }) } });
    const { openMcpApprovals } = await import('../../src/mcp/approval/project-approvals.js');
    const stateDirectory = world.project.at('.state');
    mkdirSync(stateDirectory);
    const approvals = openMcpApprovals({ fs: nodeFileSystem, stateDirectory });
    const { project, servers: found } = await world.load();
    const [server] = found;
    if (server === undefined) return expect.fail();
    await expect(approvals.approve(project, server)).rejects.toThrow('cannot be kept');
    expect((await approvals.read(project)).size).toBe(0);
  });
});
