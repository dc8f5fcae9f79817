import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Reach } from '../../src/sandbox/host/proxy-rules.js';
import { openSandbox } from '../../src/sandbox/session/sandbox.js';
import type { Sandbox, SandboxPolicy, WrappedProgram } from '../../src/sandbox/types.js';

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** What the sandbox says that it kept the program from. */
  readonly refusals: string | undefined;
}

/** A sandbox of its own for a test: a project that may be written, beside things that may not. */
export interface SessionEnvironment {
  readonly sandbox: Sandbox;
  /** Everything of the test is below it. Not in /tmp, which is private inside. */
  readonly base: string;
  readonly project: string;
  readonly outside: string;
  policy(more?: Partial<SandboxPolicy>): SandboxPolicy;
  /** Runs a script of bash inside. */
  run(script: string, more?: Partial<SandboxPolicy>, options?: RunOptions): Promise<Ran>;
  wrap(script: string, more?: Partial<SandboxPolicy>): Promise<WrappedProgram>;
  close(): Promise<void>;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called while the program runs. */
  during?(child: ChildProcess): void | Promise<void>;
}

/** A place that is neither /tmp nor a home: the sandbox must not be helped by its private /tmp. */
const BASE = process.getuid?.() === 0 ? '/srv' : os.homedir();

export async function environment(
  options: { readonly reach?: Reach; readonly env?: Record<string, string | undefined> } = {},
): Promise<SessionEnvironment> {
  const base = realpathSync(mkdtempSync(path.join(BASE, 'portcullis-sandbox-test-')));
  const project = path.join(base, 'project');
  const outside = path.join(base, 'outside');
  for (const directory of [project, outside]) mkdirSync(directory);
  const sandbox = await openSandbox({
    env: {},
    stateDirectory: path.join(base, 'state'),
    ...options,
  });
  const policy = (more: Partial<SandboxPolicy> = {}): SandboxPolicy => ({
    writable: [project],
    protected: [],
    hidden: [],
    shown: [],
    network: { kind: 'none' },
    weaker: {},
    ...more,
  });
  const program = (script: string, { cwd = project, env = {} }: RunOptions = {}) => ({
    command: '/bin/bash',
    args: ['--norc', '-c', script],
    cwd,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: project, ...env },
  });
  return {
    sandbox,
    base,
    project,
    outside,
    policy,
    wrap: (script, more) => sandbox.wrap(program(script), policy(more)),
    async run(script, more, runOptions = {}) {
      const wrapped = await sandbox.wrap(program(script, runOptions), policy(more));
      try {
        const { code, out, err } = await start(wrapped, runOptions);
        return {
          code,
          out,
          err,
          refusals: wrapped.refusals({ exitCode: code, output: out + err }),
        };
      } finally {
        await wrapped.release();
      }
    },
    async close() {
      await sandbox.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

export function start(
  wrapped: WrappedProgram,
  options: RunOptions = {},
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve, reject) => {
    const { command, args, cwd, env } = wrapped;
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      err += String(chunk);
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
    void options.during?.(child);
  });
}

/** Why the real sandbox cannot be tried here; undefined when it can. */
export async function whyNot(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `no bubblewrap on ${process.platform}`;
  const state = mkdtempSync(path.join(os.tmpdir(), 'portcullis-probe-'));
  const sandbox = await openSandbox({ env: process.env, stateDirectory: state });
  await sandbox.close();
  rmSync(state, { recursive: true, force: true });
  const { availability } = sandbox;
  return availability.kind === 'available' ? undefined : availability.missing;
}
