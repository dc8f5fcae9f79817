import { readFileSync } from 'node:fs';
import { fenceProblem } from '../../agents/child-fence.js';
import type { AgentDefinition } from '../../agents/definition.js';
import { readHostAgents, refuseGiven } from '../../agents/definition-host.js';
import type { AgentBook, AgentProblem } from '../../agents/definition-types.js';
import { openAgentBook } from '../../agents/definitions.js';
import { systemClock } from '../../env/clock.js';
import { hostFacts } from '../../env/host.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { configDirectory, homeDirectory, resolve, stateDirectory } from '../../env/paths.js';
import { projectLevels } from '../../env/project-levels.js';
import { PortcullisError } from '../../errors.js';
import { loadSettings, managedSettingsDirectory } from '../../settings/load.js';
import { sideloadRefusal } from '../../settings/sideload.js';
import { openProjectTrust } from '../../settings/trust.js';
import { startTrust } from '../../settings/trust-start.js';
import { parseYaml } from '../../skills/parse-yaml.js';

export interface AgentsHere {
  readonly cwd: string;
  readonly trusted: boolean;
  readonly book: AgentBook;
}

export interface AgentsHereOptions {
  readonly trust: boolean;
  /** As `--settings` takes it. */
  readonly settings?: string | undefined;
  /** As `--agents` takes it: JSON, or the name of a file. */
  readonly agents?: string | undefined;
  readonly addDirs?: readonly string[];
}

/** The agents that a session in this directory could start. */
export async function agentsHere(options: AgentsHereOptions): Promise<AgentsHere> {
  const { env } = process;
  const cwd = process.cwd();
  const places = {
    fs: nodeFileSystem,
    cwd,
    env,
    configDir: configDirectory(env),
    managedDir: managedSettingsDirectory(hostFacts().os),
    stateDirectory: stateDirectory(env),
    sources: ['user', 'project', 'local'] as const,
    now: systemClock.now,
    // What is held back stands in the list.
    warn: () => undefined,
  };
  const trust = await startTrust({ ...places, given: options.trust });
  const { settings } = await loadSettings({
    ...places,
    trustProject: trust.now,
    ...(options.settings === undefined ? {} : { flagSettings: options.settings }),
  });
  const added = [
    ...(options.addDirs ?? []).map((directory) => resolve(cwd, directory)),
    ...settings.permissions.additionalDirectories.map(({ value }) => value),
  ];
  const levels = projectLevels(cwd);
  const book = openAgentBook({
    ...places,
    parseYaml,
    host: hostFrom(options.agents, sideloadRefusal(settings)),
    additionalDirectories: () => added,
    // One unaccepted declaration on the way up holds back all that is on it.
    trusts: async (directory) =>
      levels.includes(directory)
        ? trust.now
        : options.trust ||
          (await openProjectTrust({ ...places, cwd: directory }).check()).verdict === 'trusted',
  });
  return { cwd, trusted: trust.now, book };
}

/** Of limits that no agent can be held to, so that none of the kind is ever started. */
export function limitProblems(
  agents: readonly AgentDefinition[],
  { cwd }: Pick<AgentsHere, 'cwd'>,
): readonly AgentProblem[] {
  const home = homeDirectory(process.env);
  return agents.flatMap((agent): readonly AgentProblem[] => {
    const message = fenceProblem(agent, { cwd, home });
    if (message === undefined) return [];
    const { name, source, file: place = '--agents', line } = agent;
    const at = line === undefined ? {} : { line };
    return [{ severity: 'error', name, source, place, message, ...at }];
  });
}

function hostFrom(given: string | undefined, refusal: string | undefined) {
  if (given === undefined) return undefined;
  const text = given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8');
  const read = readHostAgents(text);
  if (!read.ok) throw new PortcullisError('usage', read.error);
  refuseGiven(read.value, refusal);
  return read.value;
}
