import { AgentBook } from '../agents/definitions/definitions.js';
import { hookChecks, hooksOfPlugins } from '../config/plugins.js';
import { captureHooks } from '../hooks/registry/capture.js';
import { loadPlugins } from '../plugins/load.js';
import type { Plugin } from '../plugins/plugin.js';
import type { SettingValues } from '../settings/types.js';
import { openSkillBook } from '../skills/discovery/book.js';
import type { Finding } from './documents.js';
import type { ProjectPlaces } from './places.js';

/** What one plugin would bring, under the names that rules and people use. */
export interface PluginReport {
  readonly name: string;
  readonly version?: string | undefined;
  readonly directory: string;
  readonly skills: readonly string[];
  readonly agents: readonly string[];
  readonly hooks: readonly string[];
  readonly servers: readonly string[];
}

export interface PluginValidation {
  readonly plugins: readonly PluginReport[];
  readonly findings: readonly Finding[];
}

/** Reads plugins as a session would, and runs nothing of them. */
export async function validatePlugins(
  places: ProjectPlaces,
  directories: readonly string[],
): Promise<PluginValidation> {
  const { plugins, problems } = await loadPlugins(
    directories.map((directory) => ({ directory })),
    { ...places, check: hookChecks(places.cwd, places.env) },
  );
  const findings: Finding[] = problems.map(({ severity, file, line, message, remedy = '' }) => ({
    severity: severity === 'fatal' ? 'error' : 'warning',
    place: file ?? 'plugin',
    line,
    message: `${message} ${remedy}`.trim(),
  }));
  const reports: PluginReport[] = [];
  for (const plugin of plugins) {
    const warn = (place: string, message: string, line?: number): void => {
      findings.push({ severity: 'warning', place, line, message });
    };
    reports.push(await inspect(places, plugin, warn));
  }
  return { plugins: reports, findings };
}

async function inspect(
  places: ProjectPlaces,
  plugin: Plugin,
  warn: (place: string, message: string, line?: number) => void,
): Promise<PluginReport> {
  const { name, version, directory } = plugin;
  const alone = {
    ...places,
    sources: [],
    additionalDirectories: () => [],
    plugins: [plugin],
    trusts: async () => false,
  };
  const skills = openSkillBook({ ...alone, isIgnored: async () => false });
  const agents = new AgentBook(alone);
  const { cwd } = places;
  const hooks = captureHooks({ values: NO_SETTINGS, cwd, scoped: hooksOfPlugins([plugin]) });
  for (const { file, reason } of await skills.skipped()) warn(file, reason);
  for (const { place, message, line } of await agents.problems()) warn(place, message, line);
  for (const { file = directory, heldBack = [], source } of await agents.list()) {
    if (source !== 'plugin' || heldBack.length === 0) continue;
    warn(file, `${heldBack.join(', ')} of agents of plugins have no effect`);
  }
  for (const { label, why, origin } of hooks.skipped) warn(origin, `${label} is not run: ${why}`);
  for (const note of hooks.notes) warn(directory, note);
  return {
    name,
    version,
    directory,
    skills: (await skills.list()).filter(({ origin }) => origin === 'plugin').map(nameOf),
    agents: (await agents.list()).filter(({ source }) => source === 'plugin').map(nameOf),
    hooks: Object.values(hooks.hooks)
      .flat()
      .map(({ hook }) => `${hook.event}${hook.matcher ? `(${hook.matcher})` : ''}: ${hook.label}`),
    servers: plugin.servers.flatMap(({ servers }) => Object.keys(servers)),
  };
}

/** A plugin is checked without regard to what settings would hold back. */
const NO_SETTINGS: SettingValues = {
  get: () => undefined,
  list: () => [],
  said: () => [],
  has: () => false,
};

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
