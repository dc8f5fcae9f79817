import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { SettingSource } from '../../lib/sourced.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { loadSettings } from '../files/load.js';
import { hookSwitches } from './switches.js';

let project: TempProject;
afterEach(() => project.remove());

type From = 'managed' | 'host' | 'cli' | 'local' | 'project' | 'user';

async function load(contents: Partial<Record<From, unknown>>, trust = true) {
  const text = (from: From): string | undefined =>
    contents[from] === undefined ? undefined : JSON.stringify(contents[from], null, 1);
  const files = (names: Partial<Record<string, string | undefined>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(names).flatMap(([name, one]) => (one === undefined ? [] : [[name, one]])),
    );
  project = makeTempProject({
    files: files({
      '.claude/settings.json': text('project'),
      '.claude/settings.local.json': text('local'),
    }),
    home: files({
      '.claude/settings.json': text('user'),
      'managed/managed-settings.json': text('managed'),
    }),
  });
  const [flag, host] = [text('cli'), text('host')];
  return loadSettings({
    fs: nodeFileSystem,
    cwd: project.directory,
    configDir: path.join(project.home, '.claude'),
    managedDir: path.join(project.home, 'managed'),
    sources: ['user', 'project', 'local'],
    trustProject: trust,
    env: { HOME: project.home },
    flagSettings: flag,
    hostSettings: host,
  });
}

const SOURCES = ['managed', 'cli', 'local', 'project', 'user', 'plugin', 'sdk'] as const;

async function offFor(contents: Partial<Record<From, unknown>>, trust = true) {
  const { settings } = await load(contents, trust);
  const { disabled } = hookSwitches(settings);
  return SOURCES.filter((source) => disabled(source) !== undefined);
}

const off = { disableAllHooks: true };
const on = { disableAllHooks: false };

describe('disableAllHooks', () => {
  it.each<[Partial<Record<From, unknown>>, readonly SettingSource[]]>([
    [{}, []],
    [{ user: on }, []],
    [{ user: off }, ['cli', 'local', 'project', 'user', 'plugin']],
    [{ cli: off }, ['cli', 'local', 'project', 'user', 'plugin']],
    [{ managed: off }, ['managed', 'cli', 'local', 'project', 'user', 'plugin']],
    // A flag overrides the user's file, and an administrator overrides both.
    [{ cli: on, user: off }, []],
    [{ managed: on, user: off }, []],
    // A repository can switch off only its own hooks.
    [{ project: off }, ['project']],
    [{ local: off }, ['local', 'project']],
    [{ local: on, project: off }, []],
    [{ project: off, user: on }, ['project']],
    // A repository cannot switch on what the user switched off.
    [{ project: on, user: off }, ['cli', 'local', 'project', 'user', 'plugin']],
    [{ local: on, cli: off }, ['cli', 'local', 'project', 'user', 'plugin']],
    // A host may only restrict, and switching off hooks removes guards.
    [{ host: off }, []],
  ])('%j switches off the hooks of %j', async (contents, expected) => {
    expect(await offFor(contents)).toEqual(expected);
  });

  it('of a project that is not trusted switches off nothing', async () => {
    expect(await offFor({ project: off, local: off }, false)).toEqual([]);
  });

  it('says where it stands', async () => {
    const { settings } = await load({ user: off, project: on });
    const at = path.join(project.home, '.claude', 'settings.json');
    expect(hookSwitches(settings).disabled('cli')).toBe(`\`disableAllHooks\` (${at}:2)`);
    expect(settings.values.get('disableAllHooks')).toMatchObject({ value: true, source: 'user' });
  });

  it('of a project is noted to reach only the project', async () => {
    const { problems } = await load({ project: off });
    expect(problems).toMatchObject([
      { severity: 'note', line: 2, message: expect.stringContaining("project's own hooks only") },
    ]);
  });
});

describe('allowManagedHooksOnly', () => {
  it('leaves managed hooks and the host’s callbacks', async () => {
    const { settings } = await load({ managed: { allowManagedHooksOnly: true } });
    const switches = hookSwitches(settings);
    expect(switches.managedOnly).toBe(true);
    expect(SOURCES.filter((source) => switches.disabled(source) === undefined)).toEqual([
      'managed',
      'sdk',
    ]);
    expect(switches.disabled('user')).toMatch(/^`allowManagedHooksOnly` \(.*managed.*:2\)$/);
  });

  it('may come from a host', async () => {
    const { settings } = await load({ host: { allowManagedHooksOnly: true } });
    expect(hookSwitches(settings).managedOnly).toBe(true);
  });
});

