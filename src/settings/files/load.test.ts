import { chmodSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../testing/temp-project.js';
import { contributionsOf } from '../merge/merge.js';
import { describeProblem } from '../types.js';
import {
  type LoadedSettings,
  loadSettings,
  managedSettingsDirectory,
  withStrictness,
} from './load.js';

let project: TempProject;
afterEach(() => project.remove());

async function load(
  files: ProjectFiles,
  options: {
    home?: ProjectFiles;
    flag?: string;
    trust?: boolean;
    cwd?: string;
    sources?: ('user' | 'project' | 'local')[];
    git?: boolean;
    only?: { file: string; text: string };
  } = {},
): Promise<LoadedSettings> {
  project = makeTempProject({ files, home: options.home ?? {}, git: options.git ?? false });
  return loadSettings({
    fs: nodeFileSystem,
    cwd: path.join(project.directory, options.cwd ?? ''),
    configDir: path.join(project.home, '.claude'),
    managedDir: path.join(project.home, 'managed'),
    sources: options.sources ?? ['user', 'project', 'local'],
    trustProject: options.trust ?? true,
    env: { HOME: project.home },
    flagSettings: options.flag,
    only: options.only,
  });
}

const texts = (rules: readonly { value: { text: string } }[]): string[] =>
  rules.map((rule) => rule.value.text);

const permissions = (value: unknown): string => JSON.stringify({ permissions: value });

describe('settings files', () => {
  it('are all optional', async () => {
    const { settings, problems } = await load({});
    expect(problems).toEqual([]);
    expect(settings.permissions).toEqual({
      allow: [],
      ask: [],
      deny: [],
      additionalDirectories: [],
    });
  });

  it('count for nothing where a text is given in place of all of them', async () => {
    const { settings, problems } = await load(
      { '.claude/settings.json': permissions({ deny: ['Read'] }) },
      {
        home: { '.claude/settings.json': '{broken' },
        only: { file: 'given.json', text: permissions({ deny: ['Bash(rm *)'] }) },
      },
    );
    expect(problems).toEqual([]);
    expect(settings.permissions.deny).toMatchObject([
      { value: { text: 'Bash(rm *)' }, source: 'user', file: 'given.json', line: 1 },
    ]);
    project.remove();
    const broken = await load({}, { only: { file: 'given.json', text: '[]' } });
    expect(broken.problems).toMatchObject([{ severity: 'fatal', file: 'given.json' }]);
  });

  it('add up their lists, strongest first, and take single values from the strongest', async () => {
    const { settings, problems } = await load(
      {
        '.claude/settings.json': JSON.stringify({
          model: 'p',
          permissions: { allow: ['Read'], deny: ['A1'] },
        }),
        '.claude/settings.local.json': JSON.stringify({
          model: 'l',
          permissions: { deny: ['B1', 'B2'] },
        }),
      },
      {
        home: {
          '.claude/settings.json': JSON.stringify({
            model: 'u',
            env: { X: '1', Y: 2 },
            permissions: { deny: ['C1'] },
          }),
          'managed/managed-settings.json': permissions({ deny: ['M1'] }),
        },
        flag: JSON.stringify({ model: 'f', permissions: { deny: ['F1'] } }),
      },
    );
    expect(problems).toEqual([]);
    expect(texts(settings.permissions.deny)).toEqual(['M1', 'F1', 'B1', 'B2', 'A1', 'C1']);
    expect(settings.model).toMatchObject({ value: 'f', source: 'cli' });
    expect(settings.env).toMatchObject({ X: { value: '1', source: 'user' }, Y: { value: '2' } });
    expect(settings.files.map((file) => file.source)).toEqual([
      'managed',
      'cli',
      'local',
      'project',
      'user',
    ]);
  });

  it('keep where every rule stands', async () => {
    const { settings } = await load({
      '.claude/settings.json':
        '{\n  "permissions": {\n    "allow": ["Bash(a)"],\n    "deny": [\n      "Bash(a)",\n      "Read(\\u002e/x)"\n    ]\n  }\n}\n',
    });
    const file = path.join(project.directory, '.claude/settings.json');
    expect(settings.permissions.allow).toMatchObject([
      { file, line: 3, value: { root: project.directory } },
    ]);
    expect(settings.permissions.deny).toMatchObject([
      { line: 5, value: { text: 'Bash(a)' } },
      { line: 6, value: { text: 'Read(./x)' } },
    ]);
  });

  it('keep it beside items that are no rules', async () => {
    const { settings, merged, problems } = await load({
      '.claude/settings.json': '{"permissions": {\n"allow": [\n7,\n"Bash(a)",\n{},\n"Bash(b)"\n]}}',
    });
    expect(settings.permissions.allow).toMatchObject([
      { line: 4, value: { text: 'Bash(a)' } },
      { line: 6, value: { text: 'Bash(b)' } },
    ]);
    expect(contributionsOf(merged, 'permissions.allow')).toMatchObject([
      { value: 'Bash(a)', line: 4, path: ['permissions', 'allow', 1], standing: 'in force' },
      { value: 'Bash(b)', line: 6, path: ['permissions', 'allow', 3], standing: 'in force' },
    ]);
    expect(problems.map(({ line }) => line)).toEqual([3, 5]);
  });

  it('say nothing of trust for lists without a rule', async () => {
    const { problems } = await load(
      { '.claude/settings.json': permissions({ allow: [] }) },
      { trust: false },
    );
    expect(problems).toEqual([]);
  });

  it('are read from the start directory up to the repository root', async () => {
    const { settings } = await load(
      {
        '.claude/settings.json': JSON.stringify({ model: 'root', permissions: { deny: ['Root'] } }),
        'a/.claude/settings.json': JSON.stringify({
          model: 'near',
          permissions: { deny: ['Near'] },
        }),
        'a/b/x': '',
      },
      { cwd: 'a/b', git: true },
    );
    expect(texts(settings.permissions.deny)).toEqual(['Near', 'Root']);
    expect(settings.model?.value).toBe('near');
  });

  it('above the start directory do not count without a repository', async () => {
    const { settings } = await load(
      { '.claude/settings.json': permissions({ deny: ['Root'] }), 'a/x': '' },
      { cwd: 'a' },
    );
    expect(settings.permissions.deny).toEqual([]);
  });

  it('count only where their source is wanted, managed ones always', async () => {
    const { settings } = await load(
      {
        '.claude/settings.json': permissions({ deny: ['P'] }),
        '.claude/settings.local.json': permissions({ deny: ['L'] }),
      },
      {
        sources: ['local'],
        home: {
          '.claude/settings.json': permissions({ deny: ['U'] }),
          'managed/managed-settings.json': permissions({ deny: ['M'] }),
        },
      },
    );
    expect(texts(settings.permissions.deny)).toEqual(['M', 'L']);
  });

  it('may be given as a file name', async () => {
    const { settings } = await load(
      { 'my.json': permissions({ deny: ['X'] }) },
      { flag: 'my.json' },
    );
    expect(settings.permissions.deny).toMatchObject([
      {
        source: 'cli',
        file: path.join(project.directory, 'my.json'),
        value: { root: project.directory },
      },
    ]);
  });

  it('of the user are no project’s when started at home', async () => {
    project = makeTempProject({
      home: { '.claude/settings.json': permissions({ allow: ['Read'] }) },
    });
    const { settings, problems } = await loadSettings({
      fs: nodeFileSystem,
      cwd: project.home,
      configDir: path.join(project.home, '.claude'),
      managedDir: path.join(project.home, 'managed'),
      sources: ['user', 'project', 'local'],
      trustProject: false,
      env: {},
    });
    expect(problems).toEqual([]);
    expect(settings.permissions.allow).toMatchObject([{ source: 'user' }]);
  });
});

describe('settings that cannot be honoured', () => {
  it.each([
    ['{\n  "permissions": {\n    "deny": ["a"],\n  }\n}', 4, 'not valid JSON'],
    ['{\n  // no\n}', 2, 'not valid JSON'],
    ['[]', 1, 'not a JSON object'],
    ['{"model":"m",\n"permissions": []}', 2, '`permissions` must be an object'],
    ['{"permissions": {\n"deny": "Bash"}}', 2, '`permissions.deny` must be a list of strings'],
    ['{"permissions": {\n"ask": [1]}}', 2, '`permissions.ask` must be a list of strings'],
    ['{"permissions": {\n"defaultMode": "bypas"}}', 2, '`permissions.defaultMode` must be one of'],
    ['{"permissions": {"disableBypassPermissionsMode": true}}', 1, 'must be "disable"'],
    ['{"__proto__": {}}', 1, 'not valid JSON'],
  ])('are fatal: %j', async (text, line, message) => {
    const { problems } = await load({ '.claude/settings.json': text });
    expect(problems).toMatchObject([
      { severity: 'fatal', line, file: path.join(project.directory, '.claude/settings.json') },
    ]);
    expect(problems[0]?.message).toContain(message);
    expect(problems[0] && describeProblem(problems[0])).toContain(`settings.json:${line}: `);
  });

  it('are fatal when the file is there but cannot be read', async () => {
    const { problems } = await load({ '.claude/settings.json': { directory: true } });
    expect(problems).toMatchObject([{ severity: 'fatal' }]);
  });

  it('are fatal when the named file is not there', async () => {
    expect((await load({}, { flag: 'nope.json' })).problems).toMatchObject([{ severity: 'fatal' }]);
  });

  it('are fatal in flag text too', async () => {
    expect((await load({}, { flag: '{"permissions": 1' })).problems).toMatchObject([
      { severity: 'fatal', file: '--settings' },
    ]);
  });

  it('are only a warning for conveniences, and unknown keys are kept', async () => {
    const { settings, problems } = await load({
      '.claude/settings.json': '\uFEFF{"model": 1, "env": {"A": []}, "mine": {"x": 1}}',
    });
    expect(problems.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      'warning: `mine` is not a setting and has no effect.',
      'warning: `model` must be a string; it is 1.',
      'warning: `env.A` must be a string or a number or true or false; it is a list.',
    ]);
    expect([settings.model, settings.env]).toEqual([undefined, {}]);
    expect(settings.files.find((file) => file.source === 'project')?.content.mine).toEqual({
      x: 1,
    });
  });

  it('do not include empty files', async () => {
    expect((await load({ '.claude/settings.json': ' \n' })).problems).toEqual([]);
  });
});

