import type { AgentDefinition } from '../../agents/definition.js';
import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { agentsHere, limitProblems } from './agents-here.js';
import { agentData, factsOf, placeOfDefinition } from './agents-text.js';
import { readArguments } from './arguments.js';

export const USAGE =
  'portcullis agents show <name> [--add-dir <dir>] [--agents <json|file>] [--trust] [--settings F] [--json]';

/** Shows one agent as it would be started. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json', 'trust'],
    values: ['add-dir', 'agents', 'settings'],
  });
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    throw new PortcullisError('usage', 'name one agent', { remedy: `usage: ${USAGE}` });
  }
  const added = values.get('add-dir');
  const here = await agentsHere({
    trust: switches.has('trust'),
    settings: values.get('settings'),
    warn: output.warn,
    agents: values.get('agents'),
    ...(added === undefined ? {} : { addDirs: [added] }),
  });
  const found = await here.book.resolve(name);
  if (!found.ok) {
    const remedy = 'portcullis agents list --all shows what was found';
    throw new PortcullisError('usage', found.error, { remedy });
  }
  const prompt = await found.value.prompt();
  const problems = limitProblems([found.value], here).map(({ message }) => message);
  if (switches.has('json')) {
    const data = { ...agentData(found.value), prompt, ...(problems.length > 0 && { problems }) };
    output.out(`${JSON.stringify(data, null, 2)}\n`);
  } else output.out(text(found.value, { prompt, problems, cwd: here.cwd }));
  return EXIT.done;
}

function text(
  agent: AgentDefinition,
  {
    prompt,
    problems,
    cwd,
  }: { readonly prompt: string; readonly problems: readonly string[]; readonly cwd: string },
): string {
  const trusted = agent.trusted === false ? ', not trusted' : '';
  return [
    `${visible(agent.name)} (${agent.source}${trusted})\n`,
    `${placeOfDefinition(agent, cwd)}\n\n`,
    ...agent.description.split('\n').map((line) => `${visible(line)}\n`),
    '\n',
    ...factsOf(agent).map((fact) => `  ${fact}\n`),
    ...problems.map((problem) => `  cannot be started: ${visible(problem)}\n`),
    '\nPrompt\n',
    ...prompt.split('\n').map((line) => `  ${visible(line)}\n`),
  ].join('');
}
