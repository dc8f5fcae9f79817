import { childProcess } from '../../env/builtins.js';
import { shellEnvironment } from '../../env/environment.js';
import { messageOf, PortcullisError } from '../../errors.js';
import { openFence } from '../../sandbox/fence.js';
import type { WrappedProgram } from '../../sandbox/types.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { sandboxHere } from './sandbox-here.js';

export const USAGE = 'portcullis sandbox run -- <command> [arguments]';
/** Of the output that is looked through for what the sandbox refused. */
const KEPT_CHARACTERS = 200_000;

/** Runs one command inside, as an agent here would, and says what it was kept from. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const at = argv.indexOf('--');
  // Options of the command are its own.
  const own = at < 0 ? argv.slice(0, 0) : argv.slice(0, at);
  const [command, ...args] = at < 0 ? argv : argv.slice(at + 1);
  readArguments(own, { usage: USAGE });
  if (command === undefined || command.startsWith('--')) {
    throw new PortcullisError('usage', 'sandbox run needs a command', {
      remedy: `usage: ${USAGE}`,
    });
  }
  const here = await sandboxHere(output);
  if (here.askedBy === undefined) {
    output.warn('Settings do not want a sandbox here; this command runs as if they did.');
  }
  const fence = openFence(here.parts);
  fence.lend(here.rules);
  try {
    const order = {
      command,
      args,
      cwd: here.parts.cwd,
      env: shellEnvironment(process.env),
      owner: {},
    };
    const wrapped = await fence.enter('shell', order);
    if (wrapped === undefined) {
      // fail-closed: this command is there to try the sandbox, so it never runs without one.
      throw new PortcullisError('denied', 'there is no sandbox here, so nothing was run', {
        remedy: 'portcullis sandbox status says what is missing.',
      });
    }
    return await runWrapped(wrapped, output);
  } finally {
    await fence.close();
  }
}

async function runWrapped(wrapped: WrappedProgram, output: Output): Promise<number> {
  let kept = '';
  const keep = (chunk: Buffer): void => {
    kept = `${kept}${chunk.toString('utf8')}`.slice(-KEPT_CHARACTERS);
  };
  try {
    const { command, args, cwd, env } = wrapped;
    const code = await new Promise<number>((resolve, reject) => {
      const child = childProcess().spawn(command, [...args], {
        cwd,
        env,
        stdio: ['inherit', 'pipe', 'pipe'],
      });
      child.stdout.on('data', (chunk: Buffer) => {
        process.stdout.write(chunk);
        keep(chunk);
      });
      child.stderr.on('data', (chunk: Buffer) => {
        process.stderr.write(chunk);
        keep(chunk);
      });
      child.once('error', (thrown) => reject(cannotStart(thrown)));
      child.once('close', (exitCode) => resolve(exitCode ?? KILLED));
    });
    const refused = wrapped.refusals({ exitCode: code, output: kept });
    if (refused !== undefined) output.warn(refused);
    return code;
  } finally {
    await wrapped.release();
  }
}

/** As a shell says that a signal ended something. */
const KILLED = 137;

function cannotStart(thrown: unknown): PortcullisError {
  return new PortcullisError('process', `the sandbox cannot be started: ${messageOf(thrown)}`);
}
