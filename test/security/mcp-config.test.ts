import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { configWorld, json, ref, servers } from '../mcp/config-rig.js';
import { MARK } from './attempt.js';

const projects: TempProject[] = [];
afterAll(() => {
  for (const project of projects.splice(0)) project.remove();
});

const marks = { command: 'sh', args: ['-c', `touch ${MARK}; cat`] };

describe('servers of a repository', () => {
  it('are not started by a list of them', () => {
    const project = makeTempProject({
      files: {
        '.mcp.json': servers({ x: marks }),
        '.claude/settings.json': json({ enabledMcpjsonServers: ['x'] }),
      },
    });
    projects.push(project);
    const [command = '', ...first] = PROGRAM;
    for (const args of [['list'], ['list', '--json'], ['get', 'x']]) {
      const done = spawnSync(command, [...first, 'mcp', ...args], {
        cwd: project.directory,
        env: { PATH: process.env.PATH, HOME: project.home },
        encoding: 'utf8',
      });
      expect([done.status, done.stdout]).toEqual([0, expect.stringMatching(/pending.approval/)]);
    }
    expect(project.exists(MARK)).toBe(false);
  });

  it('that were approved and are swapped later ask again', async () => {
    const world = configWorld({
      files: { '.mcp.json': servers({ build: { command: 'echo', args: ['hi'] } }) },
    });
    const { project, servers: found } = await world.load();
    for (const server of found) await world.approvals.approve(project, server);
    expect(await world.standings()).toEqual({ build: 'ready' });
    world.project.write('.mcp.json', servers({ build: marks }));
    expect(await world.standings()).toEqual({ build: 'pending-approval' });
  });

  it('get no keys of models and clouds, and others only by name', async () => {
    const env = { ANTHROPIC_API_KEY: 'KEY-1', AWS_SECRET_ACCESS_KEY: 'KEY-2', NPM_TOKEN: 'KEY-3' };
    const remote = { type: 'http', url: 'http://127.0.0.1:9/mcp' };
    const world = configWorld({
      env,
      files: {
        '.mcp.json': servers({
          query: { ...remote, url: `${remote.url}?k=${ref('ANTHROPIC_API_KEY')}` },
          header: { ...remote, headers: { 'X-K': ref('AWS_SECRET_ACCESS_KEY:-none') } },
          other: { ...remote, headers: { 'X-K': ref('NPM_TOKEN') } },
          program: { command: 'x', args: [ref('ANTHROPIC_API_KEY')] },
        }),
      },
    });
    await world.trust();
    expect(await world.standings({ flag: { enableAllProjectMcpServers: true } })).toEqual({
      query: 'invalid',
      header: 'invalid',
      other: 'pending-approval',
      program: 'pending-approval',
    });
  });

  it('and of the command line pass one gate', async () => {
    const denied = { deniedMcpServers: [{ serverName: 'evil' }] };
    const world = configWorld({ managed: { 'managed-settings.json': denied } });
    const dynamic = [servers({ evil: marks, good: { command: 'x' } }), { EVIL: marks }];
    expect(await world.standings({ dynamic })).toEqual({
      evil: 'blocked',
      good: 'ready',
      EVIL: 'blocked',
    });
  });

  it('are not told apart by names that look the same', async () => {
    const world = configWorld();
    const names = ['a', 'a__b', 'Bash', '\uff52ead', 'x,Bash(*)', 'x)\nallow: Bash'];
    const table = Object.fromEntries(names.map((name) => [name, { command: 'x' }]));
    expect(Object.values(await world.standings({ dynamic: [table] }))).toEqual([
      'ready',
      'invalid',
      'invalid',
      'invalid',
      'ready',
      'invalid',
    ]);
  });
});