describe('a folder that is not trusted', () => {
  const everything = JSON.stringify({
    env: { APP: 'x' },
    permissions: {
      allow: ['Bash'],
      ask: ['Write'],
      deny: ['Read'],
      additionalDirectories: ['/'],
      defaultMode: 'plan',
    },
  });

  it.each(['.claude/settings.json', '.claude/settings.local.json'])(
    'restricts but does not grant: %s',
    async (name) => {
      const { settings, problems } = await load({ [name]: everything }, { trust: false });
      const { allow, ask, deny, additionalDirectories, defaultMode } = settings.permissions;
      expect([allow, additionalDirectories]).toEqual([[], []]);
      expect([texts(ask), texts(deny)]).toEqual([['Write'], ['Read']]);
      expect(settings.env).toEqual({});
      expect(defaultMode?.value).toBe('plan');
      expect(
        problems.map(({ severity, message }) => `${severity} ${message.split(' ')[0]}`),
      ).toEqual([
        'note `env`',
        'note `permissions.allow`',
        'note `permissions.additionalDirectories`',
      ]);
    },
  );

  it('grants once it is trusted', async () => {
    const { settings, problems } = await load({ '.claude/settings.json': everything });
    expect(problems).toEqual([]);
    expect(texts(settings.permissions.allow)).toEqual(['Bash']);
    expect(settings.permissions.additionalDirectories).toMatchObject([{ value: '/' }]);
    expect(settings.env).toMatchObject({ APP: { value: 'x' } });
  });

  it('never sets variables of this program', async () => {
    const { settings, problems } = await load({
      '.claude/settings.json': '{"env": {"PORTCULLIS_TRUST": "once"}}',
    });
    expect(settings.env).toEqual({});
    expect(problems).toMatchObject([{ severity: 'warning' }]);
  });
});

