import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionClient } from '../client/session-client.js';
import { PortcullisError } from '../errors.js';
import { isRecord } from '../util/own.js';
import { VERSION } from '../version.js';
import { type Leaving, Terminal } from './app.js';
import { historyFile } from './history-file.js';
import { ACTIONS, type Action } from './input/composer.js';
import { EMERGENCY_RESET, openDevice } from './node-device.js';
import { clipboardImage, editText, runStatusCommand } from './programs.js';

export type { Leaving } from './app.js';

export interface RunTerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Sent once the terminal is open. */
  readonly prompt?: string | undefined;
  /** Where prompts of all sessions are kept; absent: they are forgotten. */
  readonly historyPath?: string | undefined;
  /** Ends the terminal: the session could not be opened. */
  readonly signal?: AbortSignal | undefined;
  /** The user's own settings, once the session is open: `theme`, `editorMode`. */
  settings(): Readonly<Record<string, unknown>>;
  /** The status line command that may run now. */
  statusLine():
    | { readonly command: string; readonly refreshInterval?: number | undefined }
    | undefined;
  /** A file that binds keys to actions: `{ "ctrl+x": "transcript" }`. */
  readonly keysPath?: string | undefined;
  /** False: a hook rewrites answers, so they are shown when they are whole. */
  streams?(): boolean;
}

/** Files larger than this are not compared in a question. */
const MOST_FILE = 5_000_000;

/** Runs the terminal of a session until the person leaves it or the session is closed. */
export async function runTerminal(
  client: SessionClient,
  options: RunTerminalOptions,
): Promise<Leaving> {
  const { cwd, env, historyPath, keysPath } = options;
  const terminal = new Terminal(client, {
    ...options,
    device: openDevice(process.stdin, process.stdout),
    colour: env.NO_COLOR === undefined || env.NO_COLOR === '',
    history: historyPath === undefined ? undefined : historyFile(historyPath),
    readText,
    branch: () => readBranch(cwd),
    editText: (text) => editText(text, env),
    clipboardImage: () => clipboardImage(env),
    async statusLine(facts) {
      const { command } = options.statusLine() ?? {};
      return command && (await runStatusCommand(command, facts, { cwd, env }));
    },
    refreshSeconds: () => options.statusLine()?.refreshInterval,
    keys: keysPath === undefined ? undefined : readKeys(keysPath),
    version: VERSION,
    now: () => performance.now(),
  });
  // A crash or a signal must not leave raw mode, the alternate screen or a hidden cursor behind.
  const onExit = (): void => {
    terminal.close();
    process.stdout.write(EMERGENCY_RESET);
  };
  process.once('exit', onExit);
  const refused = new Promise<Leaving>((resolve) => {
    options.signal?.addEventListener('abort', () => resolve('closed'), { once: true });
  });
  try {
    return await Promise.race([terminal.left, refused]);
  } finally {
    terminal.close();
    process.off('exit', onExit);
  }
}

function readText(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return text.length > MOST_FILE || text.includes('\u0000') ? undefined : text;
  } catch {
    // The question says that the file could not be read.
    return undefined;
  }
}

/** Bindings of the user; an action that does not exist stops the start with its name. */
function readKeys(path: string): Readonly<Record<string, Action>> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // There is no such file: the usual keys.
    return {};
  }
  const parsed = parseJson(text);
  if (!isRecord(parsed)) {
    throw new PortcullisError('config', `${path} is not a JSON object of keys and actions`);
  }
  return Object.fromEntries(
    Object.entries(parsed).map(([key, action]) => {
      const known = ACTIONS.find((one) => one === action);
      if (known !== undefined) return [key, known];
      throw new PortcullisError('config', `${path}: ${key} is bound to an unknown action`, {
        remedy: `actions: ${ACTIONS.join(', ')}`,
      });
    }),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says what is wrong with the file.
    return undefined;
  }
}

/** The branch of a repository, read from its HEAD; undefined where there is none. */
function readBranch(cwd: string): string | undefined {
  try {
    const head = readFileSync(join(cwd, '.git', 'HEAD'), 'utf8').trim();
    return /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? head.slice(0, 8);
  } catch {
    // No repository, or a worktree whose HEAD is elsewhere.
    return undefined;
  }
}
