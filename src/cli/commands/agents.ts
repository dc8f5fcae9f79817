import { PortcullisError } from '../../errors.js';
import { ellipsis } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { type AgentDefinition, removeTeam, toolWords } from '../../project/agents.js';
import type { Project } from '../../project/project.js';
import { teamLines } from '../../project/teams-text.js';
import type { CommandCall, CommandSpec, OptionSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import {
  ADD_DIR_OPTION,
  commandGroup,
  inspectProject,
  JSON_OPTION,
  printJson,
  SETTINGS_OPTION,
  TRUST_OPTION,
  warnOfSettings,
  withProject,
} from './project-call.js';
import { placeText, reportValidation } from './validation.js';

const AGENTS_OPTION: OptionSpec = {
  flags: '--agents <file-or-json>',
  description: 'Agents beside those of files.',
};
const COMMON = [ADD_DIR_OPTION, AGENTS_OPTION, TRUST_OPTION, SETTINGS_OPTION, JSON_OPTION];

const list: CommandSpec = {
  summary: 'List agents with their source, and those that are not in force.',
  options: [{ flags: '--all', description: 'Also list files that define no agent.' }, ...COMMON],
  run: (call) =>
    inspectProject(call, async (project) => {
      await warnOfSettings(call, project);
      const report = await readReport(project, call.options.all === true);
      if (call.options.json === true) {
        printJson(call, { ...report, agents: report.agents.map(agentData) });
      } else call.output.out(reportText(report));
      return EXIT.done;
    }),
};

async function readReport(project: Project, isAll: boolean) {
  const { book, limitProblems } = await project.agents();
  const agents = await book.list();
  return {
    cwd: project.cwd,
    trusted: (await project.settings()).trusted,
    agents,
    hidden: await book.hidden(),
    problems: [...(await book.problems()), ...limitProblems(agents)],
    // Those that cannot be used are shown by `agents teams`.
    teams: (await project.teams()).teams,
    documents: isAll ? await book.documents() : undefined,
  };
}

function reportText(report: Awaited<ReturnType<typeof readReport>>): string {
  const { agents, hidden, problems, documents = [], teams } = report;
  const lines = agents.flatMap((agent) => [
    `${visible(agent.name)}  (${agent.source})  ${definitionPlace(agent)}\n`,
    `  ${ellipsis(visible(agent.description.replace(/\s+/g, ' ')), 160)}\n`,
    ...factLines(agent),
  ]);
  return [
    ...lines,
    ...section(
      'Not in force',
      hidden.map(
        ({ name, place, reason }) =>
          `${visible(name)}  ${placeText(place)}\n    ${visible(reason)}`,
      ),
    ),
    ...section(
      'Problems',
      problems.map(
        ({ place, line, severity, message }) =>
          `${placeText(place, line)}: ${severity}: ${visible(message)}`,
      ),
    ),
    ...section(
      'Not agents: files without a name',
      documents.map(({ file }) => placeText(file)),
    ),
    ...section('Teams', teams.flatMap(teamLines)),
  ].join('');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`\n${title}\n`, ...lines.map((line) => `  ${line}\n`)];
}

const show: CommandSpec = {
  summary: 'Show the fields and the prompt of an agent.',
  arguments: [{ name: '<name>', description: 'The name of the agent.' }],
  options: COMMON,
  run: (call) =>
    inspectProject(call, async (project) => {
      const [name = ''] = call.args;
      await warnOfSettings(call, project);
      const { book, limitProblems } = await project.agents();
      const found = await book.resolve(name);
      if (!found.ok) {
        const remedy = 'portcullis agents list --all shows what was found';
        throw new PortcullisError('usage', found.error, { remedy });
      }
      const agent = found.value;
      const prompt = await agent.prompt();
      const problems = limitProblems([agent]).map(({ message }) => message);
      if (call.options.json === true) {
        const more = problems.length > 0 ? { problems } : {};
        printJson(call, { ...agentData(agent), prompt, ...more });
      } else call.output.out(agentText(agent, prompt, problems));
      return EXIT.done;
    }),
};

