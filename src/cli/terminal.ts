import { join } from 'node:path';
import { openSession, type TeamRole } from '../app.js';
import { slashCommands } from '../client/commands/complete.js';
import { ALL_QUESTIONS, connectClient } from '../client/local-client.js';
import {
  askOpeningQuestions,
  confirmIncludes,
  confirmModelSwitch,
} from '../client/opening-questions.js';
import { replaced } from '../client/session-slot.js';
import { TurnRunner } from '../client/turn-runner.js';
import { announceSession } from '../console/announce.js';
import { isRecord } from '../lib/own.js';
import { stateDirectory } from '../platform/fs/paths.js';
import type { WindowKind } from '../tui/index.js';
import { hasTerminal } from './ask.js';
import { withDebug } from './debug.js';
import { EXIT } from './exit-code.js';
import { PipedPrompts } from './piped-prompts.js';
import type { PrintDeps } from './print.js';
import { historyFile } from './prompt-history.js';
import { clipboardImage, editText, runStatusCommand } from './terminal-programs.js';

/** Runs a conversation: in the terminal interface, or as lines. */
export async function runConversation(deps: PrintDeps): Promise<number> {
  const { config, options, output } = deps;
  output.open();
  const kind = windowKind(deps);
  const isPipe = kind === 'pipe';
  const runner = createRunner(deps, !isPipe);
  announceSession(runner, { kind: 'terminal', cwd: config.cwd, env: config.env });
  const client = connectClient(runner, {
    name: 'terminal',
    // fail-closed: only a terminal answers; what a pipe holds was written before the question.
    answers: isPipe ? [] : ALL_QUESTIONS,
  });
  const { runTerminal } = await import('../tui/index.js');
  const refused = new AbortController();
  const state = stateDirectory(config.env);
  // Draws the prompt at once: the session opens behind it.
  const shown = runTerminal(client, {
    kind,
    cwd: config.cwd,
    env: config.env,
    prompt: isPipe ? undefined : options.prompt,
    pipe: isPipe
      ? (listener) => new PipedPrompts(client, listener).read(deps.host.stdin, options.prompt)
      : undefined,
    history: config.persist && !isPipe ? historyFile(join(state, 'prompts.jsonl')) : undefined,
    editText: (text) => editText(text, config.env),
    clipboardImage: () => clipboardImage(config.env),
    resumable: config.persist && !isPipe,
    keysPath: join(state, 'keybindings.json'),
    signal: refused.signal,
    settings: () => userSettings(runner),
    async statusLine(facts) {
      const { command } = (kind === 'full' && runner.current?.inspect.statusLine()) || {};
      return command && (await runStatusCommand(command, facts, config));
    },
    refreshSeconds: () => runner.current?.inspect.statusLine()?.refreshInterval,
    streams: () => (runner.current?.hooks().set.hooks.MessageDisplay ?? []).length === 0,
  });
  const running = runner.run();
  // Both are awaited below, where a failure is reported.
  for (const work of [shown, running]) work.catch(() => undefined);
  const opening = runner.open();
  opening.catch(() => refused.abort());
  try {
    const how = await shown;
    if (refused.signal.aborted) await opening;
    await client.send('end', { reason: 'prompt_input_exit' });
    // A session that still asks whether it may open gets the answer that refuses.
    if (runner.current === undefined) client.close();
    await running;
    return how === 'interrupted' ? EXIT.interrupted : EXIT.done;
  } catch (thrown) {
    if (thrown instanceof NotTrusted) return EXIT.error;
    throw thrown;
  } finally {
    client.close();
    await running.catch(() => undefined);
  }
}

/** `--plain`, dumb terminals, panes of teammates and pipes get lines. */
function windowKind({ options, config }: PrintDeps): WindowKind {
  if (!hasTerminal()) return 'pipe';
  const { TERM = 'dumb' } = config.env;
  if (TERM === 'dumb') return 'dumb';
  return options.plain || config.team?.kind === 'member' ? 'lines' : 'full';
}

/** The person said no to the folder, and was told that nothing was started. */
class NotTrusted extends Error {}

/** Creates the runner of a conversation; a person at a terminal is asked about the folder first. */
function createRunner(deps: PrintDeps, isTerminal: boolean): TurnRunner {
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

/** The user's own settings file: how the terminal looks is not for a project to say. */
function userSettings(runner: TurnRunner): Readonly<Record<string, unknown>> {
  const { sources } = runner.current?.inspect.settings() ?? {};
  const rows = Array.isArray(sources) ? sources.filter(isRecord) : [];
  const user = rows.find(({ source }) => source === 'userSettings')?.settings;
  return isRecord(user) ? user : {};
}
