import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Reply, ReplyFunction } from '../../src/model/script-format.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { PROGRAM } from './program.js';

export const hasTmux = spawnSync('tmux', ['-V']).status === 0;

const DEADLINE_MS = 15_000;

/** The interactive program in a real terminal. */
export interface Terminal {
  readonly project: TempProject;
  readonly server: FakeModelServer;
  /** Types text and presses Enter. */
  line(text: string): void;
  /** The line that starts the program with these arguments, for the shell in this terminal. */
  command(...args: readonly string[]): string;
  /** Presses keys by their tmux names: `C-c`, `C-d`, `Enter`. */
  press(...keys: readonly string[]): void;
  /** Pastes text as a terminal does, in brackets where the program asked for them. */
  paste(text: string): void;
  /** Waits until the screen, history included, holds the text; gives the screen. */
  shows(text: string | RegExp): Promise<string>;
  screen(): string;
  /** The title of the window, which a program can set. */
  title(): string;
  /** The exit code, once the program has left. */
  exitCode(): Promise<number>;
  close(): Promise<void>;
}

export async function openTerminal(options: {
  readonly script: readonly (Reply | ReplyFunction)[];
  readonly args?: readonly string[];
  readonly files?: ProjectFiles;
  /** Beside or instead of the usual variables. */
  readonly env?: Readonly<Record<string, string>>;
}): Promise<Terminal> {
  const project = makeTempProject(options.files === undefined ? {} : { files: options.files });
  const server = await startFakeModelServer({ script: options.script });
  // A server of its own, named by its path: the one that the tests may run in is never touched.
  const own = ['-S', path.join(project.root, 'tmux'), '-f', '/dev/null'];
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', [...own, ...args], { encoding: 'utf8' });
  const env = {
    HOME: project.home,
    TMPDIR: project.root,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'test-key',
    LANG: 'C.UTF-8',
    ...options.env,
  };
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  tmux('new-session', '-d', '-s', 'main', '-x', '120', '-y', '40', '-c', project.directory, 'sh');
  const typed = (text: string): void => {
    tmux('send-keys', '-t', 'main', '-l', '--', text);
    tmux('send-keys', '-t', 'main', 'Enter');
  };
  const command = (...args: readonly string[]): string =>
    `env ${assignments.join(' ')} ${[...PROGRAM, ...args].map(quoted).join(' ')}; echo "left with $?."`;
  typed(command(...(options.args ?? [])));
  const screen = (): string => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', 'main');
  const shows = async (text: string | RegExp): Promise<string> => {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const seen = screen();
      if (typeof text === 'string' ? seen.includes(text) : text.test(seen)) return seen;
      if (Date.now() > deadline) throw new Error(`never on the screen: ${text}\n${seen}`);
      await pause(40);
    }
  };
  return {
    project,
    server,
    line: typed,
    command,
    paste(text) {
      tmux('set-buffer', '--', text);
      tmux('paste-buffer', '-p', '-t', 'main');
    },
    press: (...keys) => void tmux('send-keys', '-t', 'main', ...keys),
    shows,
    screen,
    title: () => tmux('display-message', '-p', '-t', 'main', '#{pane_title}'),
    async exitCode() {
      const seen = await shows(/left with \d+\./);
      return Number(/left with (\d+)\./.exec(seen)?.[1]);
    },
    async close() {
      const shell = spawnSync('tmux', [...own, 'list-panes', '-a', '-F', '#{pane_pid}']);
      const started = childrenOf(shell.stdout.toString().trim());
      spawnSync('tmux', [...own, 'kill-server']);
      // What it runs has files to close; until then it writes into what is taken away here.
      await allGone(started);
      await server.close();
      project.remove();
    },
  };
}

function childrenOf(parent: string): readonly number[] {
  const rows = spawnSync('ps', ['-A', '-o', 'pid=,ppid=']).stdout.toString().split('\n');
  return rows.flatMap((row) => {
    const [pid, ppid] = row.trim().split(/\s+/);
    return ppid === parent && ppid !== '' ? [Number(pid)] : [];
  });
}

async function allGone(processes: readonly number[]): Promise<void> {
  for (let tries = 0; tries < 200 && processes.some(isAlive); tries++) await pause(50);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
