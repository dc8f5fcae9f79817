import { openAgentBook } from '../../agents/definitions.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { configDirectory, displayPath } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { hookChecks, hooksOfPlugins } from '../../harness/plugins.js';
import { captureHooks } from '../../hooks/capture.js';
import { loadPlugins } from '../../plugins/load.js';
import type { Plugin } from '../../plugins/plugin.js';
import { managedSettingsDirectory } from '../../settings/load.js';
import { type ConfigProblem, describeProblem, type SettingValues } from '../../settings/types.js';
import { openSkillBook } from '../../skills/book.js';
import { parseYaml } from '../../util/parse-yaml.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';

export const USAGE = 'portcullis plugin validate <dirs> [--json]';

/** What one plugin would bring, under the names that rules and people use. */
interface PluginReport {
  readonly name: string;
  readonly version?: string;
  readonly directory: string;
  readonly skills: readonly string[];
  readonly agents: readonly string[];
  readonly hooks: readonly string[];
  readonly servers: readonly string[];
}

/** Reads plugins as a session would, and runs nothing of them. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  if (words.length === 0) {
    const remedy = `usage: ${USAGE}`;
    throw new PortcullisError('usage', 'plugin validate needs the directory of a plugin', {
      remedy,
    });
  }
  const cwd = process.cwd();
  const { plugins, problems } = await loadPlugins(
    words.map((directory) => ({ directory })),
    {
      fs: nodeFileSystem,
      cwd,
      configDir: configDirectory(process.env),
      check: hookChecks(cwd, process.env),
    },
  );
  const found = [...problems];
  const reports: PluginReport[] = [];
  for (const plugin of plugins) reports.push(await reportOf(plugin, cwd, found));
  const errors = found.filter(({ severity }) => severity === 'fatal').length;
  if (switches.has('json')) {
    output.out(`${JSON.stringify({ plugins: reports, problems: found }, null, 2)}\n`);
  } else {
    for (const report of reports) output.out(text(report, cwd));
    for (const problem of found) output.out(`${visible(describeProblem(problem))}\n`);
    output.out(
      `${reports.length} ${reports.length === 1 ? 'plugin' : 'plugins'}, ${errors} errors, ${found.length - errors} warnings\n`,
    );
  }
  return errors === 0 ? EXIT.done : EXIT.error;
}

async function reportOf(
  plugin: Plugin,
  cwd: string,
  problems: ConfigProblem[],
): Promise<PluginReport> {
  const { name, version, directory } = plugin;
  const places = {
    fs: nodeFileSystem,
    cwd,
    configDir: configDirectory(process.env),
    managedDir: managedSettingsDirectory(hostFacts().os),
    sources: [],
    additionalDirectories: () => [],
    plugins: [plugin],
    parseYaml,
    trusts: async () => false,
  };
  const book = openSkillBook({ ...places, isIgnored: async () => false });
  const kinds = openAgentBook(places);
  const hooks = captureHooks({ values: NO_SETTINGS, cwd, scoped: hooksOfPlugins([plugin]) });
  const warn = (file: string, message: string, line?: number): void => {
    const at = { file, ...(line === undefined ? {} : { line }) };
    problems.push({ severity: 'warning', ...at, message: `${message}.`, remedy: '' });
  };
  for (const { file, reason } of await book.skipped()) warn(file, reason);
  for (const { place, message, line } of await kinds.problems()) warn(place, message, line);
  for (const { file, heldBack = [], source } of await kinds.list()) {
    if (source !== 'plugin' || heldBack.length === 0) continue;
    warn(file ?? directory, `${heldBack.join(', ')} of agents of plugins have no effect`);
  }
  for (const { label, why, origin } of hooks.skipped) warn(origin, `${label} is not run: ${why}`);
  for (const note of hooks.notes) warn(directory, note);
  return {
    name,
    ...(version === undefined ? {} : { version }),
    directory,
    skills: (await book.list()).filter(({ origin }) => origin === 'plugin').map(nameOf),
    agents: (await kinds.list()).filter(({ source }) => source === 'plugin').map(nameOf),
    hooks: Object.values(hooks.hooks)
      .flat()
      .map(({ hook }) => `${hook.event}${hook.matcher ? `(${hook.matcher})` : ''}: ${hook.label}`),
    servers: plugin.servers.flatMap(({ servers }) => Object.keys(servers)),
  };
}

/** The plugin is looked at by itself: what settings hold back is another question. */
const NO_SETTINGS: SettingValues = {
  get: () => undefined,
  list: () => [],
  said: () => [],
  has: () => false,
};

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

function text({ name, version, directory, ...parts }: PluginReport, cwd: string): string {
  const title = version === undefined ? name : `${name} ${version}`;
  const lines = Object.entries(parts).flatMap(([kind, names]) =>
    names.map((one) => `  ${kind.slice(0, -1).padEnd(6)}  ${visible(one)}\n`),
  );
  return `${visible(title)}  ${visible(displayPath(directory, cwd))}\n${lines.join('')}`;
}
