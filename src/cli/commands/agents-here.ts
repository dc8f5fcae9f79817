import { readFileSync } from 'node:fs';
import { fenceProblem } from '../../agents/child-fence.js';
import type { AgentDefinition } from '../../agents/definition.js';
import { readHostAgents, refuseGiven } from '../../agents/definition-host.js';
import type { AgentBook, AgentProblem } from '../../agents/definition-types.js';
import { openAgentBook } from '../../agents/definitions.js';
import { homeDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { sideloadRefusal } from '../../settings/sideload.js';
import { parseYaml } from '../../util/parse-yaml.js';
import { type StartHereOptions, startHere } from './start-here.js';

export interface AgentsHere {
  readonly cwd: string;
  readonly trusted: boolean;
  readonly book: AgentBook;
}

export interface AgentsHereOptions extends StartHereOptions {
  /** As `--agents` takes it: JSON, or the name of a file. */
  readonly agents?: string | undefined;
}

/** The agents that a session in this directory could start. */
export async function agentsHere(options: AgentsHereOptions): Promise<AgentsHere> {
  const { places, trusted, settings } = await startHere(options);
  const host = hostFrom(options.agents, sideloadRefusal(settings));
  return { cwd: places.cwd, trusted, book: openAgentBook({ ...places, parseYaml, host }) };
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
