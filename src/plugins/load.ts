import { messageOf } from '../errors.js';
import { visible } from '../lib/text/visible.js';
import { join, resolve } from '../platform/fs/paths.js';
import type { CheckOptions } from '../settings/schema/type-check.js';
import type { ConfigProblem } from '../settings/types.js';
import { componentPaths, type OpenedPlugin } from './component-files.js';
import { fatal, type PluginFiles } from './files.js';
import { hooksOf } from './hooks.js';
import { readManifest } from './manifest.js';
import type { GivenPlugin, Plugin } from './plugin.js';
import { serversOf } from './servers.js';

interface PluginDeps {
  readonly fs: PluginFiles;
  /** The base of relative paths, and the project. */
  readonly cwd: string;
  /** The user's configuration directory; plugin data is stored below it. */
  readonly configDir: string;
  /** The flag that forbids plugins; undefined when none does. */
  readonly forbidden?: string | undefined;
  /** The known tools, rules and agents that hooks are validated against. */
  readonly check: CheckOptions;
}

interface LoadedPlugins {
  readonly plugins: readonly Plugin[];
  /** A `fatal` problem stops the start. */
  readonly problems: readonly ConfigProblem[];
}

/** Loads the plugins of a session in the order given. */
export async function loadPlugins(
  given: readonly GivenPlugin[],
  deps: PluginDeps,
): Promise<LoadedPlugins> {
  const plugins: Plugin[] = [];
  const problems: ConfigProblem[] = [];
  for (const one of given) {
    if (deps.forbidden !== undefined) {
      problems.push(notLoaded(one.directory, deps.forbidden, 'Leave it out.'));
      continue;
    }
    const read = await load(one, deps);
    problems.push(...read.problems);
    if (read.plugin === undefined) continue;
    const { name, directory } = read.plugin;
    const at = plugins.findIndex((other) => other.name === name);
    const before = plugins[at];
    if (before === undefined) plugins.push(read.plugin);
    else if (before.directory === directory) {
      // fail-closed: `withoutServers` holds when any mention of the plugin sets it.
      if (one.withoutServers === true) plugins[at] = { ...before, servers: [] };
    } else {
      // fail-closed: rules for one plugin would match the other.
      const why = `${before.directory} is called "${name}" too`;
      problems.push(notLoaded(directory, why, 'Rename one of the two.'));
    }
  }
  return { plugins, problems };
}

async function load(
  { directory: written, withoutServers = false }: GivenPlugin,
  deps: PluginDeps,
): Promise<{ readonly plugin?: Plugin; readonly problems: readonly ConfigProblem[] }> {
  const { fs } = deps;
  if (written.trim() === '') {
    // fail-closed: an empty path would mean the current directory.
    const remedy = 'Name the directory of a plugin.';
    return { problems: [notLoaded(deps.cwd, 'its path is empty', remedy)] };
  }
  const named = resolve(deps.cwd, written);
  let directory: string;
  try {
    const kind = (await fs.stat(named))?.kind;
    if (kind !== 'directory') {
      const why = kind === undefined ? 'it is not there' : 'it is no directory';
      return { problems: [notLoaded(named, why, 'Name the directory of a plugin.')] };
    }
    directory = await fs.realPath(named);
  } catch (thrown) {
    return { problems: [notLoaded(named, messageOf(thrown), 'Make it readable.')] };
  }
  if (directory.includes('${')) {
    // fail-closed: a path that contains a variable would be expanded again.
    return { problems: [notLoaded(directory, 'its path holds "${"', 'Rename the directory.')] };
  }
  const read = await readManifest({ directory, fs });
  if (!read.ok) return { problems: [read.error] };
  const manifest = read.value;
  const data = join(deps.configDir, 'plugins', 'data', manifest.name);
  const paths = { root: directory, data };
  const { cwd: projectDir, check } = deps;
  const opened: OpenedPlugin = { directory, manifest, paths, projectDir, fs, check };
  const skills = await componentPaths('skills', opened);
  const commands = await componentPaths('commands', opened);
  const agents = await componentPaths('agents', opened);
  const hooks = await hooksOf(opened);
  const servers = withoutServers ? { servers: [], problems: [] } : await serversOf(opened);
  const plugin: Plugin = {
    name: manifest.name,
    version: manifest.version,
    directory,
    paths,
    trusted: true,
    skills: skills.paths ?? [],
    commands: commands.paths,
    agents: agents.paths,
    hooks: hooks.hooks,
    servers: servers.servers,
  };
  const problems = [manifest, skills, commands, agents, hooks, servers].flatMap(
    (part) => part.problems,
  );
  return { plugin, problems: [...problems, ...(await unusedParts(opened))] };
}

function notLoaded(file: string, why: string, remedy: string): ConfigProblem {
  return fatal({ file }, `the plugin cannot be loaded: ${visible(why)}.`, remedy);
}

/** Plugin parts that other programs support and Portcullis does not. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['.lsp.json', 'language servers'],
  ['output-styles', 'output styles'],
  ['workflows', 'workflows'],
  ['themes', 'themes'],
  ['monitors', 'monitors'],
  ['bin', 'programs for the shell'],
  ['settings.json', 'settings'],
]);

async function unusedParts({ directory, fs }: OpenedPlugin): Promise<readonly ConfigProblem[]> {
  const entries = await fs.list(directory);
  return entries.flatMap(({ name }): ConfigProblem[] => {
    const what = ELSEWHERE.get(name);
    if (what === undefined) return [];
    const message = `${what} of plugins are not used here.`;
    return [{ severity: 'note', file: join(directory, name), message, remedy: '' }];
  });
}
