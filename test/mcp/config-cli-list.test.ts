import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { json, servers } from './config-rig.js';

const projects = new Set<TempProject>();
afterEach(() => {
  for (const project of projects) project.remove();
  projects.clear();
});

function world(where: { files?: ProjectFiles; home?: ProjectFiles }) {
  const project = makeTempProject(where);
  projects.add(project);
  return (...args: string[]) => {
    const [command = '', ...first] = PROGRAM;
    const done = spawnSync(command, [...first, 'mcp', ...args], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home },
      encoding: 'utf8',
    });
    return { code: done.status, out: done.stdout, text: `${done.stdout}${done.stderr}` };
  };
}

const entry = { command: 'echo', args: ['hi'] };

describe('portcullis mcp list', () => {
  it.each([
    ['a', 'deniedMcpServers'],
    [{ serverName: '*' }, 'forbids nothing'],
    [{ serverUrl: 'https://user@a.invalid/*' }, 'forbids nothing'],
  ])('does not call servers ready where no session starts: %j', (item, words) => {
    const mcp = world({
      home: {
        '.claude.json': servers({ a: entry }),
        [path.join('.claude', 'settings.json')]: json({ deniedMcpServers: [item] }),
      },
    });
    const shown = mcp('list');
    expect([shown.code, shown.text]).toEqual([3, expect.stringContaining(words)]);
    expect(shown.text).toContain('settings.json');
    expect(shown.text).toContain('no session with servers starts here');
    const data = mcp('list', '--json');
    expect(data.code).toBe(3);
    expect(JSON.parse(data.out)).toMatchObject({ problems: [{ severity: 'fatal' }] });
  });

  it('tells of a file that has its servers under another key', () => {
    const shown = world({ files: { '.mcp.json': json({ servers: { a: entry } }) } })('list');
    expect([shown.code, shown.text]).toEqual([0, expect.stringContaining('Rename `servers`')]);
    expect(shown.text).not.toContain('There are no MCP servers here');
  });

  it('shows no secrets of an entry, and neither does get; whoever approves sees all', () => {
    const key = ['sk', 'ant', 'api03', 'SECRET'.repeat(5)].join('-');
    const table = {
      s: { command: 'node', args: ['x', '--api-key', key, '--password=SECRETPASS'] },
      h: { type: 'http', url: 'https://a.invalid/', headersHelper: `echo ${key}` },
    };
    const mcp = world({ files: { '.mcp.json': servers(table) } });
    for (const args of [['list'], ['list', '--json'], ['get', 's'], ['get', 'h', '--json']]) {
      const shown = mcp(...args);
      expect(shown.code).toBe(0);
      expect(shown.text).toContain('[redacted]');
      expect(shown.text).not.toContain('SECRET');
    }
    expect(mcp('approve', 's').text).toContain('--password=SECRETPASS');
  });

  it('and get and approve name commands that run nothing of a name when they are pasted', () => {
    const name = '$(touch PWNED); x';
    const mcp = world({ files: { '.mcp.json': servers({ [name]: entry }) } });
    expect(mcp('list').text).toContain(`portcullis mcp approve '${name}'\n`);
    expect(mcp('get', name).text).toContain(`portcullis mcp remove '${name}' --scope project\n`);
    expect(mcp('approve', name).text).toContain(`portcullis mcp approve '${name}' --yes`);
    expect(mcp('approve', name, '--tools').text).not.toContain('approve $(');
  });
});
