import { join } from 'node:path';
import { ALL_QUESTIONS, connectClient } from '../client/local-client.js';
import type { TurnRunner } from '../client/turn-runner.js';
import { stateDirectory } from '../env/paths.js';
import { isRecord } from '../util/own.js';
import { EXIT } from './exit-code.js';
import type { PrintDeps } from './print.js';
import { createRunner, NotTrusted } from './repl.js';
import { hasTerminal } from './terminal-input.js';

/**
 * Whether the conversation gets the terminal interface. A dumb terminal, `--plain` and the panes of
 * teammates get lines.
 */
export function wantsTerminal({ options, config }: PrintDeps): boolean {
  const { TERM } = config.env;
  const isMember = config.team?.kind === 'member';
  return hasTerminal() && !options.plain && !isMember && TERM !== 'dumb' && TERM !== undefined;
}

/** Runs a conversation in the terminal interface. */
export async function runTerminalSession(deps: PrintDeps): Promise<number> {
  const { config, options, output } = deps;
  output.open();
  const runner = createRunner(deps, true);
  const client = connectClient(runner, { name: 'terminal', answers: ALL_QUESTIONS });
  const { runTerminal } = await import('../tui/index.js');
  const running = runner.run();
  // Awaited below, where its failure is reported.
  running.catch(() => undefined);
  const refused = new AbortController();
  const opening = runner.open();
  opening.catch(() => refused.abort());
  const state = stateDirectory(config.env);
  const shown = runTerminal(client, {
    cwd: config.cwd,
    env: config.env,
    prompt: options.prompt,
    historyPath: config.persist ? join(state, 'prompts.jsonl') : undefined,
    keysPath: join(state, 'keybindings.json'),
    signal: refused.signal,
    settings: () => userSettings(runner),
    statusLine: () => runner.current?.inspect.statusLine(),
    streams: () => (runner.current?.hooks().set.hooks.MessageDisplay ?? []).length === 0,
  });
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

/** The user's own settings file: how the terminal looks is not for a project to say. */
function userSettings(runner: TurnRunner): Readonly<Record<string, unknown>> {
  const { sources } = runner.current?.inspect.settings() ?? {};
  const rows = Array.isArray(sources) ? sources.filter(isRecord) : [];
  const user = rows.find(({ source }) => source === 'userSettings')?.settings;
  return isRecord(user) ? user : {};
}