describe('what the failure of a hook means', () => {
  const say = (hookFailure: string) => ({ portcullis: { hookFailure } });
  it.each<[Partial<Record<From, unknown>>, 'open' | 'closed' | 'strict']>([
    [{}, 'closed'],
    [{ user: say('open') }, 'open'],
    [{ user: say('continue') }, 'open'],
    [{ cli: say('open') }, 'open'],
    [{ managed: say('open') }, 'open'],
    [{ user: say('open'), managed: say('closed') }, 'closed'],
    [{ user: say('closed'), cli: say('open') }, 'closed'],
    [{ user: say('block'), managed: say('continue') }, 'closed'],
    [{ user: say('open'), host: say('closed') }, 'closed'],
    [{ user: say('open'), host: say('block') }, 'closed'],
    [{ host: say('open') }, 'closed'],
    [{ project: say('open'), local: say('continue') }, 'closed'],
    [{ user: say('strict') }, 'strict'],
    [{ user: say('strict'), managed: say('open') }, 'strict'],
    [{ user: say('strict'), cli: say('closed') }, 'strict'],
    [{ user: say('open'), host: say('strict') }, 'strict'],
    [{ user: say('open'), project: say('strict') }, 'strict'],
    [{ managed: say('closed'), local: say('strict') }, 'strict'],
  ])('%j: %s', async (contents, expected) => {
    const { settings } = await load(contents);
    expect(hookSwitches(settings).failure).toBe(expected);
  });

  it('is told at the start when it is open, and a project cannot make it so', async () => {
    const opened = await load({ user: say('continue') });
    expect(opened.problems).toMatchObject([
      { severity: 'warning', line: 3, message: expect.stringContaining('refuses nothing') },
    ]);
    project.remove();
    const ignored = await load({ project: say('open') });
    expect(ignored.problems).toMatchObject([
      { severity: 'warning', message: expect.stringContaining("a project's files cannot set it") },
    ]);
  });
});

describe('limits of all hooks', () => {
  it('are milliseconds by event, a project’s for its own hooks where nobody else says anything', async () => {
    const { settings, problems } = await load({
      user: { portcullis: { hookTimeouts: { PreToolUse: 5000, Stop: 7000 } } },
      project: { portcullis: { hookTimeouts: { PreToolUse: 800, PreCompact: 900 } } },
      cli: { portcullis: { hookTimeouts: { Stop: 8000 } } },
    });
    expect(problems).toEqual([]);
    const { timeouts } = hookSwitches(settings);
    for (const source of ['project', 'local'] as const) {
      expect(timeouts(source)).toEqual({ PreToolUse: 5000, PreCompact: 900, Stop: 8000 });
    }
    for (const source of ['user', 'cli', 'managed', 'plugin', 'sdk'] as const) {
      expect(timeouts(source)).toEqual({ PreToolUse: 5000, Stop: 8000 });
    }
  });

  it('are not an untrusted project’s to set', async () => {
    const contents = {
      project: {
        portcullis: { hookTimeouts: { Stop: 1 }, probeHooks: true },
        allowedHttpHookUrls: [],
        httpHookAllowedEnvVars: ['TOKEN'],
      },
    };
    const { settings } = await load(contents, false);
    expect(hookSwitches(settings).timeouts('project')).toEqual({});
    expect(hookSwitches(settings)).toMatchObject({
      probe: true,
      httpUrls: undefined,
      httpEnvVars: undefined,
    });
  });

  it('tell an empty list from none, and take variables from no project', async () => {
    const none = hookSwitches((await load({})).settings);
    expect([none.httpUrls, none.httpEnvVars, none.probe]).toEqual([undefined, undefined, false]);
    project.remove();
    const { settings } = await load({
      user: { allowedHttpHookUrls: [], httpHookAllowedEnvVars: ['A'] },
      project: { httpHookAllowedEnvVars: ['A', 'B'] },
    });
    expect(hookSwitches(settings)).toMatchObject({ httpUrls: [], httpEnvVars: ['A'] });
    expect(settings.values.has('allowedHttpHookUrls')).toBe(true);
    expect(settings.values.has('deniedMcpServers')).toBe(false);
    project.remove();
    const host = await load({ host: { allowedHttpHookUrls: [] } });
    expect(hookSwitches(host.settings).httpUrls).toEqual([]);
  });

  const urls = (...list: string[]) => ({ allowedHttpHookUrls: list });
  it.each<[Partial<Record<From, unknown>>, readonly string[]]>([
    [
      { user: urls('https://a/*'), project: urls('https://b/*'), local: urls('*') },
      ['https://a/*'],
    ],
    [{ user: urls(), project: urls('*') }, []],
    [{ managed: urls('x'), user: urls('y'), local: urls('*', 'x') }, ['x', 'y']],
    [{ user: urls('x'), project: urls('x', 'z') }, ['x']],
    [{ project: urls('x'), local: urls('y') }, ['y', 'x']],
  ])('of URLs are not a project’s to widen: %j', async (contents, expected) => {
    expect(hookSwitches((await load(contents)).settings).httpUrls).toEqual(expected);
  });

  const names = (...list: string[]) => ({ httpHookAllowedEnvVars: list });
  it.each<[Partial<Record<From, unknown>>, readonly string[] | undefined]>([
    [{ user: names(), project: names('TOKEN') }, []],
    [{ cli: names(), local: names('TOKEN') }, []],
    [{ user: names('A'), project: names() }, ['A']],
    [{ user: names('A'), project: names('A', 'B') }, ['A']],
    [{ project: names('TOKEN') }, undefined],
    [{ project: names() }, []],
  ])('of variables are not a project’s to widen: %j', async (contents, expected) => {
    expect(hookSwitches((await load(contents)).settings).httpEnvVars).toEqual(expected);
  });
});
