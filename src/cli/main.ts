import type { AgentSession, TeamRole } from '../app.js';
import { messageOf, PortcullisError } from '../errors.js';
import { own } from '../lib/own.js';
import { nearest } from '../lib/text/nearest.js';
import { visible } from '../lib/text/visible.js';
import { systemClock } from '../platform/clock.js';
import { CONTRACT_VERSION } from '../server/contract-version.js';
import { startFailureFrame } from '../server/result.js';
import { encodeFrame } from '../server/wire.js';
import { VERSION } from '../version.js';
import { isDrivenBy, type ParsedArgs, parseArgs } from './args.js';
import { COMMANDS } from './commands/index.js';
import { EXIT } from './exit-code.js';
import { type CliOptions, readOptions, usageError } from './options.js';
import { type HostProcess, type Output, processOutput } from './output.js';
import { runPrint } from './print.js';

/**
 * Runs the program and exits. `saveCompiledCode` is given where V8's code is not cached yet; it is called once a
 * session has ended, because code that has not run is not compiled.
 */
export async function main(argv: readonly string[], saveCompiledCode?: () => void): Promise<void> {
  // fail-closed: a program that runs out of work before it has finished has failed.
  process.exitCode = EXIT.error;
  process.once('beforeExit', () => {
    const { warn } = processOutput({ debug: false, debugFile: undefined });
    warn('internal error: nothing is left to wait for, but the run has not ended');
  });
  process.exit(await runProgram(argv, process, saveCompiledCode));
}

/** Runs the program for a process and returns its exit code. Subcommands use the real process. */
export async function runProgram(
  argv: readonly string[],
  host: HostProcess,
  saveCompiledCode?: () => void,
): Promise<number> {
  let output = processOutput({ debug: false, debugFile: undefined }, host);
  let code: number = EXIT.error;
  try {
    const early = await runEarly(argv, output);
    if (early !== undefined) {
      code = early;
    } else {
      const mate = argv.some((word) => /^--team-name(=|$)/.test(word))
        ? await (await import('./teammate.js')).asTeammate(argv)
        : undefined;
      const read = readOptions(await readCommandLine(mate?.argv ?? argv, output, host));
      if (!read.ok) throw usageError(read.error);
      const options = read.value;
      output = processOutput(options, host);
      code = await runSession({ options, output, host, team: mate?.role });
      if (code === EXIT.done) attempt(saveCompiledCode);
    }
  } catch (thrown) {
    code = await report(thrown, output);
    if (isDrivenBy(argv)) {
      // A host that reads frames learns of it from a frame, whatever went wrong.
      const frame = startFailureFrame([messageOf(thrown)], systemClock.uuid(), systemClock.uuid());
      output.out(encodeFrame(frame));
      code = EXIT.error;
    }
  }
  await output.drained();
  const lost = output.lost();
  if (lost !== undefined) {
    // fail-closed: output that was not delivered is a failure.
    output.warn(`standard output could not be written: ${lost}`);
    if (code === EXIT.done) code = EXIT.error;
  }
  return code;
}

function attempt(save: (() => void) | undefined): void {
  try {
    save?.();
  } catch {
    // The next start compiles again.
  }
}

/** What needs no session: version, help, subcommands. Undefined: go on. */
async function runEarly(argv: readonly string[], output: Output): Promise<number | undefined> {
  const first = argv[0];
  const command = first === undefined ? undefined : own(COMMANDS, first);
  if (first !== undefined && command !== undefined) {
    output.open();
    const { runCommand } = await import('./command.js');
    return await runCommand(await command.load(), [first], { argv: argv.slice(1), output });
  }
  // What follows a bare -- is a prompt, whatever it looks like.
  const flags = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  if (flags.includes('--version')) {
    output.out(`${VERSION} (Portcullis)\n`);
    return EXIT.done;
  }
  if (flags.includes('-v')) {
    // Client libraries ask so before they start us, and compare the answer with what they need.
    output.out(`${CONTRACT_VERSION} (Portcullis ${VERSION})\n`);
    return EXIT.done;
  }
  const topic = first === 'help' ? own(COMMANDS, argv[1] ?? '') : undefined;
  if (topic !== undefined) return await runEarly([...argv.slice(1), '--help'], output);
  if (first === 'help' || flags.includes('--help') || flags.includes('-h')) {
    const { help } = await import('./help.js');
    output.out(help());
    return EXIT.done;
  }
  if (first === undefined || /^-|\s/.test(first)) return undefined;
  const meant = nearest(first, Object.keys(COMMANDS));
  if (meant === undefined) return undefined;
  throw new PortcullisError('usage', `"${visible(first)}" is not a command`, {
    remedy: `did you mean: portcullis ${meant} (as a prompt: portcullis -- ${visible(argv.join(' '))})`,
  });
}

async function readCommandLine(
  argv: readonly string[],
  output: Output,
  host: HostProcess,
): Promise<ParsedArgs> {
  const args = parseArgs(argv);
  if (!args.ok) throw usageError(args.error);
  const { warnings, positionals, switches, values } = args.value;
  for (const warning of warnings) output.warn(warning);
  const [word] = positionals;
  if (word !== undefined && !switches.has('print') && own(COMMANDS, word) !== undefined) {
    throw new PortcullisError('usage', `"${word}" is a command, and flags stand before it`, {
      remedy: `put it first: portcullis ${word}; as a prompt it follows --`,
    });
  }
  if (values.get('resume')?.at(-1) !== '') return args.value;
  const { chooseSession } = await import('./commands/sessions.js');
  const mayAsk = !switches.has('print') && !values.has('input-format');
  const id = await chooseSession(workingDirectory(host), { mayAsk, output });
  return { ...args.value, values: new Map([...values, ['resume', [id]]]) };
}

