import type { AgentDefinition } from '../../agents/definition.js';
import type { AgentDocument, AgentProblem, HiddenAgent } from '../../agents/definition-types.js';
import { listTeams, type TeamView } from '../../agents/team-view.js';
import { configDirectory } from '../../env/paths.js';
import { nodeTeamFiles } from '../../env/team-files.js';
import { PortcullisError } from '../../errors.js';
import { teamLines } from '../../project/teams-text.js';
import { ellipsis } from '../../util/truncate.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { type AgentsHere, agentsHere, limitProblems } from './agents-here.js';
import { agentData, factsOf, placeOfDefinition, whereOf } from './agents-text.js';
import { readArguments } from './arguments.js';

export const USAGE =
  'portcullis agents list [--all] [--add-dir <dir>] [--agents <json|file>] [--trust] [--settings F] [--json]';

/** Shows what was found, from where, and why some of it is not in force. Nothing is run. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['all', 'json', 'trust'],
    values: ['add-dir', 'agents', 'settings'],
  });
  if (words.length > 0) {
    const message = `agents list does not understand "${visible(words[0] ?? '')}"`;
    throw new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
  }
  const added = values.get('add-dir');
  const here = await agentsHere({
    trust: switches.has('trust'),
    settings: values.get('settings'),
    warn: output.warn,
    agents: values.get('agents'),
    ...(added === undefined ? {} : { addDirs: [added] }),
  });
  const report = await reportOf(here, switches.has('all'));
  output.out(switches.has('json') ? `${JSON.stringify(asData(report), null, 2)}\n` : text(report));
  return EXIT.done;
}

interface Report {
  readonly here: AgentsHere;
  readonly agents: readonly AgentDefinition[];
  readonly hidden: readonly HiddenAgent[];
  readonly problems: readonly AgentProblem[];
  /** Undefined: not asked for. */
  readonly documents: readonly AgentDocument[] | undefined;
  /** Of this user, wherever they work. What of them cannot be used, `agents teams` says. */
  readonly teams: readonly TeamView[];
}

async function reportOf(here: AgentsHere, isAll: boolean): Promise<Report> {
  const { book } = here;
  const agents = await book.list();
  return {
    here,
    agents,
    hidden: await book.hidden(),
    problems: [...(await book.problems()), ...limitProblems(agents, here)],
    documents: isAll ? await book.documents() : undefined,
    teams: listTeams(nodeTeamFiles, configDirectory(process.env)).teams,
  };
}

function asData({ here, agents, hidden, problems, documents, teams }: Report): unknown {
  return {
    cwd: here.cwd,
    trusted: here.trusted,
    agents: agents.map(agentData),
    hidden,
    problems,
    teams,
    ...(documents === undefined ? {} : { documents }),
  };
}

function text({ here, agents, hidden, problems, documents = [], teams }: Report): string {
  const { cwd } = here;
  const lines = agents.flatMap((agent) => [
    `${visible(agent.name)}  (${agent.source})  ${placeOfDefinition(agent, cwd)}\n`,
    `  ${ellipsis(visible(agent.description.replace(/\s+/g, ' ')), 160)}\n`,
    ...factsOf(agent).map((fact) => `  ${fact}\n`),
  ]);
  const odd = hidden.map(
    (one) => `  ${visible(one.name)}  ${whereOf(one, cwd)}\n    ${visible(one.reason)}\n`,
  );
  const wrong = problems.map(
    (one) => `  ${whereOf(one, cwd)}: ${one.severity}: ${visible(one.message)}\n`,
  );
  const plain = documents.map(({ file }) => `  ${whereOf({ place: file }, cwd)}\n`);
  return [
    lines.join(''),
    ...section('Not in force', odd),
    ...section('Problems', wrong),
    ...section('No agents: files without a name', plain),
    ...section(
      'Teams',
      teams.flatMap(teamLines).map((line) => `  ${line}\n`),
    ),
  ].join('');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`\n${title}\n${lines.join('')}`];
}
