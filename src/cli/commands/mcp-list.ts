import { PortcullisError } from '../../errors.js';
import { describeProblem } from '../../settings/types.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { mcpHere } from './mcp-here.js';
import { serverData, serverText } from './mcp-text.js';

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
  const here = await mcpHere({ settings: values.get('settings') });
  const { servers, hidden, problems, exclusive } = here.configuration;
  if (switches.has('json')) {
    const data = {
      exclusive,
      servers: servers.map((one) => serverData(here, one)),
      hidden: hidden.map((one) => serverData(here, one)),
      problems,
    };
    output.out(`${JSON.stringify(data, null, 2)}\n`);
    return EXIT.done;
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
  return EXIT.done;
}
