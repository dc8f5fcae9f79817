import { PortcullisError } from '../../errors.js';
import { listedLine } from '../../mcp/entry-text.js';
import { fatalOf } from '../../settings/refuse.js';
import { type ConfigProblem, describeProblem } from '../../settings/types.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { type McpHere, mcpHere } from './mcp-here.js';
import { serverData, serverText } from './mcp-text.js';
import { settingsHere } from './settings-here.js';

export const USAGE = 'portcullis mcp list [--settings F] [--json]';

/** Shows every server that is declared here and how it stands. Starts and calls nothing. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json'],
    values: ['settings'],
  });
  if (words.length > 0) {
    const message = `mcp list does not understand "${visible(words[0] ?? '')}"`;
    throw new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
  }
  const settings = values.get('settings');
  const here = withoutSecrets(await mcpHere({ settings }));
  const { servers, hidden, exclusive } = here.configuration;
  const problems = [...(await settingsProblems(settings)), ...here.configuration.problems];
  // A list of servers that are ready says nothing where no session starts.
  const code = fatalOf(problems).length === 0 ? EXIT.done : EXIT.config;
  if (switches.has('json')) {
    const data = {
      exclusive,
      servers: servers.map((one) => serverData(here, one)),
      hidden: hidden.map((one) => serverData(here, one)),
      problems,
    };
    output.out(`${JSON.stringify(data, null, 2)}\n`);
    return code;
  }
  if (exclusive) output.out('An administrator keeps the list of servers.\n\n');
  if (servers.length === 0) {
    // A file that cannot be read is not a file without servers.
    const none =
      problems.length > 0
        ? 'No MCP server can be used here; what is wrong is told beside this.'
        : 'There are no MCP servers here. portcullis mcp add <name> -- <command> adds one.';
    output.out(`${none}\n`);
  }
  for (const one of servers) output.out(serverText(here, one));
  if (hidden.length > 0) output.out('\nNot in force, because of another of the same name\n');
  for (const one of hidden) output.out(serverText(here, one));
  for (const problem of problems) output.warn(visible(describeProblem(problem)));
  if (code !== EXIT.done)
    output.warn('no session with servers starts here until that is corrected.');
  return code;
}

/** The same servers, told without what looks like a secret. */
export function withoutSecrets(here: McpHere): McpHere {
  const { configuration } = here;
  return {
    ...here,
    configuration: {
      ...configuration,
      describe: (server) => configuration.describe(server).map(listedLine),
    },
  };
}

/** What keeps every session from starting, and so every server from being used. */
async function settingsProblems(settings: string | undefined): Promise<readonly ConfigProblem[]> {
  const { problems } = await settingsHere({
    cwd: process.cwd(),
    env: process.env,
    trust: 'as it is',
    settings,
    // What is held back stands in the list.
    warn: () => undefined,
  }).load();
  return fatalOf(problems);
}
