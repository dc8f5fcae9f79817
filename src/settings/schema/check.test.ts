import { describe, expect, it } from 'vitest';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { parseLocatedJson } from '../files/json.js';
import type { SettingsFile } from '../types.js';
import { checkFiles } from './check.js';

function fileOf(content: unknown, over: Partial<SettingsFile> = {}): SettingsFile {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 1);
  const json = parseLocatedJson(text);
  if (!json.ok) throw new Error(json.message);
  return {
    source: 'user',
    file: '/u/settings.json',
    root: '/u',
    trusted: true,
    content: json.value as Record<string, unknown>,
    duplicates: json.duplicates,
    lineOf: json.lineOf,
    ...over,
  };
}

function check(content: unknown, over: Partial<SettingsFile> = {}): readonly string[] {
  const { problems } = checkFiles([fileOf(content, over)], {
    knownTools: Object.keys(RULE_TOOLS),
  });
  return problems.map(
    ({ severity, line, message, remedy }) => `${severity} ${line}: ${message} ${remedy}`,
  );
}

const hook = { type: 'command', command: './guard.sh' };

describe('a misspelt or misplaced restriction stops the start', () => {
  it.each([
    [
      { permisions: { deny: ['Bash'] } },
      '`permisions` is not a setting. Did you mean permissions?',
    ],
    [{ Permissions: {} }, '`Permissions` is not a setting. Did you mean permissions?'],
    [{ permission: {} }, '`permission` is not a setting. Did you mean permissions?'],
    [{ hook: {} }, '`hook` is not a setting. Did you mean hooks?'],
    [{ sandox: {} }, '`sandox` is not a setting. Did you mean sandbox?'],
    [{ portculis: {} }, '`portculis` is not a setting. Did you mean portcullis?'],
    [
      { denyedMcpServers: [] },
      '`denyedMcpServers` is not a setting. Did you mean deniedMcpServers?',
    ],
    [
      { disallowedTools: ['Bash'] },
      '`disallowedTools` is not a setting. Write the rules into permissions.deny.',
    ],
    [
      { disallowed_tools: [] },
      '`disallowed_tools` is not a setting. Write the rules into permissions.deny.',
    ],
    [{ deny: ['Bash'] }, '`deny` is not a setting. Write it as permissions.deny.'],
    [
      { 'permissions.deny': ['Bash'] },
      '`permissions.deny` is not read as a path. Write {"permissions": {"deny": …}}.',
    ],
    [
      { 'Permissions.dney': ['Bash'] },
      '`Permissions.dney` is not a setting. Write it into permissions.',
    ],
    [
      { 'portcullis.agents': { main: { deny: ['Bash'] } } },
      '`portcullis.agents` is not read as a path. Write {"portcullis": {"agents": …}}.',
    ],
    [
      { agents: { main: { deny: ['Bash'] } } },
      '`agents` is not a setting, but holds `deny`. Write it as permissions.deny.',
    ],
    [
      { settings: { permissions: { deny: ['Bash'] } } },
      '`settings` is not a setting, but holds `deny`. Write it as permissions.deny.',
    ],
    [
      { defaultMode: 'plan' },
      '`defaultMode` is not a setting. Write it as permissions.defaultMode.',
    ],
    [{ PreToolUse: [] }, '`PreToolUse` is not a setting. Write it as hooks.PreToolUse.'],
    [{ denyRead: [] }, '`denyRead` is not a setting. Write it as sandbox.filesystem.denyRead.'],
    [{ askReadOnly: true }, '`askReadOnly` is not a setting. Write it as portcullis.askReadOnly.'],
    [{ maxTurns: 3 }, '`maxTurns` is not a setting. It is a flag: --max-turns.'],
    [
      { policy: { deny: ['Bash'] } },
      '`policy` is not a setting, but holds `deny`. Write it as permissions.deny.',
    ],
    [
      { guards: { PreToolUse: [] } },
      '`guards` is not a setting, but holds `PreToolUse`. Write it as hooks.PreToolUse.',
    ],
    [{ permissions: { denny: [] } }, '`permissions.denny` is not a setting. Did you mean deny?'],
    [{ permissions: { Deny: [] } }, '`permissions.Deny` is not a setting. Did you mean deny?'],
    [
      { permissions: { zzzzzzzz: [] } },
      '`permissions.zzzzzzzz` is not a setting. Known here: allow, ask,',
    ],
    [
      { sandbox: { network: { denyDomains: [] } } },
      '`sandbox.network.denyDomains` is not a setting. Did you mean deniedDomains?',
    ],
    [
      { portcullis: { askReadonly: true } },
      '`portcullis.askReadonly` is not a setting. Did you mean askReadOnly?',
    ],
    [
      { portcullis: { agents: { main: { denny: [] } } } },
      '`portcullis.agents.main.denny` is not a setting. Did you mean deny?',
    ],
  ])('%j', (content, problem) => {
    const found = check(content);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^fatal [2-5]: /);
    expect(found[0]).toContain(problem);
  });
});

