import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { PROGRAM } from '../e2e/program.js';

/** `portcullis console`, as a person starts it. */
export interface RunningConsole {
  readonly url: string;
  readonly origin: string;
  readonly port: number;
  readonly token: string;
  readonly process: ChildProcess;
  /** Milliseconds from the start until the address was printed. */
  readonly startMs: number;
  get(path: string): Promise<Response>;
  post(path: string, body: unknown): Promise<Response>;
  /** Waits until the overview fits. */
  until(fits: (overview: Overview) => boolean): Promise<Overview>;
  close(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface Overview {
  readonly sessions: readonly Readonly<Record<string, unknown>>[];
  readonly inbox: readonly Readonly<Record<string, unknown>>[];
}

const DEADLINE_MS = 20_000;

export async function startConsole(
  home: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningConsole> {
  const [command = '', ...first] = PROGRAM;
  const begun = performance.now();
  const child = spawn(command, [...first, 'console', ...args], {
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let said = '';
    const hear = (chunk: Buffer): void => {
      said += chunk;
      const found = /(http:\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('close', () => reject(new Error(`the console ended: ${said}`)));
  });
  const startMs = performance.now() - begun;
  const { origin, port, hash } = new URL(url);
  const token = hash.replace('#token=', '');
  const headers = { authorization: `Bearer ${token}` };
  const get = (path: string): Promise<Response> => fetch(origin + path, { headers });
  return {
    url,
    origin,
    port: Number(port),
    token,
    process: child,
    startMs,
    get,
    post: (path, body) =>
      fetch(origin + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async until(fits) {
      for (const deadline = Date.now() + DEADLINE_MS; ; await pause(50)) {
        const overview = (await (await get('/api/overview')).json()) as Overview;
        if (fits(overview)) return overview;
        if (Date.now() > deadline) throw new Error(`never so: ${JSON.stringify(overview)}`);
      }
    },
    close: (signal = 'SIGTERM') =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
        child.once('close', (code) => resolve(code));
        child.kill(signal);
      }),
  };
}
