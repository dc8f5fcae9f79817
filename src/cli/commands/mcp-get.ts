import { PortcullisError } from '../../errors.js';
import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { mcpHere, serverNamed } from './mcp-here.js';
import { withoutSecrets } from './mcp-list.js';
import { serverData, serverText } from './mcp-text.js';

export const USAGE = 'portcullis mcp get <name> [--json]';

/** Shows one server, and the weaker ones of its name. Starts and calls nothing. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  const [name] = words;
  if (name === undefined || words.length > 1)
    throw new PortcullisError('usage', 'mcp get wants one name', { remedy: `usage: ${USAGE}` });
  const here = withoutSecrets(await mcpHere());
  const server = serverNamed(here, name);
  const weaker = here.configuration.hidden.filter((one) => one.name === name);
  if (switches.has('json')) {
    const hidden = weaker.map((one) => serverData(here, one));
    output.out(`${JSON.stringify({ ...serverData(here, server), hidden }, null, 2)}\n`);
    return EXIT.done;
  }
  output.out(serverText(here, server));
  if (weaker.length > 0) output.out('\nNot in force\n');
  for (const one of weaker) output.out(serverText(here, one));
  if (server.scope === 'local' || server.scope === 'project' || server.scope === 'user')
    output.out(
      `\nTo remove it: portcullis mcp remove ${visible(shellWord(name))} --scope ${server.scope}\n`,
    );
  return EXIT.done;
}
