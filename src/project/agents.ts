import type { AgentDefinition, AgentProblem } from '../agents/definitions/definition.js';
import { AgentBook } from '../agents/definitions/definitions.js';
import { findDefinitions } from '../agents/definitions/find.js';
import { readHostAgents, refuseHostAgents } from '../agents/definitions/host.js';
import { DefinitionReader } from '../agents/definitions/reader.js';
import { KNOWN_TOOLS } from '../agents/definitions/tools.js';
import { fenceProblem } from '../agents/limits/tool-restrictions.js';
import { teamFiles } from '../agents/teams/host/files.js';
import { openTeam } from '../agents/teams/team.js';
import { messageOf, PortcullisError } from '../errors.js';
import { splitFile } from '../lib/frontmatter/head-text.js';
import { visible } from '../lib/text/visible.js';
import { join, resolve } from '../platform/fs/paths.js';
import { sideloadRefusal } from '../settings/merge/switches.js';
import type { DocumentPlaces, Finding } from './documents.js';
import type { ProjectOptions, ProjectPlaces } from './places.js';
import type { ProjectSettings } from './settings.js';

export type { AgentDefinition } from '../agents/definitions/definition.js';
export { toolWords } from '../agents/definitions/listing.js';

/** The agents that a session in this directory could start. */
export interface ProjectAgents {
  readonly book: AgentBook;
  /** Limits that cannot be enforced, so that no agent of the definition is ever started. */
  limitProblems(agents: readonly AgentDefinition[]): readonly AgentProblem[];
  /** Checks the files at these paths, or, without any, the definitions that a session here would have. */
  validate(paths: readonly string[]): Promise<AgentValidation>;
}

export interface AgentValidation {
  /** How many were found. */
  readonly agents: number;
  readonly findings: readonly Finding[];
}

export async function openProjectAgents(
  places: DocumentPlaces,
  { agents: given }: ProjectOptions,
  { settings }: ProjectSettings,
): Promise<ProjectAgents> {
  const host = await agentsOfFlag(given, places, sideloadRefusal(settings));
  const book = new AgentBook({ ...places, host });
  return {
    book,
    limitProblems: (agents) => limitProblems(places, agents),
    validate: (paths) =>
      paths.length > 0 ? validateFiles(places, paths) : validateBook(places, book),
  };
}

function limitProblems(
  { cwd, home }: ProjectPlaces,
  agents: readonly Omit<AgentDefinition, 'prompt' | 'contentHash'>[],
): readonly AgentProblem[] {
  return agents.flatMap((agent): readonly AgentProblem[] => {
    const message = fenceProblem(agent, { cwd, home });
    if (message === undefined) return [];
    const { name, source, file: place = '--agents', line } = agent;
    return [{ severity: 'error', name, source, place, message, line }];
  });
}

async function validateBook(places: ProjectPlaces, book: AgentBook): Promise<AgentValidation> {
  const agents = (await book.list()).filter(({ source }) => source !== 'builtin');
  const findings: Finding[] = [...(await book.problems()), ...limitProblems(places, agents)];
  for (const { prompt, file: place, line } of agents) {
    if (place !== undefined) findings.push(...promptFindings(await prompt(), { place, line }));
  }
  return { agents: agents.length, findings };
}

async function validateFiles(
  places: ProjectPlaces,
  paths: readonly string[],
): Promise<AgentValidation> {
  const reader = new DefinitionReader(places.fs, KNOWN_TOOLS);
  const findings: Finding[] = [];
  let agents = 0;
  for (const place of await filesAt(places, paths, findings)) {
    const real = await places.fs.realPath(place);
    const read = await reader.read({ file: place, real });
    if (read.isDocument) continue;
    findings.push(...read.findings.map((finding) => ({ ...finding, place })));
    if (read.fields === undefined) continue;
    agents++;
    const { text = '', line, fields } = read;
    findings.push(...limitProblems(places, [{ ...fields, line, source: 'user', file: place }]));
    findings.push(...promptFindings(splitFile(text).body.trim(), { place, line }));
  }
  return { agents, findings };
}

async function filesAt(
  { fs, cwd }: ProjectPlaces,
  paths: readonly string[],
  findings: Finding[],
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const named of paths) {
    const path = resolve(cwd, named);
    const stat = await fs.stat(path);
    // fail-closed: a path that does not exist would pass without having been checked.
    if (stat === undefined) {
      throw new PortcullisError('usage', `there is nothing at ${visible(named)}`, {
        remedy: 'name a definition or a directory of definitions',
      });
    }
    if (stat.kind !== 'directory') {
      files.push(path);
      continue;
    }
    const found = await findDefinitions(
      { source: 'user', directory: path },
      { fs, homes: { whyOutside: async () => undefined } },
    );
    files.push(...found.files.map(({ file }) => file));
    for (const { file, reason } of found.skipped) {
      findings.push({ severity: 'error', place: file, message: reason });
    }
  }
  return files;
}

function promptFindings(prompt: string, at: Pick<Finding, 'place' | 'line'>): readonly Finding[] {
  if (prompt !== '') return [];
  return [{ ...at, severity: 'warning', message: 'it has no prompt below its front matter' }];
}

/** Removes what a team left behind whose lead has exited. Its list of tasks stays. */
export async function removeTeam({ configDir }: ProjectPlaces, name: string): Promise<void> {
  const team = openTeam(join(configDir, 'teams'), name);
  if (!team.ok) throw new PortcullisError('usage', visible(team.error));
  const record = team.value.read();
  if (!record.ok) throw new PortcullisError('usage', visible(record.error));
  // fail-closed: a lead that runs may start a member at any moment.
  if (teamFiles.isAlive(record.value.lead.process)) {
    throw new PortcullisError('usage', `the lead of ${visible(name)} still runs`, {
      remedy: 'end the session that leads it: the team goes with it',
    });
  }
  const removed = await team.value.remove();
  if (!removed.ok) throw new PortcullisError('usage', visible(removed.error));
}

async function agentsOfFlag(
  given: string | undefined,
  { fs, cwd }: DocumentPlaces,
  refusal: string | undefined,
) {
  if (given === undefined) return undefined;
  const isJson = given.trimStart().startsWith('{');
  const text = isJson
    ? given
    : await fs.readText(resolve(cwd, given)).catch((thrown: unknown) => {
        throw new PortcullisError('usage', `--agents: ${messageOf(thrown)}`, {
          remedy: 'name a file that exists, or give JSON text',
        });
      });
  const read = readHostAgents(text);
  if (!read.ok) throw new PortcullisError('usage', read.error);
  refuseHostAgents(read.value, refusal);
  return read.value;
}