function agentText(agent: AgentDefinition, prompt: string, problems: readonly string[]): string {
  const trusted = agent.trusted === false ? ', not trusted' : '';
  return [
    `${visible(agent.name)} (${agent.source}${trusted})\n`,
    `${definitionPlace(agent)}\n\n`,
    ...agent.description.split('\n').map((line) => `${visible(line)}\n`),
    '\n',
    ...factLines(agent),
    ...problems.map((problem) => `  cannot be started: ${visible(problem)}\n`),
    '\nPrompt\n',
    ...prompt.split('\n').map((line) => `  ${visible(line)}\n`),
  ].join('');
}

/** A definition without its prompt. JSON has no undefined: all tools are a word, none is an empty list. */
function agentData({ prompt: _, tools, ...fields }: AgentDefinition) {
  return { ...fields, tools: tools ?? '*' };
}

function definitionPlace({ file, line, source }: AgentDefinition): string {
  if (file !== undefined) return placeText(file, line);
  return source === 'flag' ? '--agents' : 'built-in';
}

/** What an agent may do, a fact in each line. */
function factLines(definition: AgentDefinition): readonly string[] {
  const { model, effort, permissionMode, maxTurns, memory, skills, mcpServers } = definition;
  const { hooks, background, foregroundOnly, workspace, budget, asks, heldBack } = definition;
  const limits = Object.entries(budget).map(([name, value]) => `${name} ${value}`);
  const held =
    definition.source === 'plugin'
      ? 'without effect in agents of plugins'
      : 'held back, as the folder is not trusted';
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ['tools', toolWords(definition)],
    ['model', model ?? 'inherit'],
    ['effort', effort],
    ['mode', permissionMode],
    ['turns at most', maxTurns],
    ['budget', limits.join(', ')],
    ['skills', skills.join(', ')],
    ['servers', mcpServers.map(({ name }) => name).join(', ')],
    ['hooks', Object.keys(hooks ?? {}).join(', ')],
    ['memory', memory],
    ['workspace', workspace.kind === 'directory' ? workspace.path : undefined],
    ['workspace', ['worktree', 'scratch'].find((kind) => kind === workspace.kind)],
    ['runs', background ? 'always in the background' : undefined],
    ['runs', foregroundOnly ? 'never in the background' : undefined],
    ['asks', asks === 'deny' ? 'are refused' : undefined],
    [held, heldBack?.join(', ')],
  ];
  return facts
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `  ${name}: ${visible(String(value))}\n`);
}

const validate: CommandSpec = {
  summary: 'Check definitions of agents, and name mistakes by file and line.',
  arguments: [
    {
      name: '[paths...]',
      description: 'Definitions or directories. Default: those a session here would have.',
    },
  ],
  options: [AGENTS_OPTION, JSON_OPTION],
  run: (call) =>
    inspectProject(call, async (project) => {
      const { agents, findings } = await (await project.agents()).validate(call.args);
      return reportValidation(call, { noun: 'agent', count: agents, findings, checked: agents });
    }),
};

const teams: CommandSpec = {
  summary: 'List your teams of agents and their members.',
  options: [JSON_OPTION],
  run: (call) =>
    withProject(call, async (project) => {
      const found = await project.teams();
      if (call.options.json === true) {
        printJson(call, found);
        return EXIT.done;
      }
      const lines = found.teams.flatMap(teamLines);
      call.output.out(lines.length === 0 ? 'There are no teams.\n' : `${lines.join('\n')}\n`);
      for (const problem of found.problems) call.output.warn(visible(problem));
      return EXIT.done;
    }),
};

const cleanup: CommandSpec = {
  summary: 'Remove the files of a team whose lead process has exited.',
  arguments: [{ name: '<team>', description: 'The name of the team. Its tasks stay.' }],
  run: (call: CommandCall) =>
    withProject(call, async (project) => {
      const [name = ''] = call.args;
      await removeTeam(project.places, name);
      call.output.out(`Removed the team ${visible(name)}.\n`);
      return EXIT.done;
    }),
};

export const command = commandGroup('List and check agents and teams.', {
  list,
  show,
  validate,
  teams,
  cleanup,
});
