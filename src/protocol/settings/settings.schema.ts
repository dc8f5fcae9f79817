/**
 * Every key of a settings file, once. From here come `schema/settings.json`, the reference page and
 * the table that settings are checked and merged by.
 */
import { z } from 'zod';
import { flag, list, open } from '../declare.schema.js';
import {
  command,
  disables,
  elsewhere,
  fence,
  managed,
  managedLater,
  trustedFence,
} from './setting-key.schema.js';
import { ofOtherPrograms, terminalSettings } from './settings-elsewhere.schema.js';
import { extensionSettings, programSettings } from './settings-extensions.schema.js';
import { hooks } from './settings-hooks.schema.js';
import { portcullis } from './settings-own.schema.js';
import { permissions } from './settings-permissions.schema.js';
import { sandbox } from './settings-sandbox.schema.js';
import { modelSettings, sessionSettings } from './settings-session.schema.js';

export { FACTS } from './setting-key.schema.js';

const guardSettings = {
  permissions: fence(permissions, 'Rules, modes and working directories.'),
  hooks: trustedFence(hooks, 'Programs that are asked or told at events.'),
  sandbox: fence(sandbox, 'A fence of the operating system around programs.'),
  portcullis: fence(portcullis, 'Settings of this program alone.'),
  allowManagedPermissionRulesOnly: managed(
    flag,
    'Only managed rules grant. Deny and ask rules of all sources stay.',
  ),
  disableAllHooks: fence(
    flag,
    'No hooks but those of an administrator and of the host. Of an administrator: none of his either. Of a project: none of its own; those of others stay.',
    { needsTrust: true, strict: false, live: true },
  ),
  allowManagedHooksOnly: managed(
    flag,
    'Only hooks of an administrator run; callbacks of the host can still refuse.',
  ),
  allowedHttpHookUrls: trustedFence(
    list,
    'The only URLs that HTTP hooks of any source may call; * stands for anything, [] allows none.',
  ),
  httpHookAllowedEnvVars: trustedFence(
    list,
    'The only variables that headers of HTTP hooks may use, of those that a hook lists itself.',
  ),
  disableAutoMode: disables('As permissions.disableAutoMode.'),
  skipDangerousModePermissionPrompt: command(flag, 'No confirmation of bypassPermissions.'),
  autoMode: elsewhere(open, 'Rules of the mode auto, which is not available here.', {
    scope: 'user',
  }),
  strictPluginOnlyCustomization: managedLater(
    z.union([flag, list]),
    'Only plugins and administrators customise.',
  ),
  disableSideloadFlags: managed(flag, 'Refuses flags that add agents, plugins or servers.'),
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
