import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ConfigWorld,
  configWorld,
  json,
  problemsOf,
  reasonOf,
  ref,
  servers,
} from './config-rig.js';

const env = { HOME: '/x', TOOL: 'tool-one', PORT: '4100', SHARED: 'kept', API_TOKEN: 'first' };

function worldWith(entry: Readonly<Record<string, unknown>>): ConfigWorld {
  return configWorld({ files: { '.mcp.json': servers({ build: entry }) } });
}

async function approve(world: ConfigWorld, given: Readonly<Record<string, string>> = env) {
  const { project, servers: found } = await world.load({ env: given });
  const [server] = found;
  if (server === undefined) return expect.fail();
  await world.approvals.approve(project, server);
  return { project, server };
}

const stateOf = (world: ConfigWorld): string =>
  path.join(world.project.home, '.portcullis', 'mcp-approvals');

const ENTRIES: readonly [
  string,
  Readonly<Record<string, unknown>>,
  Readonly<Record<string, string>>,
][] = [
  ['command', { command: `./${ref('TOOL')}` }, { TOOL: 'tool-two' }],
  ['args', { command: 'node', args: ['x', ref('TOOL')] }, { TOOL: 'tool-two' }],
  ['args with a default', { command: 'node', args: [ref('NEW:-x')] }, { NEW: 'y' }],
  ['url', { type: 'http', url: `http://127.0.0.1:${ref('PORT')}/` }, { PORT: '4200' }],
];

describe('an approval of a server with variables', () => {
  it.each(ENTRIES)('holds while what stands in its %s is the same', async (_at, entry, other) => {
    const world = worldWith(entry);
    await approve(world);
    expect(await world.standings({ env })).toEqual({ build: 'ready' });
    const changed = await world.load({ env: { ...env, ...other } });
    expect(changed.servers[0]?.standing.kind).toBe('pending-approval');
    const [name = ''] = Object.keys(other);
    expect(reasonOf(changed, 'build')).toContain(`not approved with what ${ref(name)} in its`);
    expect(problemsOf(changed)).toContain('To use it: portcullis mcp approve build');
    expect(await world.standings({ env })).toEqual({ build: 'ready' });
    await approve(world, { ...env, ...other });
    expect(await world.standings({ env: { ...env, ...other } })).toEqual({ build: 'ready' });
    expect(await world.standings({ env })).toEqual({ build: 'pending-approval' });
  });

  it('is not asked for again when what it is handed changes', async () => {
    const program = worldWith({ command: 'x', env: { A: ref('API_TOKEN'), B: ref('SHARED') } });
    const remote = worldWith({
      type: 'http',
      url: 'http://127.0.0.1:9/',
      headers: { Authorization: `Bearer ${ref('API_TOKEN')}` },
    });
    for (const world of [program, remote]) {
      await approve(world);
      const rotated = { ...env, API_TOKEN: 'second', SHARED: 'other' };
      expect(await world.standings({ env: rotated })).toEqual({ build: 'ready' });
      expect(readdirSync(stateOf(world))).toHaveLength(1);
    }
  });

  it('holds in its folder, which is a variable as well', async () => {
    const world = worldWith({ command: `${ref('CLAUDE_PROJECT_DIR')}/run` });
    await approve(world);
    expect(await world.standings({ env })).toEqual({ build: 'ready' });
    expect(readdirSync(stateOf(world))).toHaveLength(1);
  });

  it('by a settings file is for what it stands for then', async () => {
    const world = worldWith({ command: ref('TOOL') });
    const flag = { enabledMcpjsonServers: ['build'] };
    expect(await world.standings({ env, flag })).toEqual({ build: 'ready' });
    expect(await world.standings({ env, flag })).toEqual({ build: 'ready' });
    const other = { ...env, TOOL: 'tool-two' };
    expect(await world.standings({ env: other, flag })).toEqual({ build: 'pending-approval' });
  });

  it('is needed for keys that would go to another address', async () => {
    const world = worldWith({
      type: 'http',
      url: `http://127.0.0.1:${ref('PORT')}/`,
      headers: { Authorization: ref('API_TOKEN') },
    });
    await approve(world);
    await world.trust();
    expect(await world.standings({ env })).toEqual({ build: 'ready' });
    const other = { ...env, PORT: '4200' };
    expect(await world.standings({ env: other })).toEqual({ build: 'pending-approval' });
  });

  it('keeps no value, and no mark of one that can be tried without the key', async () => {
    const world = worldWith({ command: `./${ref('TOOL')}` });
    const { project, server } = await approve(world);
    const files = readdirSync(stateOf(world)).map((name) => path.join(stateOf(world), name));
    for (const file of files) {
      expect(readFileSync(file, 'utf8')).not.toContain('tool-one');
      if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    const said = (await world.approvals.read(project)).get('build');
    if (said === undefined) return expect.fail();
    const mark = said.values;
    expect(mark).toMatch(/^[0-9a-f]{64}$/);
    expect(json(await world.load({ env }))).not.toContain(mark);
    expect(await world.approvals.isAbout(said, project, server)).toBe(true);
    // With another key it is another mark, and nobody can say what was approved.
    const key = path.join(stateOf(world), 'values.key');
    writeFileSync(key, `${'0'.repeat(64)}\n`);
    expect(await world.standings({ env })).toEqual({ build: 'pending-approval' });
    rmSync(key);
    expect(await world.standings({ env })).toEqual({ build: 'pending-approval' });
    await approve(world);
    expect(await world.standings({ env })).toEqual({ build: 'ready' });
  });

  it('given before values counted holds for an entry without variables alone', async () => {
    const plain = worldWith({ command: 'echo', env: { A: ref('API_TOKEN') } });
    const filled = worldWith({ command: ref('TOOL') });
    for (const [world, standing] of [
      [plain, 'ready'],
      [filled, 'pending-approval'],
    ] as const) {
      await approve(world);
      const [file = ''] = readdirSync(stateOf(world)).filter((name) => name.endsWith('.json'));
      const at = path.join(stateOf(world), file);
      const stored = JSON.parse(readFileSync(at, 'utf8'));
      for (const one of stored.servers) delete one.values;
      writeFileSync(at, JSON.stringify(stored));
      expect(await world.standings({ env })).toEqual({ build: standing });
    }
  });

  it('is asked for with what the variables stand for, but for credentials', async () => {
    const entry = { command: ref('TOOL'), args: [ref('API_TOKEN'), ref('GONE:-x')] };
    const done = await worldWith(entry).load({ env: { ...env, TOOL: 'a \u202eb' } });
    const [server] = done.servers;
    if (server === undefined) return expect.fail();
    expect(done.standsFor(server)).toEqual([`${ref('TOOL')} is "a \\u202eb"`]);
  });
});