describe('the mode', () => {
  const modeOf = async (project_: string, user?: string, trust = true) => {
    const { settings, problems } = await load(
      { '.claude/settings.json': permissions({ defaultMode: project_ }) },
      user === undefined
        ? { trust }
        : { trust, home: { '.claude/settings.json': permissions({ defaultMode: user }) } },
    );
    return [settings.permissions.defaultMode?.value, problems.map((problem) => problem.severity)];
  };

  it.each([
    ['bypassPermissions', undefined, undefined, ['warning']],
    ['acceptEdits', undefined, 'acceptEdits', []],
    ['acceptEdits', 'default', 'default', ['warning']],
    ['acceptEdits', 'plan', 'plan', ['warning']],
    ['auto', undefined, undefined, ['warning']],
    ['acceptEdits', 'auto', undefined, ['warning', 'warning']],
    ['plan', undefined, 'plan', []],
    ['dontAsk', undefined, 'dontAsk', []],
    ['manual', undefined, 'default', []],
    ['default', 'plan', 'plan', ['warning']],
    ['acceptEdits', 'bypassPermissions', 'acceptEdits', []],
    ['default', 'acceptEdits', 'default', []],
  ])(
    '%s of a trusted project with %s of its user',
    async (ofProject, ofUser, expected, severities) => {
      expect(await modeOf(ofProject, ofUser)).toEqual([expected, severities]);
    },
  );

  it.each([
    ['acceptEdits', undefined, ['warning']],
    ['bypassPermissions', undefined, ['warning']],
    ['plan', 'plan', []],
  ])('%s of a project that nobody trusts', async (ofProject, expected, severities) => {
    expect(await modeOf(ofProject, undefined, false)).toEqual([expected, severities]);
  });

  it('that a project raised is lowered again by its local file, and the other way round', async () => {
    const both = async (shared: string, local: string) => {
      const { settings } = await load({
        '.claude/settings.json': permissions({ defaultMode: shared }),
        '.claude/settings.local.json': permissions({ defaultMode: local }),
      });
      return settings.permissions.defaultMode?.value;
    };
    expect(await both('acceptEdits', 'plan')).toBe('plan');
    expect(await both('plan', 'acceptEdits')).toBe('plan');
  });

  it('is not a project’s to choose where an administrator chose one that cannot be had', async () => {
    const { settings } = await load(
      { '.claude/settings.json': permissions({ defaultMode: 'acceptEdits' }) },
      { home: { 'managed/managed-settings.json': permissions({ defaultMode: 'auto' }) } },
    );
    expect(settings.permissions.defaultMode).toBeUndefined();
  });

  it('is not bypassPermissions where that is disabled', async () => {
    const { settings } = await load(
      { '.claude/settings.json': permissions({ disableBypassPermissionsMode: 'disable' }) },
      {
        home: { '.claude/settings.json': permissions({ defaultMode: 'bypassPermissions' }) },
        trust: false,
      },
    );
    expect(settings.permissions.defaultMode).toBeUndefined();
    expect(settings.permissions.bypassDisabled).toMatchObject({ source: 'project', line: 1 });
  });
});

