import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { askOpeningQuestions } from '../../src/client/opening-questions.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { ref, servers } from './config-rig.js';

const projects = new Set<TempProject>();
afterEach(() => {
  for (const project of projects) project.remove();
  projects.clear();
});

function world(files: ProjectFiles = {}, env: Readonly<Record<string, string>> = {}) {
  const project = makeTempProject({ files });
  projects.add(project);
  const run = (...args: string[]) => {
    const [command = '', ...first] = PROGRAM;
    const done = spawnSync(command, [...first, ...args], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home, ...env },
      encoding: 'utf8',
    });
    return { code: done.status, out: done.stdout, text: `${done.stdout}${done.stderr}` };
  };
  const mcp = (...args: string[]) => run('mcp', ...args);
  const personal = path.join(project.home, '.claude.json');
  return { project, run, mcp, personal, readPersonal: () => readFileSync(personal, 'utf8') };
}

interface Listed {
  readonly servers: readonly {
    readonly name: string;
    readonly scope: string;
    readonly status: string;
  }[];
}
const listed = (out: string): string[] =>
  (JSON.parse(out) as Listed).servers.map(
    ({ name, scope, status }) => `${name} ${scope} ${status}`,
  );

describe('portcullis mcp', () => {
  it('keeps the trust of a folder for the one entry that it wrote itself', () => {
    const guard = { PreToolUse: [{ hooks: [{ type: 'command', command: 'true' }] }] };
    const { mcp, run, project } = world({ '.claude/settings.json': { json: { hooks: guard } } });
    const trusted = (): boolean => JSON.parse(run('hooks', 'list', '--json').out).trusted;
    expect(run('trust', '--yes').code).toBe(0);
    expect(mcp('add', '--scope', 'project', '--yes', 'one', '--', 'x').code).toBe(0);
    expect(trusted()).toBe(true);
    // Neither a script that nobody confirmed nor what somebody else changes is covered by it.
    const unasked = mcp('add', '--scope', 'project', 'two', '--', 'x');
    expect(unasked.text).toContain('portcullis trust');
    expect(trusted()).toBe(false);
    expect(run('trust', '--yes').code).toBe(0);
    project.write('.claude/settings.json', JSON.stringify({ permissions: { allow: ['Bash'] } }));
    expect(mcp('add', '--scope', 'project', '--yes', 'three', '--', 'x').code).toBe(0);
    expect(trusted()).toBe(false);
  });

  it('does not keep it for the shell of an agent', () => {
    const { mcp, run, project } = world({ '.mcp.json': servers({ a: { command: 'x' } }) });
    expect(run('trust', '--yes').code).toBe(0);
    const [command = '', ...first] = PROGRAM;
    const args = [...first, 'mcp', 'add', '--scope', 'project', '--yes', 'one', '--', 'x'];
    const env = { PATH: process.env.PATH, HOME: project.home, PORTCULLIS: '1' };
    const done = spawnSync(command, args, { cwd: project.directory, env, encoding: 'utf8' });
    expect(done.stderr).toContain('portcullis trust');
    expect(mcp('list').code).toBe(0);
  });

  it('does not say that a server is ready which was never tried', () => {
    const { mcp } = world();
    expect(mcp('add', 'one', '--', 'no-such-program-here').code).toBe(0);
    const { out } = mcp('list');
    expect(out).toContain('allowed, not connected');
    expect(out).not.toContain('ready');
  });

  it('names a program that is missing and the PATH that was searched, and no log that is not there', () => {
    const { mcp } = world();
    expect(mcp('add', 'one', '--', 'no-such-program-here').code).toBe(0);
    const { text } = mcp('status', 'one');
    expect(text).toContain('its program "no-such-program-here" was not found in PATH');
    expect(text).toMatch(/\n {2}PATH that was searched: \/\S+\n/);
    expect(text).not.toContain('log:');
  });

  it('adds, shows and removes in each scope', () => {
    const { mcp, project, personal, readPersonal } = world();
    expect(mcp('add', 'one', '-e', 'A=1', '--', 'npx', '-y', '--x').code).toBe(0);
    expect(
      mcp('add', '-s', 'user', '-t', 'http', '-H', 'X-A: b: c', 'two', 'https://a.invalid/').code,
    ).toBe(0);
    expect(mcp('add-json', 'three', '{"command":"x"}', '--scope', 'project').code).toBe(0);
    expect(JSON.parse(readPersonal())).toEqual({
      projects: {
        [project.directory]: {
          mcpServers: {
            one: { type: 'stdio', command: 'npx', args: ['-y', '--x'], env: { A: '1' } },
          },
        },
      },
      mcpServers: { two: { type: 'http', url: 'https://a.invalid/', headers: { 'X-A': 'b: c' } } },
    });
    if (process.platform !== 'win32') expect(statSync(personal).mode & 0o777).toBe(0o600);
    expect(JSON.parse(project.read('.mcp.json'))).toEqual({
      mcpServers: { three: { command: 'x' } },
    });
    // Who writes an entry has seen it.
    expect(listed(mcp('list', '--json').out)).toEqual([
      'one local ready',
      'three project ready',
      'two user ready',
    ]);
    expect(mcp('get', 'one').out).toContain('command: npx -y --x\n  env: A\n');
    expect(mcp('add', 'one', '--', 'y').text).toContain('already has a server "one"');
    for (const name of ['one', 'two', 'three']) expect(mcp('remove', name).code).toBe(0);
    expect(listed(mcp('list', '--json').out)).toEqual([]);
    expect(mcp('remove', 'one').code).toBe(2);
  });

  it('leaves the rest of a file as it was', () => {
    const text = '{\n\t"mcpServers": {"a": {"command":  "x"}},\n\t"other" : [1,2 ]\n}';
    const { mcp, project } = world({ '.mcp.json': text });
    expect(mcp('add', '-s', 'project', 'b', '--', 'y').code).toBe(0);
    expect(project.read('.mcp.json')).toContain('"a": {"command":  "x"}');
    expect(mcp('remove', 'b').code).toBe(0);
    expect(project.read('.mcp.json')).toBe(text);
  });

  it.each([
    [['add', 'x'], 'no command'],
    [['add', 'x', 'npx', '--flag'], "unknown option '--flag'"],
    [['add', 'x', 'https://a.invalid'], '--transport http'],
    [['add', 'Bash', '--', 'x'], 'built-in'],
    [['add', '-t', 'http', 'x', 'ftp://a'], 'begin with http'],
    [['add', '-s', 'managed', 'x', '--', 'y'], 'is not one of local, project, user'],
    [['add-json', 'x', '{'], 'not valid JSON'],
    [['add-json', 'x', '{"type":"sdk"}'], 'host'],
    [['get', 'x'], 'no MCP server "x"'],
    [['approve', 'x'], 'no MCP server "x"'],
  ])('%j is a mistake', (args, words) => {
    const { mcp, personal } = world();
    const done = mcp(...args);
    expect([done.code, done.text]).toEqual([2, expect.stringContaining(words)]);
    expect(() => statSync(personal)).toThrow();
  });

  it('does not write over what it does not understand', () => {
    const { mcp, project } = world({ '.mcp.json': '{ "mcpServers": ' });
    const done = mcp('add', '-s', 'project', 'x', '--', 'y');
    expect([done.code, done.text]).toEqual([3, expect.stringContaining('.mcp.json:1')]);
    expect(project.read('.mcp.json')).toBe('{ "mcpServers": ');
  });

  it('keeps answers of people, not of agents', () => {
    const files = { '.mcp.json': servers({ p: { command: 'x' } }) };
    const { mcp } = world(files);
    expect(mcp('approve', 'p')).toMatchObject({ code: 3 });
    expect(listed(mcp('list', '--json').out)).toEqual(['p project pending-approval']);
    expect(mcp('approve', 'p', '--yes')).toMatchObject({ code: 0 });
    expect(listed(mcp('list', '--json').out)).toEqual(['p project ready']);
    expect(mcp('approve', 'p', '--decline').code).toBe(0);
    expect(listed(mcp('list', '--json').out)).toEqual(['p project disabled']);
    expect(mcp('reset-project-choices').out).toContain('one answer');
    expect(listed(mcp('list', '--json').out)).toEqual(['p project pending-approval']);
    const agent = world(files, { PORTCULLIS: '1' });
    expect(agent.mcp('approve', 'p', '--yes').code).not.toBe(0);
    expect(agent.mcp('add', '-s', 'project', 'q', '--', 'y').code).toBe(0);
    expect(listed(agent.mcp('list', '--json').out)).toEqual([
      'p project pending-approval',
      'q project pending-approval',
    ]);
  });
});

