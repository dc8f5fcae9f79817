import { execFileSync, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Reply, ReplyFunction } from '../../src/model/scripted/format.js';
import { processAlive } from '../../src/platform/process/process-tree.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';
import {
  makeTempProject,
  type ProjectFiles,
  type TempProject,
} from '../../src/testing/temp-project.js';
import { PROGRAM } from './program.js';

const DEADLINE_MS = 15_000;

/** The prompt is drawn and the session is open. */
export const READY = /\n> ?\n\S+ · (default|acceptEdits|plan)/;
/** A question takes keys. */
export const ASKS = /Esc (refuses|gives no answer)/;

/** The interactive program in a real terminal. */
export interface Terminal {
  readonly project: TempProject;
  readonly server: FakeModelServer;
  /** Types text and presses Enter. */
  line(text: string): void;
  /** Types text. */
  type(text: string): void;
  /** Pastes text, in brackets where the program asked for them. */
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** The process id of the program. */
  pid(): number;
  /** The line that starts the program with these arguments, for the shell in this terminal. */
  command(...args: readonly string[]): string;
  /** Presses keys by their tmux names: `C-c`, `C-d`, `Enter`. */
  press(...keys: readonly string[]): void;
  /** Waits until the screen, history included, holds the text; gives the screen. */
  shows(text: string | RegExp): Promise<string>;
  screen(): string;
  /** What the window shows, with its colours. */
  colours(): string;
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
  /** The terminal interface; absent: plain lines. */
  readonly full?: boolean;
  /** The model's answers arrive in pieces of this many bytes, one every few milliseconds. */
  readonly slowly?: { readonly bytes: number; readonly ms: number };
  /** Beside or instead of the usual variables. */
  readonly env?: Readonly<Record<string, string>>;
}): Promise<Terminal> {
  const project = makeTempProject(options.files === undefined ? {} : { files: options.files });
  const server = await startFakeModelServer({ script: options.script });
  // A server of its own, named by its path: the one that the tests may run in is never touched.
  const own = ['-S', path.join(project.root, 'tmux'), '-f', '/dev/null'];
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', [...own, ...args], { encoding: 'utf8' });
  const proxy =
    options.slowly === undefined ? undefined : await slowProxy(server.url, options.slowly);
  const env = {
    HOME: project.home,
    TMPDIR: project.root,
    ANTHROPIC_BASE_URL: proxy?.url ?? server.url,
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
  const mode = options.full === true ? [] : ['--plain'];
  const command = (...args: readonly string[]): string => {
    const words = [...PROGRAM, ...mode, ...args].map(quoted).join(' ');
    return `env ${assignments.join(' ')} ${words}; echo "left with $?."`;
  };
  typed(command(...(options.args ?? [])));
  const screen = (): string => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', 'main');
  const shows = async (text: string | RegExp): Promise<string> => {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const seen = screen();
      if (typeof text === 'string' ? seen.includes(text) : text.test(seen)) return seen;
      if (Date.now() > deadline) throw new Error(`never on the screen: ${text}\n${seen}`);
      await pause(15);
    }
  };
  return {
    project,
    server,
    line: typed,
    command,
    type: (text) => void tmux('send-keys', '-t', 'main', '-l', '--', text),
    paste(text) {
      execFileSync('tmux', [...own, 'load-buffer', '-'], { input: text });
      tmux('paste-buffer', '-p', '-t', 'main');
    },
    resize: (columns, rows) =>
      void tmux('resize-window', '-t', 'main', '-x', String(columns), '-y', String(rows)),
    pid() {
      const [shell] = childrenOf(tmux('list-panes', '-a', '-F', '#{pane_pid}').trim());
      if (shell === undefined) throw new Error('the program does not run');
      return shell;
    },
    press: (...keys) => void tmux('send-keys', '-t', 'main', ...keys),
    shows,
    screen,
    colours: () => tmux('capture-pane', '-e', '-p', '-t', 'main'),
    title: () => tmux('display-message', '-p', '-t', 'main', '#{pane_title}'),
    async exitCode() {
      const seen = await shows(/left with \d+\./);
      return Number(/left with (\d+)\./.exec(seen)?.[1]);
    },
    async close() {
      await endTmux(own);
      proxy?.close();
      await server.close();
      project.remove();
    },
  };
}

/** A proxy in front of the scripted model that delays its answers. */
async function slowProxy(
  target: string,
  { bytes, ms }: { readonly bytes: number; readonly ms: number },
): Promise<{ readonly url: string; close(): void }> {
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { 'content-length': _length, host: _host, ...headers } = request.headers;
    const answer = await fetch(`${target}${request.url}`, {
      method: request.method ?? 'POST',
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks),
    });
    const type = answer.headers.get('content-type') ?? 'text/event-stream';
    response.writeHead(answer.status, { 'content-type': type });
    const body = Buffer.from(await answer.arrayBuffer());
    for (let at = 0; at < body.length && !response.destroyed; at += bytes) {
      response.write(body.subarray(at, at + bytes));
      await pause(ms);
    }
    response.end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void proxy.close() };
}

/** Ends a tmux server and waits for what ran in it: until its end it writes into files that the test removes. */
export async function endTmux(own: readonly string[]): Promise<void> {
  const panes = spawnSync('tmux', [...own, 'list-panes', '-a', '-F', '#{pane_pid}']);
  const shells = panes.stdout.toString().trim().split('\n');
  const started = shells.flatMap((shell) => [Number(shell), ...childrenOf(shell)]);
  spawnSync('tmux', [...own, 'kill-server']);
  await allGone(started.filter((pid) => pid > 0));
}

function childrenOf(parent: string): readonly number[] {
  const rows = spawnSync('ps', ['-A', '-o', 'pid=,ppid=']).stdout.toString().split('\n');
  return rows.flatMap((row) => {
    const [pid, ppid] = row.trim().split(/\s+/);
    return ppid === parent && ppid !== '' ? [Number(pid)] : [];
  });
}

async function allGone(processes: readonly number[]): Promise<void> {
  for (let tries = 0; tries < 1_000 && processes.some(processAlive); tries++) await pause(10);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