async function runSession({
  options,
  output,
  host,
  team,
}: {
  options: CliOptions;
  output: Output;
  host: HostProcess;
  team: TeamRole | undefined;
}): Promise<number> {
  if (options.rewindFiles !== undefined) {
    const { sessionId, messageId } = options.rewindFiles;
    const { runCommand } = await import('./command.js');
    const file = await import('./commands/rewind.js');
    const argv = [messageId, '--session', sessionId];
    return await runCommand(file, ['rewind'], { argv, output });
  }
  const config = {
    ...options.session,
    team,
    cwd: workingDirectory(host),
    env: host.env,
    entrypoint:
      host.env.CLAUDE_CODE_ENTRYPOINT ?? (options.print ? 'portcullis-print' : 'portcullis'),
  };
  const signals = handleSignals(output, host);
  const common = { options, config, output, host, uuid: systemClock.uuid, onOpen: signals.watch };
  try {
    if (options.streamInput) return await (await import('./stream.js')).runStream(common);
    if (options.print) return await runPrint(common);
    await offerSetup(options, output, host);
    return await (await import('./terminal.js')).runConversation(common);
  } catch (thrown) {
    if (
      options.outputFormat !== 'stream-json' ||
      !(thrown instanceof PortcullisError) ||
      thrown.code === 'usage'
    )
      throw thrown;
    // A host that reads frames learns of a failed start from a frame.
    const words =
      thrown.remedy === undefined ? thrown.message : `${thrown.message} · ${thrown.remedy}`;
    const id =
      config.start.kind === 'resume'
        ? config.start.id
        : ((config.start.kind === 'new' ? config.start.id : undefined) ?? systemClock.uuid());
    output.out(encodeFrame(startFailureFrame([words], id, systemClock.uuid())));
    output.warn(words);
    return codeFor(thrown);
  }
}

/** A person who starts a conversation without any model is offered to set one up. */
async function offerSetup(
  { session }: CliOptions,
  output: Output,
  host: HostProcess,
): Promise<void> {
  const { confirmAtTerminal, hasTerminal } = await import('./ask.js');
  if (!hasTerminal() || session.script !== undefined) return;
  const { modelStatus } = await import('../project/model-setup.js');
  if (modelStatus(host.env, session.model).configured) return;
  const { openProject } = await import('../project/project.js');
  const { settings: given, managedSettings, settingSources: sources } = session;
  const asked = { settings: given, managedSettings, sources, trustNotice: 'silent' } as const;
  const project = openProject(workingDirectory(host), asked);
  const { env, settings } = await project.settings();
  await project.close();
  if (modelStatus(env, session.model ?? settings.model?.value).configured) return;
  if (!(await confirmAtTerminal('No model is configured. Set one up now?'))) return;
  const { runCommand } = await import('./command.js');
  await runCommand(await import('./commands/setup.js'), ['setup'], { argv: [], output });
}

function workingDirectory(host: HostProcess): string {
  try {
    return host.cwd();
  } catch (thrown) {
    throw new PortcullisError('io', 'the working directory does not exist any more', {
      remedy: 'change to a directory that exists and start again',
      cause: thrown,
    });
  }
}

/** How long a program that was told to end may take to end its children and to save what is unsaved. */
const LEAVING_MS = 4_000;

/** An interrupt ends the running turn; with none to end, or a second time, the program. */
function handleSignals(output: Output, host: HostProcess): { watch(session: AgentSession): void } {
  let session: AgentSession | undefined;
  const leave = (code: number): void => {
    const closing = session?.close() ?? Promise.resolve();
    const done = (): never => host.exit(code);
    closing.then(done, done);
    // The sender of the signal usually follows it with SIGKILL.
    setTimeout(done, LEAVING_MS);
  };
  host.on('SIGINT', () => {
    if (session?.interrupt() !== true) leave(EXIT.interrupted);
    else output.warn('Interrupted. Press Ctrl+C again to quit.');
  });
  host.on('SIGTERM', () => leave(EXIT.terminated));
  host.on('SIGHUP', () => leave(EXIT.terminated));
  return {
    watch(opened) {
      session = opened;
    },
  };
}

async function report(thrown: unknown, output: Output): Promise<number> {
  if (thrown instanceof PortcullisError) {
    const { message, remedy } = thrown;
    // An error in the command line takes one line, with the remedy.
    if (thrown.code === 'usage')
      output.warn(remedy === undefined ? message : `${message}; ${remedy}`);
    else for (const line of [message, remedy]) if (line !== undefined) output.warn(line);
    if (thrown.code === 'no_model') for (const line of await localOffers()) output.warn(line);
    return codeFor(thrown);
  }
  output.warn(
    `internal error: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown)}`,
  );
  return EXIT.error;
}

/** What could be used instead: a model server that runs on this machine, or the demonstration. */
async function localOffers(): Promise<readonly string[]> {
  const { discoverLocalServers } = await import('../model/catalog/discover.js');
  const servers = await discoverLocalServers();
  return [
    ...servers.map(
      (server) =>
        `${server.name} runs here: OPENAI_BASE_URL=${server.baseUrl} portcullis --model ${server.models[0] ?? '<model>'}`,
    ),
    'portcullis demo shows a session without any model',
  ];
}

function codeFor(error: PortcullisError): number {
  if (error.code === 'usage') return EXIT.usage;
  if (error.code === 'config' || error.code === 'no_model') return EXIT.config;
  return EXIT.error;
}