describe('a restriction of a wrong type stops the start', () => {
  it.each([
    [
      { permissions: { deny: 'Bash' } },
      '`permissions.deny` must be a list of strings; it is "Bash". Correct the value.',
    ],
    [
      { permissions: { ask: [1] } },
      '`permissions.ask` must be a list of strings; item 1 is 1. Correct the value.',
    ],
    [
      { sandbox: { filesystem: { denyRead: ['a', ''] } } },
      '`sandbox.filesystem.denyRead` must be a list of strings; item 2 is empty.',
    ],
    [{ permissions: { deny: null } }, '`permissions.deny` must be a list of strings; it is null.'],
    [{ permissions: { defaultMode: 'plann' } }, 'Did you mean "plan"?'],
    [
      { permissions: { disableBypassPermissionsMode: 'disabled' } },
      'must be "disable"; it is "disabled". Did you mean "disable"?',
    ],
    [{ permissions: { denyInsteadOfPrompting: 'yes' } }, 'must be true or false; it is "yes".'],
    [{ sandbox: true }, '`sandbox` must be an object; it is true.'],
    [
      { allowManagedHooksOnly: 'true' },
      '`allowManagedHooksOnly` must be true or false; it is "true".',
    ],
    [
      { deniedMcpServers: [{ serverNam: 'x' }] },
      '`deniedMcpServers[0].serverNam` is not a setting. Did you mean serverName?',
    ],
    [
      { portcullis: { agents: { main: ['Bash'] } } },
      '`portcullis.agents.main` must be an object; it is a list.',
    ],
    [
      { portcullis: { hookFailure: 'opne' } },
      'must be one of "strict", "closed", "open", "block", "continue"; it is "opne". Did you mean "open"?',
    ],
    [
      { portcullis: { hookTimeouts: { PreTooluse: 5000 } } },
      '`portcullis.hookTimeouts.PreTooluse` has no effect: there is no event PreTooluse. Did you mean PreToolUse?',
    ],
    [{ portcullis: { hookTimeouts: { Stop: 0 } } }, 'must be a number above 0; it is 0.'],
    [{ portcullis: { probeHooks: 'yes' } }, 'must be true or false; it is "yes".'],
  ])('%j', (content, problem) => {
    const found = check(content);
    expect(found[0]).toMatch(/^fatal /);
    expect(found.join('\n')).toContain(problem);
  });

  it.each([
    ['{"permissions": {"deny": ["A"]},\n"permissions": {}}', 'fatal 2: `permissions` occurs twice'],
    ['{"permissions": {"deny": ["A"],\n"deny": []}}', 'fatal 2: `permissions.deny` occurs twice'],
    [
      '{"permissions": {"allow": ["A"],\n"allow": []}}',
      'warning 2: `permissions.allow` occurs twice',
    ],
    ['{"model": "a",\n"model": "b"}', 'warning 2: `model` occurs twice'],
  ])('and so does one that occurs twice: %s', (text, problem) => {
    expect(check(text)).toEqual([expect.stringContaining(problem)]);
  });
});

describe('a grant or convenience only warns', () => {
  it.each([
    [
      { permissions: { alow: ['Read'] } },
      '`permissions.alow` is not a setting. Did you mean allow?',
    ],
    [{ permissions: { allow: 'Read' } }, '`permissions.allow` must be a list of strings'],
    [
      { permissions: { additionalDirectories: '..' } },
      '`permissions.additionalDirectories` must be',
    ],
    [{ allowedTools: ['Read'] }, 'Write the rules into permissions.allow.'],
    [{ disableAutoUpdate: true }, 'Did you mean disableAutoMode?'],
    [{ mcpServers: {} }, 'Servers stand in .mcp.json.'],
    [{ modl: 'x' }, '`modl` is not a setting. Did you mean model?'],
    [
      { cleanupPeriodDays: 0 },
      '`cleanupPeriodDays` must be a whole number of at least 1; it is 0.',
    ],
    [
      { sandbox: { excludedCommands: 'git' } },
      '`sandbox.excludedCommands` must be a list of strings',
    ],
    [{ statusLine: { type: 'command' } }, '`statusLine.command` is missing.'],
  ])('%j', (content, problem) => {
    expect(check(content)).toEqual([expect.stringContaining(problem)]);
    expect(check(content)[0]).toMatch(/^warning /);
  });

  it('and strangers are named once', () => {
    expect(check({ zzzz: 1, yyyy: 2, model: 'm', _note: 'x', '//': 'y', $comment: 'z' })).toEqual([
      'warning 2: `zzzz`, `yyyy` are not settings and have no effect. docs/reference/settings.md lists the settings.',
    ]);
  });

  it('and what other programs show is nothing to talk about', () => {
    expect(
      check({
        $schema: 'x',
        theme: 'dark',
        spinnerTipsEnabled: false,
        includeCoAuthoredBy: false,
        outputStyle: 'x',
        attribution: { commit: '' },
        enabledPlugins: { 'a@b': true },
        env: { A: 1, B: true, C: 'x' },
        hooks: { Stop: [{ hooks: [{ ...hook, timeout: 5, once: true }] }] },
        portcullis: {
          agents: { '**/reviewer#*': { deny: ['Write'] } },
          hookTimeouts: { Stop: 3000 },
        },
      }),
    ).toEqual([]);
  });
});