describe('additional directories', () => {
  it('are absolute, from the project’s own directory or the home', async () => {
    const { settings } = await load({
      '.claude/settings.json': permissions({
        additionalDirectories: ['../other', '~/docs', '/abs'],
      }),
    });
    expect(settings.permissions.additionalDirectories.map(({ value }) => value)).toEqual([
      path.join(project.root, 'other'),
      path.join(project.home, 'docs'),
      '/abs',
    ]);
  });
});

describe('unreadable settings', () => {
  it.runIf(process.getuid?.() !== 0)('are fatal for everyone but root', async () => {
    project = makeTempProject({ files: { '.claude/settings.json': '{}' } });
    chmodSync(project.at('.claude/settings.json'), 0);
    const { problems } = await loadSettings({
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: project.home,
      managedDir: project.home,
      sources: ['project'],
      trustProject: true,
      env: {},
    });
    expect(problems).toMatchObject([{ severity: 'fatal' }]);
  });

  it.each<[string, ProjectFiles, ProjectFiles, string]>([
    ['the user', {}, { '.claude/settings.json': { symlink: 'gone.json' } }, 'settings.json'],
    [
      'a project',
      { '.claude/settings.local.json': { symlink: 'gone' } },
      {},
      'settings.local.json',
    ],
    ['a project, all of them,', { '.claude': { symlink: '../gone' } }, {}, '.claude'],
    ['an administrator', {}, { 'managed/managed-settings.json': { symlink: '/gone' } }, 'managed-'],
    ['drop-ins', {}, { 'managed/managed-settings.d': { symlink: '/gone' } }, 'managed-settings.d'],
  ])('of %s behind a link to nothing are fatal', async (_whose, files, home, name) => {
    const { problems } = await load(files, { home });
    const [first] = problems;
    expect(first).toMatchObject({ severity: 'fatal', remedy: 'Correct the link or remove it.' });
    expect(first?.message).toMatch(/is a link to something that does not exist/);
    expect(first?.message).toContain(name);
  });

  it('are fatal where letters were lost, because their rules would match nothing', async () => {
    const latin1 = Buffer.from('{"permissions":\n{"deny": ["Read(caf\xe9/**)"]}}', 'latin1');
    const home = { '.claude/settings.json': { base64: latin1.toString('base64') } };
    const { problems } = await load({}, { home });
    expect(problems.map(describeProblem)).toEqual([
      `${path.join(project.home, '.claude/settings.json')}:2: the settings are not valid UTF-8. Save the file as UTF-8.`,
    ]);
  });

  it.each(['', ' \n'])('are fatal where the command line gives none: %j', async (flag) => {
    const { problems } = await load({}, { flag });
    expect(problems.map(describeProblem)).toEqual([
      '--settings: the settings are empty. Give JSON text or the name of a file, or leave the flag out.',
    ]);
  });

  it('keep rules for an agent without a name, so that they are refused', async () => {
    const flag = '{"portcullis": {"agents": {"": {"deny": ["Bash"]}}}}';
    const { settings } = await load({}, { flag });
    expect(settings.permissions.agents).toMatchObject([{ pattern: '', deny: [{ source: 'cli' }] }]);
  });

  it('of administrators have their usual place', () => {
    project = makeTempProject();
    expect(managedSettingsDirectory('linux')).toBe('/etc/claude-code');
    expect(managedSettingsDirectory('darwin')).toContain('/Library/');
  });
});

