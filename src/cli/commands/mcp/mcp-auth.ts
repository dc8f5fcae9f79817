import { createInterface, type Interface } from 'node:readline';
import { PortcullisError } from '../../../errors.js';
import { visible } from '../../../lib/text/visible.js';
import { openSignIn, type SignInDialog } from '../../../project/mcp/mcp-auth.js';
import type { CommandSpec } from '../../command.js';
import { EXIT } from '../../exit-code.js';
import { refuseAgent } from '../person.js';
import { inspectProject, JSON_OPTION, SERVER_ARGUMENT } from '../project-call.js';

/** A person may have to find a password first. */
const TIMEOUT_MS = 10 * 60_000;

export const auth: CommandSpec = {
  summary: 'Sign in to a server.',
  arguments: [SERVER_ARGUMENT],
  options: [
    { flags: '--no-browser', description: 'Print the address, and read the answer as text.' },
    JSON_OPTION,
  ],
  notes: 'Tokens are kept in a file of the state directory and are never shown.',
  run: (call) =>
    inspectProject(call, async (project) => {
      const { options, output } = call;
      const [name = ''] = call.args;
      refuseAgent('mcp auth');
      const { signIn } = await openSignIn(project, name, 'usable');
      const json = options.json === true;
      const done = await signIn(
        {
          // With --json standard output holds nothing but the answer.
          show: (text) => void (json ? process.stderr.write(text) : output.out(text)),
          paste: options.browser === false ? lineReader() : undefined,
        },
        AbortSignal.timeout(TIMEOUT_MS),
      );
      if (json) {
        const state = done.ok
          ? { status: 'signed-in' }
          : { status: 'failed', error: done.error.message };
        output.out(`${JSON.stringify({ name, ...state })}\n`);
      } else if (done.ok) output.out(`Signed in to "${visible(name)}".\n`);
      else output.warn(done.error.message);
      return done.ok ? EXIT.done : EXIT.error;
    }),
};

/** One reader for all attempts: a second one would lose what the first has read ahead. */
function lineReader(): NonNullable<SignInDialog['paste']> {
  let source: Interface | undefined;
  let lines: AsyncIterator<string> | undefined;
  return {
    async nextLine(signal) {
      source ??= createInterface({ input: process.stdin, signal });
      lines ??= source[Symbol.asyncIterator]();
      const { value, done } = await lines.next();
      return done === true ? undefined : value;
    },
    finished: () => source?.close(),
  };
}

export const logout: CommandSpec = {
  summary: 'Forget and revoke the tokens of a server.',
  arguments: [SERVER_ARGUMENT],
  options: [JSON_OPTION],
  run: (call) =>
    inspectProject(call, async (project) => {
      const { output } = call;
      const [name = ''] = call.args;
      // Also of a server that may not be used any more: its tokens are still there.
      const { signOut } = await openSignIn(project, name, 'any');
      const done = await signOut();
      if (!done.ok) {
        throw new PortcullisError('io', done.error.message, {
          remedy:
            'remove mcp-tokens.json from the state directory; all servers need a new sign-in then',
        });
      }
      const { was, revoked } = done.value;
      if (call.options.json === true) {
        output.out(`${JSON.stringify({ name, signedOut: was, revoked: revoked?.ok })}\n`);
      } else if (!was) output.out(`You were not signed in to "${visible(name)}".\n`);
      else {
        const more = revoked?.ok === true ? ' Its tokens were revoked.' : '';
        output.out(`Signed out of "${visible(name)}".${more}\n`);
      }
      if (revoked?.ok === false) {
        output.warn(
          `the tokens were removed here, but could not be revoked: ${revoked.error}. They stay valid until they expire.`,
        );
      }
      return EXIT.done;
    }),
};
