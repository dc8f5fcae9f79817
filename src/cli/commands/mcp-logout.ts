import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { authFor, remoteDeclaration } from './mcp-auth.js';
import { mcpHere, serverNamed } from './mcp-here.js';

export const USAGE = 'portcullis mcp logout <name> [--json]';

/** Forgets the tokens and the registration of a server on this machine, and has the tokens revoked. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  const [name] = words;
  if (name === undefined || words.length > 1)
    throw new PortcullisError('usage', 'mcp logout wants one name', { remedy: `usage: ${USAGE}` });
  const declaration = serverNamed(await mcpHere(), name);
  // Also of a server that may not be used any more: its tokens lie there all the same.
  const auth = authFor(remoteDeclaration(declaration, 'whatever its standing'));
  const done = await auth.signOut();
  if (!done.ok) throw new PortcullisError('io', done.error.message, { remedy: REMEDY });
  const { was, revoked } = done.value;
  if (switches.has('json')) {
    const state = revoked === undefined ? {} : { revoked: revoked.ok };
    output.out(`${JSON.stringify({ name, signedOut: was, ...state })}\n`);
  } else if (!was) output.out(`Nobody was signed in to "${visible(name)}".\n`);
  else if (revoked?.ok === true) {
    output.out(`Signed out of "${visible(name)}". Its tokens were revoked.\n`);
  } else output.out(`Signed out of "${visible(name)}".\n`);
  if (revoked?.ok === false) {
    output.warn(
      `the tokens are forgotten here, but could not be revoked: ${revoked.error}. They count until they end.`,
    );
  }
  return EXIT.done;
}

const REMEDY =
  'remove mcp-tokens.json from the state directory; all servers need a new sign-in then';