describe('settings of an administrator', () => {
  const managed = (files: Record<string, unknown>): ProjectFiles =>
    Object.fromEntries(
      Object.entries(files).map(([name, value]) => [`managed/${name}`, JSON.stringify(value)]),
    );

  it('come from the base file and its drop-ins, the last name strongest', async () => {
    const { settings, problems } = await load(
      {},
      {
        home: {
          ...managed({
            'managed-settings.json': { model: 'base', permissions: { deny: ['Base'] } },
            'managed-settings.d/20-b.json': { model: 'twenty', permissions: { deny: ['Twenty'] } },
            'managed-settings.d/10-a.json': { model: 'ten', permissions: { deny: ['Ten'] } },
            'managed-settings.d/.hidden.json': { model: 'hidden' },
            'managed-settings.d/readme.txt': {},
          }),
        },
      },
    );
    expect(problems).toEqual([]);
    expect(settings.model).toMatchObject({ value: 'twenty', source: 'managed' });
    expect(texts(settings.permissions.deny)).toEqual(['Twenty', 'Ten', 'Base']);
  });

  it('are fatal when one drop-in cannot be read', async () => {
    const { problems } = await load({}, { home: { 'managed/managed-settings.d/x.json': '{,}' } });
    expect(problems).toMatchObject([{ severity: 'fatal', source: 'managed' }]);
  });

  it('may keep all granting to themselves; restrictions of others stay', async () => {
    const { settings, problems } = await load(
      { '.claude/settings.json': permissions({ allow: ['P'], deny: ['PD'], ask: ['PA'] }) },
      {
        home: {
          ...managed({
            'managed-settings.json': {
              allowManagedPermissionRulesOnly: true,
              permissions: { allow: ['M'] },
            },
          }),
          '.claude/settings.json': JSON.stringify({
            permissions: { allow: ['U'], deny: ['UD'] },
            portcullis: { agents: { main: { allow: ['UM'], deny: ['UMD'] } } },
          }),
        },
        flag: permissions({ allow: ['F'] }),
      },
    );
    expect(texts(settings.permissions.allow)).toEqual(['M']);
    expect(texts(settings.permissions.deny)).toEqual(['PD', 'UD']);
    expect(texts(settings.permissions.ask)).toEqual(['PA']);
    expect(settings.permissions.managedRulesOnly).toMatchObject({ value: true, line: 1 });
    expect(settings.permissions.agents).toMatchObject([
      { pattern: 'main', allow: [], deny: [{ value: { text: 'UMD' } }] },
    ]);
    expect(problems.map(({ severity }) => severity)).toEqual(['note', 'note', 'note', 'note']);
  });

  it('are nobody else’s to write: such a restriction would never hold', async () => {
    const { problems } = await load({}, { flag: '{"allowManagedHooksOnly": true}' });
    expect(problems).toMatchObject([
      { severity: 'fatal', message: expect.stringContaining('only an administrator') },
    ]);
    project.remove();
    const harmless = await load({}, { flag: '{"allowManagedHooksOnly": false}' });
    expect(harmless.problems).toMatchObject([{ severity: 'warning' }]);
  });
});

