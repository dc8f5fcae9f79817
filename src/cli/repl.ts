import { createInterface } from 'node:readline';
import { slashCommands } from '../client/commands/complete.js';
import { ALL_QUESTIONS, connectClient, type LocalClient } from '../client/local-client.js';
import {
  askOpeningQuestions,
  confirmIncludes,
  confirmModelSwitch,
} from '../client/opening-questions.js';
import { replaced } from '../client/session-slot.js';
import { TurnRunner } from '../client/turn-runner.js';
import { openSession, type TeamRole } from '../harness.js';
import { withDebug } from './debug.js';
import { createDialogs } from './dialog.js';
import { EXIT } from './exit-code.js';
import { PlainRepl } from './plain-repl.js';
import type { PrintDeps } from './print.js';
import { PlainRenderer } from './render.js';
import { hasTerminal, onDoubleEscape, TerminalInput } from './terminal-input.js';

/** Runs a plain, line-based conversation. */
export async function runRepl(deps: PrintDeps): Promise<number> {
  const { output, config, options } = deps;
  output.open();
  const isTerminal = hasTerminal();
  const runner = createRunner(deps, isTerminal);
  const client = connectClient(runner, {
    name: 'terminal',
    // fail-closed: only a terminal answers; what a pipe holds was written before the question.
    answers: isTerminal ? ALL_QUESTIONS : [],
  });
  const reader = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: isTerminal,
    completer: completerOf(client),
  });
  let repl: PlainRepl | undefined;
  const input = new TerminalInput({
    reader,
    keys: process.stdin,
    isTerminal,
    isDumb: config.env.TERM === 'dumb',
    out: output.out,
    onLine: (line) => repl?.take(line),
  });
  const renderer = new PlainRenderer({
    colour: isTerminal && config.env.NO_COLOR === undefined && config.env.TERM !== 'dumb',
    width: () => Math.max(40, (process.stdout.columns ?? 100) - 4),
    streams: () => (runner.current?.hooks().set.hooks.MessageDisplay ?? []).length === 0,
  });
  const dialogs = createDialogs({ ask: input.ask, out: (text) => input.print(text) });
  const isResumed = config.start.kind !== 'new';
  const current = new PlainRepl({ client, input, dialogs, renderer, isTerminal, isResumed });
  repl = current;
  // Before the session is open there is nothing to interrupt.
  reader.on('SIGINT', () =>
    runner.current === undefined ? process.kill(process.pid, 'SIGINT') : current.interrupt(),
  );
  reader.on('close', () => current.end());
  // A signal may end the program: the terminal is left as it was.
  process.once('exit', () => reader.close());
  if (isTerminal) {
    onDoubleEscape(process.stdin, () => {
      if (input.isAtPrompt && input.isEmpty) current.take('/rewind');
    });
  }
  try {
    await runner.open();
    current.begin(options.prompt);
    const running = runner.run();
    const how = await Promise.race([current.left, running]);
    await client.send('end', { reason: 'prompt_input_exit' });
    await running;
    if (isTerminal && config.persist && current.hasRun) {
      output.out(`To continue: portcullis --resume ${client.sessionId}\n`);
    }
    return how === 'interrupted' ? EXIT.interrupted : EXIT.done;
  } catch (thrown) {
    if (thrown instanceof NotTrusted) return EXIT.error;
    throw thrown;
  } finally {
    reader.close();
    client.close();
  }
}

/** The person said no to the folder, and was told that nothing was started. */
export class NotTrusted extends Error {}

/** Creates the runner of a conversation; a person at a terminal is asked about the folder first. */
export function createRunner(deps: PrintDeps, isTerminal: boolean): TurnRunner {
  const { output, config } = deps;
  const { team = leadOf(deps) } = config;
  // What the lead was told holds for those who work for it: they are not asked once more.
  const asksPerson = isTerminal && team.kind === 'lead';
  return new TurnRunner({
    env: config.env,
    clock: { now: Date.now, uuid: deps.uuid },
    commands: slashCommands,
    awaitsPerson: true,
    async open(ports, replacement) {
      const emit = withDebug(output, ports.emit);
      const clients = {
        confirm: ports.questions.confirm.bind(ports.questions),
        notify: (text: string) => emit({ type: 'notice', level: 'info', text }),
      };
      const projectTrust = asksPerson ? await askOpeningQuestions(clients, config) : undefined;
      if (asksPerson && projectTrust === undefined) throw new NotTrusted();
      const asked = {
        ...config,
        projectTrust,
        team,
        emit,
        // fail-closed: only a terminal answers; what a pipe holds was written before the question.
        ...(isTerminal && { asker: ports.asker, elicit: ports.elicit }),
        serversMayComeLater: isTerminal,
        // fail-closed: where no person sees the question, nothing is approved.
        askIncludes: asksPerson ? confirmIncludes(clients) : undefined,
        confirmModelSwitch: isTerminal ? confirmModelSwitch(clients) : undefined,
      };
      const session = await openSession(replaced(asked, replacement));
      deps.onOpen(session);
      return session;
    },
  });
}

/** A conversation may have a team, whose members run this program too. */
function leadOf({ options }: PrintDeps): TeamRole {
  const program = [process.execPath, ...process.argv.slice(1, 2)];
  return { kind: 'lead', way: options.teammateMode, program };
}

type Completed = [hits: string[], replaced: string];

/** Tab completes commands, their arguments, files and agents. */
function completerOf(client: LocalClient) {
  return (line: string, done: (error: Error | null, found: Completed) => void): void => {
    client.send('complete', { text: line, cursor: line.length }).then(
      (found) =>
        done(null, [found.map(({ text }) => text), line.slice(found[0]?.from ?? line.length)]),
      () => done(null, [[], line]),
    );
  };
}
