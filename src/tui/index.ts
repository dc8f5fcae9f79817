import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionClient } from '../client/session-client.js';
import { PortcullisError } from '../errors.js';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import { printable } from '../lib/text/printable.js';
import { VERSION } from '../version.js';
import { Terminal } from './app.js';
import { ACTIONS, type Action } from './input/composer.js';
import { EMERGENCY_RESET, openDevice } from './node-device.js';
import type { Leaving, TerminalOptions } from './terminal-options.js';
import { noticeOf } from './views/notices.js';

export type { Leaving, PipeListener } from './terminal-options.js';
export type { WindowKind } from './window.js';

/** What this process gives to the terminal. */
type OfThisProcess = 'device' | 'colour' | 'readText' | 'keys' | 'version' | 'now';

export interface RunTerminalOptions extends Omit<TerminalOptions, OfThisProcess> {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends the terminal: the session could not be opened. */
  readonly signal?: AbortSignal | undefined;
  /** A file that binds keys to actions: `{ "ctrl+x": "transcript" }`. */
  readonly keysPath?: string | undefined;
}

/** Files larger than this are not compared in a question. */
const MOST_FILE = 5_000_000;

/** Runs the terminal of a session until the person leaves it or the session is closed. */
export async function runTerminal(
  client: SessionClient,
  options: RunTerminalOptions,
): Promise<Leaving> {
  const { cwd, env, keysPath } = options;
  const terminal = new Terminal(client, {
    ...options,
    device: openDevice(process.stdin, process.stdout),
    colour: env.NO_COLOR === undefined || env.NO_COLOR === '',
    readText,
    branch: () => readBranch(cwd),
    keys: keysPath === undefined ? undefined : readKeys(keysPath),
    version: VERSION,
    now: () => performance.now(),
  });
  // A crash or a signal must not leave raw mode, the alternate screen or a hidden cursor behind.
  const onExit = (): void => {
    terminal.close();
    if (options.kind === 'full') process.stdout.write(EMERGENCY_RESET);
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
    // Hooks that are still running may fail while the session ends.
    client.subscribe(({ event }) => {
      const notice = noticeOf(event);
      if (notice?.level === 'warning' || notice?.level === 'error') {
        process.stdout.write(`! ${printable(notice.text)}\n`);
      }
    });
  }
}

/** The text of a file that a question compares with; undefined: it cannot be read. */
export function readText(path: string): string | undefined {
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
  if (!parsed.ok || !isRecord(parsed.value)) {
    throw new PortcullisError('config', `${path} is not a JSON object of keys and actions`);
  }
  return Object.fromEntries(
    Object.entries(parsed.value).map(([key, action]) => {
      const known = ACTIONS.find((one) => one === action);
      if (known !== undefined) return [key, known];
      throw new PortcullisError('config', `${path}: ${key} is bound to an unknown action`, {
        remedy: `actions: ${ACTIONS.join(', ')}`,
      });
    }),
  );
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