describe('values of several files', () => {
  it('are joined object by object, and the strict one wins where it must', async () => {
    const { settings, merged } = await load(
      {
        '.claude/settings.json': JSON.stringify({
          cleanupPeriodDays: 5,
          permissions: { denyInsteadOfPrompting: false },
          worktree: { baseRef: 'head' },
          enabledMcpjsonServers: ['a', 'b'],
        }),
      },
      {
        home: {
          '.claude/settings.json': JSON.stringify({
            cleanupPeriodDays: 9,
            permissions: { denyInsteadOfPrompting: true },
            worktree: { baseRef: 'fresh', sparsePaths: ['x'] },
            enabledMcpjsonServers: ['b', 'c'],
            fallbackModel: ['u'],
            portcullis: { askReadOnly: true },
          }),
        },
        flag: '{"fallbackModel": ["f", "g"]}',
      },
    );
    const { values } = settings;
    expect(values.get('cleanupPeriodDays')).toMatchObject({ value: 5, source: 'project' });
    expect(values.get('worktree.baseRef')).toMatchObject({ value: 'head' });
    expect(values.list('worktree.sparsePaths')).toMatchObject([{ value: 'x', source: 'user' }]);
    expect(values.list('enabledMcpjsonServers').map(({ value }) => value)).toEqual(['a', 'b', 'c']);
    expect(values.get('fallbackModel')).toMatchObject({ value: ['f', 'g'], source: 'cli' });
    expect(values.get('nothing')).toBeUndefined();
    expect(settings.permissions.denyInsteadOfPrompting).toMatchObject({ source: 'user' });
    expect(settings.permissions.askReadOnly).toMatchObject({ value: true });
    expect(contributionsOf(merged, 'cleanupPeriodDays')).toMatchObject([
      { value: 5, standing: 'in force', source: 'project' },
      { value: 9, standing: 'shadowed', source: 'user' },
    ]);
  });

  it('that run or grant wait for trust, unless they only restrict', async () => {
    const { settings } = await load(
      {
        '.claude/settings.json': JSON.stringify({
          apiKeyHelper: 'x',
          statusLine: { type: 'command', command: 'x' },
          enableAllProjectMcpServers: true,
          disableAllHooks: true,
          disabledMcpjsonServers: ['bad'],
          disableSkillShellExecution: true,
          hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'x' }] }] },
          sandbox: { enabled: false, filesystem: { denyRead: ['s'], allowWrite: ['/'] } },
          portcullis: { agents: { main: { allow: ['Bash'], deny: ['Write'] } } },
        }),
      },
      { trust: false },
    );
    const { values } = settings;
    for (const key of [
      'apiKeyHelper',
      'statusLine.command',
      'enableAllProjectMcpServers',
      'disableAllHooks',
      'sandbox.enabled',
    ]) {
      expect([key, values.get(key)]).toEqual([key, undefined]);
    }
    expect(values.list('hooks.PreToolUse')).toEqual([]);
    expect(values.list('sandbox.filesystem.allowWrite')).toEqual([]);
    expect(values.list('sandbox.filesystem.denyRead')).toMatchObject([{ value: 's' }]);
    expect(values.list('disabledMcpjsonServers')).toMatchObject([{ value: 'bad' }]);
    expect(values.get('disableSkillShellExecution')).toMatchObject({ value: true });
    expect(settings.permissions.agents).toMatchObject([{ allow: [], deny: [{ line: 1 }] }]);
  });

  it('given by a host count as far as they restrict', async () => {
    project = makeTempProject();
    const { settings, problems } = await loadSettings({
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: project.home,
      managedDir: project.home,
      sources: [],
      trustProject: false,
      env: {},
      hostSettings: JSON.stringify({
        model: 'm',
        env: { A: '1' },
        apiKeyHelper: 'x',
        allowManagedPermissionRulesOnly: true,
        permissions: {
          allow: ['Bash'],
          deny: ['Write'],
          defaultMode: 'bypassPermissions',
          disableBypassPermissionsMode: 'disable',
        },
      }),
    });
    expect(problems).toEqual([]);
    expect(settings.model).toBeUndefined();
    expect(settings.env).toEqual({});
    expect(settings.permissions).toMatchObject({
      allow: [],
      deny: [{ value: { text: 'Write' }, source: 'sdk' }],
      bypassDisabled: { source: 'sdk' },
      managedRulesOnly: { source: 'sdk' },
    });
    expect(settings.permissions.defaultMode).toBeUndefined();
  });
});

