import { randomUUID } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { messageOf, PortcullisError } from '../../errors.js';
import { stateDirectory } from '../../platform/fs/paths.js';
import { VERSION } from '../../version.js';
import { FLEET_VARIABLE, fleetDatabase, openFleet } from '../open.js';
import { plainEngine } from './engine.js';
import { jsonLogger, serveHealth } from './metrics.js';
import { Worker, type WorkerEnd } from './worker.js';
import { Workspaces } from './workspace.js';

/** How long a worker waits for a database that is away. */
const RECONNECT_MS = 600_000;

export interface RunWorkerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly labels: readonly string[];
  readonly slots: number;
  readonly tenant?: string | undefined;
  readonly root?: string | undefined;
  readonly snapshots?: string | undefined;
  readonly setup?: string | undefined;
  readonly ignored: 'skip' | 'keep';
  /** Absent: no health server. */
  readonly healthPort?: number | undefined;
  readonly healthHost: string;
  readonly graceSeconds: number;
  readonly deadlineSeconds: number;
  readonly drainSeconds: number;
  readonly maxTurns: number;
  write(line: string): void;
  /** Gets what drains the worker; called a second time, it hands sessions over at once. */
  onStart(drain: () => void): void;
}

/** The directory of the workspaces, made where there is none. */
function usableDirectory(root: string): string {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    accessSync(root, constants.W_OK);
  } catch (thrown) {
    throw new PortcullisError('io', `workspaces cannot be kept in ${root}: ${messageOf(thrown)}`, {
      remedy: 'give --root and a directory that this user may write',
    });
  }
  return root;
}

/** Runs a worker until it is drained or has lost its sessions. */
export async function runWorker(options: RunWorkerOptions): Promise<WorkerEnd> {
  const { env, slots, labels, tenant } = options;
  const id = randomUUID();
  const log = jsonLogger(options.write, id);
  const root = usableDirectory(options.root ?? join(stateDirectory(env), 'fleet-work'));
  const fleet = await openFleet(env, {
    size: slots + 4,
    waitMs: RECONNECT_MS,
    onAway: (problem) => log('warning', 'waits for the database', { problem }),
  });
  const url = fleetDatabase(env);
  const engine =
    url === undefined
      ? plainEngine
      : await (await import('../postgres/dbos-engine.js')).openDbosEngine({ url, worker: id, log });
  // The address of the fleet may hold a password, and is not for sessions.
  const { [FLEET_VARIABLE]: _, ...sessionEnv } = env;
  const { snapshots, setup, ignored } = options;
  const worker = new Worker({
    fleet,
    engine,
    log,
    workspaces: new Workspaces({ root, snapshots, setup, ignored, env: sessionEnv }),
    settings: {
      info: {
        id,
        host: hostname(),
        pid: process.pid,
        version: VERSION,
        labels,
        slots,
        tenant,
        draining: false,
      },
      env: sessionEnv,
      graceMs: options.graceSeconds * 1_000,
      maxTurns: options.maxTurns,
      deadlineMs: options.deadlineSeconds * 1_000,
      beatMs: Math.max(200, (options.deadlineSeconds * 1_000) / 5),
      drainMs: options.drainSeconds * 1_000,
    },
  });
  const health =
    options.healthPort === undefined
      ? undefined
      : await serveHealth({
          port: options.healthPort,
          host: options.healthHost,
          problem: () => worker.problem,
          metrics: () => worker.metrics.text({ slots, slots_in_use: worker.slotsInUse }),
        });
  options.onStart(() => worker.drain());
  try {
    return await worker.work();
  } finally {
    health?.close();
    await engine.close();
    await fleet.close();
  }
}