describe('the question at the start', () => {
  const entry = { type: 'http', url: 'http://127.0.0.1:9/', headers: { A: ref('GITHUB_TOKEN') } };

  async function ask(project: TempProject, ...options: (string | undefined)[]): Promise<string> {
    let text = '';
    const config = {
      cwd: project.directory,
      env: { HOME: project.home, GITHUB_TOKEN: 'SECRET' },
      entrypoint: 'test',
      trust: false,
      persist: false,
      fork: false,
      start: { kind: 'new', id: undefined },
    } as const;
    const clients = {
      notify: () => undefined,
      async confirm({
        topic,
        details,
      }: {
        readonly topic: string;
        readonly details: readonly string[];
      }) {
        if (topic === 'trust') return 'w';
        text += `${details.join('\n')}\n`;
        return options.shift();
      },
    };
    await askOpeningQuestions(clients, config);
    return text;
  }

  it('shows what is given to whom, and keeps yes and no', async () => {
    const table = { gh: entry, b: { command: 'x', env: { K: '1' } }, c: { command: 'y' } };
    const { project } = world({ '.mcp.json': servers(table) });
    const first = await ask(project, 'y', 'n', 'l');
    expect(first).toContain('url: http://127.0.0.1:9/\n  headers: A\n  is given: GITHUB_TOKEN\n');
    expect(first).toContain('command: x\n  env: K\n');
    expect(first).not.toContain('SECRET');
    // Only what was left open is asked again.
    const second = await ask(project, undefined);
    expect(second.match(/has a server "(\w+)"/g)).toEqual(['has a server "c"']);
  });
});