describe('restrictions that a host cannot give', () => {
  it.each([
    [{ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'x' }] }] } }, 'hooks'],
    [{ permissions: { defaultMode: 'plan' } }, 'permissions.defaultMode'],
    [{ permissions: { defaultMode: 'dontAsk' } }, 'permissions.defaultMode'],
  ])('are reported: %j', async (content, path) => {
    project = makeTempProject();
    const { problems } = await loadSettings({
      fs: nodeFileSystem,
      cwd: project.directory,
      configDir: project.home,
      managedDir: project.home,
      sources: [],
      trustProject: false,
      env: {},
      hostSettings: JSON.stringify(content),
    });
    expect(problems).toMatchObject([
      { severity: 'warning', message: `\`${path}\` has no effect in the settings of a host.` },
    ]);
  });
});

describe('what this version cannot enforce', () => {
  it.each([
    [{ permissions: { blockReadsOutsideWorkingDirectories: true } }, 'fatal'],
    [{ permissions: { blockReadsOutsideWorkingDirectories: false } }, undefined],
    [{ availableModels: ['x'] }, 'fatal'],
    [{ sandbox: { credentials: { awsPairs: [{}] } } }, 'fatal'],
    // The availability of a sandbox is checked when a session starts.
    [{ sandbox: { enabled: true } }, undefined],
    [{ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'x' }] }] } }, undefined],
  ])('%j', async (content, severity) => {
    const { problems } = await load({}, { flag: JSON.stringify(content) });
    expect(problems.map((problem) => problem.severity)).toEqual(
      severity === undefined ? [] : [severity],
    );
  });
});

describe('strictness', () => {
  const off = JSON.stringify({ portcullis: { strict: false }, permisions: {} });

  it('is the user’s to switch off, for what no administrator wrote', async () => {
    const { settings, problems } = await load(
      {},
      { home: { '.claude/settings.json': off, 'managed/managed-settings.json': '{"sandox": {}}' } },
    );
    const judged = withStrictness(problems, settings.strictness);
    expect(judged.map(({ severity, source }) => `${severity} ${source ?? ''}`)).toEqual([
      'warning ',
      'fatal managed',
      'warning user',
    ]);
    expect(judged[0]?.message).toContain('`portcullis.strict` is false');
  });

  it('is an administrator’s to keep', async () => {
    const { settings } = await load(
      {},
      {
        home: {
          '.claude/settings.json': off,
          'managed/managed-settings.json': '{"portcullis": {"strict": true}}',
        },
      },
    );
    expect(settings.strictness).toEqual({});
  });

  it('is no project’s and no flag’s to switch off', async () => {
    const { settings, problems } = await load({ '.claude/settings.json': off }, { flag: off });
    expect(settings.strictness).toEqual({});
    expect(problems.map(({ message }) => message)).toContain(
      '`portcullis.strict` is ignored here.',
    );
  });
});
