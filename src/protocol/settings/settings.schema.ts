/**
 * Every key of a settings file, once. From here come `schema/settings.json`, the reference page and
 * the table that settings are checked and merged by.
 */
import { z } from 'zod';
import { ELSEWHERE, flag, key, list, MANAGED_FENCE, table } from './setting-key.schema.js';
import { ofOtherPrograms, terminalSettings } from './settings-elsewhere.schema.js';
import { extensionSettings, programSettings } from './settings-extensions.schema.js';
import { hooks } from './settings-hooks.schema.js';
import { portcullis } from './settings-own.schema.js';
import { permissions } from './settings-permissions.schema.js';
import { sandbox } from './settings-sandbox.schema.js';
import { modelSettings, sessionSettings } from './settings-session.schema.js';

export { FACTS } from './setting-key.schema.js';

const guardSettings = {
  permissions: key(permissions, 'Rules, modes and working directories.', { restricts: true }),
  hooks: key(hooks, 'Programs that are asked or told at events.', {
    restricts: true,
    needsTrust: true,
    live: true,
  }),
  sandbox: key(sandbox, 'A fence of the operating system around programs.', {
    restricts: true,
  }),
  portcullis: key(portcullis, 'Settings of this program alone.', { restricts: true }),
  allowManagedPermissionRulesOnly: key(
    flag(),
    'Only managed rules grant. Deny and ask rules of all sources stay.',
    { restricts: true, scope: 'managed' },
  ),
  disableAllHooks: key(
    flag(),
    'No hooks but those of an administrator and of the host. Of an administrator: none of his either. Of a project: none of its own; those of others stay.',
    { restricts: true, needsTrust: true, strict: false, live: true },
  ),
  allowManagedHooksOnly: key(
    flag(),
    'Only hooks of an administrator run; callbacks of the host can still refuse.',
    { restricts: true, scope: 'managed' },
  ),
  allowedHttpHookUrls: key(
    list(),
    'The only URLs that HTTP hooks of any source may call; * stands for anything, [] allows none.',
    { restricts: true, needsTrust: true, live: true },
  ),
  httpHookAllowedEnvVars: key(
    list(),
    'The only variables that headers of HTTP hooks may use, of those that a hook lists itself.',
    { restricts: true, needsTrust: true, live: true },
  ),
  disableAutoMode: key(z.literal('disable'), 'As permissions.disableAutoMode.', {
    restricts: true,
    strict: 'disable',
    strictest: true,
    live: true,
  }),
  skipDangerousModePermissionPrompt: key(flag(), 'No confirmation of bypassPermissions.', {
    needsTrust: true,
    status: 'later',
  }),
  autoMode: key(table(), 'Rules of the mode auto, which is not available here.', {
    ...ELSEWHERE,
    scope: 'user',
  }),
  strictPluginOnlyCustomization: key(
    z.union([flag(), list()]),
    'Only plugins and administrators customise.',
    MANAGED_FENCE,
  ),
  disableSideloadFlags: key(flag(), 'Refuses flags that add agents, plugins or servers.', {
    restricts: true,
    scope: 'managed',
  }),
};

/** By group, in the order of the reference page. */
export const SETTING_GROUPS = {
  'Permissions and guards': guardSettings,
  'Model and answers': modelSettings,
  'MCP servers, skills, plugins': extensionSettings,
  'Environment, memory, sessions': sessionSettings,
  'Programs that settings start': programSettings,
  'The terminal': terminalSettings,
  'Of other programs': ofOtherPrograms,
};

export const Settings = z.looseObject(Object.assign({}, ...Object.values(SETTING_GROUPS)));
