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

/** Opens the settings, the environment and the workspace of a session. */
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
  let currentSettings = (): typeof settings => settings;
  const fromSettings = Object.entries(settings.env).map(([name, { value }]) => [name, value]);
  const env = { ...config.env, ...Object.fromEntries(fromSettings) } as SessionConfig['env'];
  // Secrets have to be known before anything about this session is written.
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
    /** Read through a getter, because settings change during the session. */
    get settings() {
      return currentSettings();
    },
    watch(how: Parameters<typeof opened.watch>[0]) {
      const live = opened.watch(how);
      currentSettings = live.current;
      return live;
    },
    trust,
    /** Trust in the folders of added and nested directories as well. */
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

/** Opens the transcript of the session. */
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

/** Limits of `portcullis.budget`; every source may lower those of others, none may raise them. */
export function budgetOf(values: Pick<SettingValues, 'said'>): BudgetLimits {
  let limits: BudgetLimits = {};
  for (const unit of BUDGET_UNITS) {
    for (const { value } of values.said(`portcullis.budget.${unit}`)) {
      if (typeof value === 'number') limits = strictest(limits, { [unit]: value });
    }
  }
  return limits;
}

/** Facts about the environment, fixed before the first prompt. */
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
