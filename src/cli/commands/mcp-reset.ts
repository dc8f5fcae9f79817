import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { mcpHere } from './mcp-here.js';

export const USAGE = 'portcullis mcp reset-project-choices';

/** Forgets what was said about the servers of this project. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words } = readArguments(argv, { usage: USAGE });
  if (words.length > 0)
    throw new PortcullisError('usage', 'mcp reset-project-choices takes no words', {
      remedy: `usage: ${USAGE}`,
    });
  const here = await mcpHere();
  const { project } = here.configuration;
  const gone = await here.approvals.forget(project);
  output.out(
    gone === 0
      ? `Nothing was said about servers of ${visible(project)}.\n`
      : `Forgot ${gone === 1 ? 'one answer' : `${gone} answers`} about servers of ${visible(project)}.\n`,
  );
  return EXIT.done;
}
