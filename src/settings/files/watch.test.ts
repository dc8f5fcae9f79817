import { rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { hookSwitches } from '../merge/switches.js';
import type { ConfigProblem, EffectiveSettings, SettingsFile, WatchedPath } from '../types.js';
import { loadSettings } from './load.js';
import { watchSettings } from './watch.js';

let project: TempProject;
afterEach(() => project.remove());

const deny = (...rules: string[]): string => JSON.stringify({ permissions: { deny: rules } });

async function open(
  options: {
    rejects?: boolean;
    veto?: (changed: readonly WatchedPath[]) => string | undefined;
  } = {},
) {
  project = makeTempProject({ files: { '.claude/settings.json': deny('A') } });
  const news: SessionNews[] = [];
  const applied: EffectiveSettings[] = [];
  const load = (kept?: readonly SettingsFile[], flagSettings?: string) =>
    loadSettings({
      kept,
      flagSettings,
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: path.join(project.home, '.claude'),
      managedDir: path.join(project.root, 'managed'),
      sources: ['user', 'project', 'local'],
      trustProject: false,
      env: {},
    });
  const problem: ConfigProblem = { severity: 'fatal', message: 'no.', remedy: '' };
  const live = watchSettings((await load()).settings, {
    fs: nodeFileSystem,
    load: ({ kept, flag }) => load(kept, flag),
    apply(settings) {
      if (options.rejects === true) return [problem];
      applied.push(settings);
      return [];
    },
    veto: options.veto === undefined ? undefined : async (changed) => options.veto?.(changed),
    emit: (event) => news.push(event),
  });
  const rules = () => live.current().permissions.deny.map(({ value }) => value.text);
  return { live, news, applied, rules, at: project.at('.claude/settings.json') };
}

describe('settings between turns', () => {
  it('stay one frozen snapshot while nothing changes', async () => {
    const { live, news, applied } = await open();
    const before = live.current();
    await live.refresh();
    expect(live.current()).toBe(before);
    expect(Object.isFrozen(before)).toBe(true);
    expect([news, applied]).toEqual([[], []]);
  });

  it('are taken over when a file changes, comes or goes', async () => {
    const { live, news, rules, at } = await open();
    project.write('.claude/settings.json', deny('A', 'B'));
    await live.refresh();
    expect(rules()).toEqual(['A', 'B']);
    const local = project.at('.claude/settings.local.json');
    project.write('.claude/settings.local.json', deny('L'));
    await live.refresh();
    expect(rules()).toEqual(['L', 'A', 'B']);
    rmSync(at);
    await live.refresh();
    expect(rules()).toEqual(['L']);
    await live.refresh();
    expect(news).toEqual([
      { type: 'config_changed', files: [at] },
      { type: 'config_changed', files: [local] },
      { type: 'config_changed', files: [at] },
    ]);
  });

  it('notice drop-ins of an administrator', async () => {
    const { live, rules } = await open();
    project.write('../managed/managed-settings.d/a.json', deny('M'));
    await live.refresh();
    expect(rules()).toEqual(['M', 'A']);
    project.write('../managed/managed-settings.d/a.json', deny('M', 'N'));
    await live.refresh();
    expect(rules()).toEqual(['M', 'N', 'A']);
  });

  it('notice a change that keeps size and date', async () => {
    const { live, rules, at } = await open();
    const then = new Date(1_000_000);
    utimesSync(at, then, then);
    await live.refresh();
    project.write('.claude/settings.json', deny('B'));
    utimesSync(at, then, then);
    await live.refresh();
    expect(rules()).toEqual(['B']);
  });

  it('that became unusable leave the last good ones in force, and every turn says so', async () => {
    const { live, news, rules, at } = await open();
    project.write('.claude/settings.json', '{"permissions": {"deny": [],}}');
    await live.refresh();
    await live.refresh();
    expect(rules()).toEqual(['A']);
    const text = `the settings changed and could not be taken over; the earlier ones stay in force: ${at}:1: the settings are not valid JSON: there is a trailing comma before }. Correct the file; comments and trailing commas are not JSON.`;
    const notice = { type: 'notice', level: 'warning', text };
    expect(news).toEqual([notice, notice]);
    project.write('.claude/settings.json', deny('C'));
    await live.refresh();
    await live.refresh();
    expect(rules()).toEqual(['C']);
    expect(news.slice(2)).toEqual([{ type: 'config_changed', files: [at] }]);
  });

  it('that cannot be applied are not in force either', async () => {
    const { live, news, rules } = await open({ rejects: true });
    project.write('.claude/settings.json', deny('B'));
    await live.refresh();
    expect(rules()).toEqual(['A']);
    expect(news).toMatchObject([{ type: 'notice', level: 'warning' }]);
  });

  it('can be vetoed, an administrator’s cannot', async () => {
    const { live, news, rules } = await open({ veto: () => 'a hook says no' });
    project.write('.claude/settings.json', deny('B'));
    await live.refresh();
    await live.refresh();
    expect(rules()).toEqual(['A']);
    expect(news).toMatchObject([{ text: expect.stringContaining('a hook says no') }]);
    project.write('../managed/managed-settings.json', deny('M'));
    await live.refresh();
    expect(rules()).toEqual(['M', 'A']);
  });

  it('keep the hooks that were there when a change is vetoed', async () => {
    const { live, managed, user } = await openWithHooks();
    const commands = () =>
      live
        .current()
        .values.list('hooks.ConfigChange')
        .map(({ value }) => JSON.stringify(value).match(/"command":"(\w+)"/)?.[1]);
    const isOff = () => hookSwitches(live.current()).disabled('user') !== undefined;
    const before = live.current();
    user({ disableAllHooks: true, portcullis: { hookFailure: 'open' } });
    await live.refresh();
    expect(live.current()).toBe(before);
    expect([commands(), isOff()]).toEqual([['guard'], false]);
    // The administrator's change is applied while the vetoed one is not.
    managed({ hooks: { ConfigChange: [{ hooks: [{ type: 'command', command: 'admin' }] }] } });
    await live.refresh();
    expect([commands(), isOff()]).toEqual([['admin', 'guard'], false]);
    expect(hookSwitches(live.current()).failure).toBe('closed');
  });
});

async function openWithHooks() {
  const group = { hooks: [{ type: 'command', command: 'guard' }] };
  const first = JSON.stringify({ hooks: { ConfigChange: [group] } });
  project = makeTempProject({ home: { '.claude/settings.json': first } });
  const write = (name: string) => (content: object) => project.write(name, JSON.stringify(content));
  const load = (kept?: readonly SettingsFile[], flagSettings?: string) =>
    loadSettings({
      kept,
      flagSettings,
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: path.join(project.home, '.claude'),
      managedDir: path.join(project.root, 'managed'),
      sources: ['user', 'project', 'local'],
      trustProject: false,
      env: {},
    });
  const live = watchSettings((await load()).settings, {
    fs: nodeFileSystem,
    load: ({ kept, flag }) => load(kept, flag),
    apply: () => [],
    veto: async () => 'a hook says no',
    emit: () => undefined,
  });
  const home = path.relative(project.directory, project.home);
  return {
    live,
    user: write(path.join(home, '.claude/settings.json')),
    managed: write('../managed/managed-settings.json'),
  };
}

describe('settings that a host gives', () => {
  it('put no changed file in force, which waits for the hooks that guard it', async () => {
    const { live, rules } = await open({ veto: () => 'NO' });
    project.write('.claude/settings.json', deny());
    project.write('.claude/settings.local.json', deny('L'));
    const given = { permissions: { deny: ['G'] } };
    expect(await live.give(given)).toBeUndefined();
    expect(rules()).toEqual(['G', 'A']);
    await live.refresh();
    expect(rules()).toEqual(['G', 'A']);
    expect(await live.give({ permissions: null })).toBeUndefined();
    expect(rules()).toEqual(['A']);
  });

  it('take nothing of a file that changed in the meantime', async () => {
    const { live, rules } = await open();
    project.write('.claude/settings.json', deny('B'));
    expect(await live.give({ permissions: { deny: ['G'] } })).toBeUndefined();
    expect(rules()).toEqual(['G', 'A']);
    await live.refresh();
    expect(rules()).toEqual(['G', 'B']);
  });

  it('stand beside what an administrator changed', async () => {
    const { live, rules } = await open({ veto: () => 'NO' });
    project.write('../managed/managed-settings.json', deny('M'));
    expect(await live.give({ permissions: { deny: ['G'] } })).toBeUndefined();
    expect(rules()).toEqual(['M', 'G', 'A']);
  });
});
