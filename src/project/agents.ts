import { fenceProblem } from '../agents/child-fence.js';
import type { AgentDefinition } from '../agents/definition.js';
import { readHostAgents, refuseGiven } from '../agents/definition-host.js';
import type { AgentBook, AgentProblem } from '../agents/definition-types.js';
import { openAgentBook } from '../agents/definitions.js';
import { PortcullisError } from '../errors.js';
import { sideloadRefusal } from '../settings/sideload.js';
import { parseYaml } from '../util/parse-yaml.js';
import type { DocumentPlaces } from './documents.js';
import type { ProjectOptions } from './places.js';
import type { ProjectSettings } from './settings.js';

/** The agents that a session in this directory could start. */
export interface ProjectAgents {
  readonly book: AgentBook;
  /** Limits that cannot be enforced, so that no agent of the definition is ever started. */
  limitProblems(agents: readonly AgentDefinition[]): readonly AgentProblem[];
}

export async function openProjectAgents(
  places: DocumentPlaces,
  { agents: given }: ProjectOptions,
  { settings }: ProjectSettings,
): Promise<ProjectAgents> {
  const host = await agentsOfFlag(given, places, sideloadRefusal(settings));
  const { cwd, home } = places;
  return {
    book: openAgentBook({ ...places, parseYaml, host }),
    limitProblems: (agents) =>
      agents.flatMap((agent): readonly AgentProblem[] => {
        const message = fenceProblem(agent, { cwd, home });
        if (message === undefined) return [];
        const { name, source, file: place = '--agents', line } = agent;
        const at = line === undefined ? {} : { line };
        return [{ severity: 'error', name, source, place, message, ...at }];
      }),
  };
}

async function agentsOfFlag(
  given: string | undefined,
  { fs }: DocumentPlaces,
  refusal: string | undefined,
) {
  if (given === undefined) return undefined;
  const text = given.trimStart().startsWith('{') ? given : await fs.readText(given);
  const read = readHostAgents(text);
  if (!read.ok) throw new PortcullisError('usage', read.error);
  refuseGiven(read.value, refusal);
  return read.value;
}
