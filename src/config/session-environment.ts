import { BUDGET_UNITS, type BudgetLimits, strictest } from '../budget/units.js';
import { learnSecrets } from '../lib/text/redact.js';
import { systemClock } from '../platform/clock.js';
import { secretValues } from '../platform/environment.js';
import { nodeFileSystem } from '../platform/fs/node-fs.js';
import { configDirectory, currentBranch, resolve, stateDirectory } from '../platform/fs/paths.js';
import { hostFacts } from '../platform/host.js';
import { openSessionLog, type SessionLog } from '../session/transcript/open-log.js';
import { managedSettingsDirectory } from '../settings/files/load.js';
import { openSettings } from '../settings/files/open.js';
import type { SettingValues } from '../settings/types.js';
import { createWorkspace } from '../tools/workspace.js';
import { openFolderTrust } from './folder-trust.js';
import { hookChecks, openPlugins } from './plugins.js';
import type { SessionConfig } from './session-config.js';

/** Settings, environment, workspace. */
export async function openSessionEnvironment(config: SessionConfig) {
  const host = hostFacts();
  const fs = nodeFileSystem;
  const configDir = configDirectory(config.env);
  const sources = config.settingSources ?? (['user', 'project', 'local'] as const);
  const opened = await openSettings({
    fs,
    cwd: config.cwd,
    configDir,
    managedDir: managedSettingsDirectory(host.os),
    stateDirectory: stateDirectory(config.env),
    sources,
    asked: config.projectTrust,
    given: config.trust,
    env: config.env,
    ...hookChecks(config.cwd, config.env),
    now: systemClock.now,
    emit: config.emit,
    ignoreFileGrants: config.ignoreFileGrants,
    flagSettings: config.settings,
    hostSettings: config.managedSettings,
  });
  const { settings, trust } = opened;
  let settingsNow = (): typeof settings => settings;
  const fromSettings = Object.entries(settings.env).map(([name, { value }]) => [name, value]);
  const env = { ...config.env, ...Object.fromEntries(fromSettings) } as SessionConfig['env'];
  // Before anything is written down about this session.
  learnSecrets(secretValues(env));
  const additional = [
    ...(config.addDirs ?? []).map((directory) => resolve(config.cwd, directory)),
    ...settings.permissions.additionalDirectories.map((directory) => directory.value),
  ];
  return {
    fs,
    cwd: config.cwd,
    host,
    configDir,
    sources,
    stateDirectory: stateDirectory(config.env),
    /** The current values; a kept reference would go stale. */
    get settings() {
      return settingsNow();
    },
    watch(how: Parameters<typeof opened.watch>[0]) {
      const live = opened.watch(how);
      settingsNow = live.current;
      return live;
    },
    trust,
    /** Trust in the folders of added and nested directories, too. */
    folders: openFolderTrust({
      fs,
      cwd: config.cwd,
      configDir,
      stateDirectory: stateDirectory(env),
      sources,
      trust,
      now: systemClock.now,
    }),
    plugins: await openPlugins(config, { fs, configDir, settings }),
    additional,
    clock: systemClock,
    env,
    workspace: createWorkspace([config.cwd, ...additional]),
    gitBranch: currentBranch(config.cwd),
  };
}

export type SessionEnvironment = Awaited<ReturnType<typeof openSessionEnvironment>>;

/** The transcript: what was said before, and where it goes on. */
export function openLog(config: SessionConfig, environment: SessionEnvironment) {
  return openSessionLog({
    configDir: environment.configDir,
    temporaryDirectory: environment.host.temporaryDirectory,
    projectDirName: environment.env.CLAUDE_CODE_PROJECT_DIR_NAME,
    clock: environment.clock,
    workspace: environment.workspace,
    gitBranch: environment.gitBranch,
    ...config,
  });
}

export type Log = SessionLog;

/** `portcullis.budget`. Whoever sets one may lower what others allow, nobody raises it. */
export function budgetOf(values: Pick<SettingValues, 'said'>): BudgetLimits {
  let limits: BudgetLimits = {};
  for (const unit of BUDGET_UNITS) {
    for (const { value } of values.said(`portcullis.budget.${unit}`)) {
      if (typeof value === 'number') limits = strictest(limits, { [unit]: value });
    }
  }
  return limits;
}

/** Facts about the place, as they stand before the first prompt. */
export function openingFacts(environment: SessionEnvironment, model: string) {
  return {
    cwd: environment.workspace.cwd,
    additionalDirectories: environment.additional,
    platform: environment.host.platform,
    date: new Date(environment.clock.now()).toISOString().slice(0, 10),
    gitBranch: environment.gitBranch,
    model,
  };
}
