import { setTimeout as delay } from 'node:timers/promises';
import { LONGEST_TIMER_MS } from '../clock.js';
import { randomBytes } from '../random.js';
import { LineChild } from './line-process.js';
import { PipePool } from './pipe-pool.js';
import type { ProcessSupervisor, SpawnRequest } from './process.js';
import { childKind, ProcessRegistry, shownCommand } from './process-registry.js';
import {
  endTree,
  groupAlive,
  MARKER_VARIABLE,
  type ProcessTree,
  processAlive,
  signalGroup,
  startTimeOf,
} from './process-tree.js';
import { ProcessWatchdog } from './process-watchdog.js';
import { type ChildHost, type InputTaker, SupervisedChild } from './supervised-child.js';

export interface SupervisorOptions {
  /** Where the registry of children lives. Absent: none is kept. */
  readonly stateDirectory?: string;
  /** Named beside our children in the registry. */
  readonly sessionId?: string;
}

/**
 * From this age on the watchdog knows a child by its group. It finds younger ones by the marker in
 * their environment, so that none survives a `kill -9`; most commands never get older.
 */
const WATCH_AFTER_MS = 5;
/** From this age on it is in the registry. */
const REGISTER_AFTER_MS = 1000;
/** Between SIGTERM and SIGKILL when we are about to go ourselves, and for what a child left behind. */
const EXIT_GRACE_MS = 200;
/** Between two looks whether a group is gone. */
const POLL_MS = 10;

/**
 * The one way to start a process. A command's group is ended with us, also what it left running in
 * the background; a daemon that made itself a session of its own is ended only together with a
 * command that is still running, since an ordinary one (`gpg-agent`, `tmux`) is meant to stay.
 */
export function createProcessSupervisor(options: SupervisorOptions = {}): ProcessSupervisor {
  const supervisor = new NodeProcessSupervisor(options);
  return {
    start: (request) => {
      const child = supervisor.start(request);
      return { pid: child.pid, result: child.result, kill: () => child.end('asked') };
    },
    run: (request) => supervisor.start(request).result,
    open: (request) =>
      new LineChild(request, (spawn, takeInput) => supervisor.start(spawn, takeInput)),
    killAll: () => supervisor.killAll(),
  };
}

class NodeProcessSupervisor {
  readonly pipes = new PipePool();
  readonly #id = randomBytes(6).toString('hex');
  readonly #outerMarkers: string;
  readonly #running = new Map<SupervisedChild, NodeJS.Timeout | undefined>();
  /** Groups whose leader has ended but which still have members. */
  readonly #leftRunning = new Map<number, ProcessTree>();
  readonly #watched = new Set<number>();
  readonly #watchdog = new ProcessWatchdog();
  readonly #registry: ProcessRegistry | undefined;
  #count = 0;

  constructor(options: SupervisorOptions) {
    const outer = process.env[MARKER_VARIABLE];
    this.#outerMarkers = outer === undefined || outer === '' ? '' : `${outer}+`;
    if (options.stateDirectory !== undefined) {
      this.#registry = new ProcessRegistry(options.stateDirectory, this.#id, options.sessionId);
    }
  }

  start(request: SpawnRequest, takeInput?: InputTaker): SupervisedChild {
    this.#watchdog.begin(this.#id);
    this.#count += 1;
    const host: ChildHost = {
      pipes: this.pipes,
      marker: `${this.#id}/${this.#count}/`,
      outerMarkers: this.#outerMarkers,
      started: (child) => this.#started(child),
      finished: (child, leftRunning) => this.#finished(child, leftRunning),
    };
    return new SupervisedChild(request, host, takeInput);
  }

  async killAll(): Promise<void> {
    const running = [...this.#running.keys()].map((child) => child.end('asked', EXIT_GRACE_MS));
    const left = [...this.#leftRunning.values()].map(async (tree) => {
      if (isStillOurs(tree)) await endTree(tree, EXIT_GRACE_MS);
      this.#forget(tree);
    });
    await Promise.all([...running, ...left]);
    if (this.#running.size === 0 && this.#leftRunning.size === 0) this.#watchdog.end();
  }

  #started(child: SupervisedChild): void {
    if (child.request.longLived) {
      this.#running.set(child, undefined);
      this.#watch(child);
      this.#register(child);
      return;
    }
    this.#running.set(
      child,
      this.#later(child, WATCH_AFTER_MS, () => this.#watch(child)),
    );
  }

  #later(child: SupervisedChild, ms: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      act();
      if (ms === REGISTER_AFTER_MS || this.#registry === undefined) return;
      const register = (): void => this.#register(child);
      this.#running.set(child, this.#later(child, REGISTER_AFTER_MS, register));
    }, ms);
    timer.unref();
    return timer;
  }

  /**
   * Older ones first: the watchdog takes a child with a lower number than one that it knows, and which
   * it was not told of, for a daemon of a command that is finished.
   */
  #watch(child: SupervisedChild): void {
    for (const one of this.#running.keys()) {
      if (one === child) break;
      this.#tellWatchdog(one);
    }
    this.#tellWatchdog(child);
  }

  #tellWatchdog({ tree }: SupervisedChild): void {
    if (tree === undefined || this.#watched.has(tree.group)) return;
    this.#watched.add(tree.group);
    this.#watchdog.add(tree);
  }

  #register(child: SupervisedChild, leftBehind?: boolean): void {
    if (child.pid === undefined) return;
    this.#registry?.add({
      pid: child.pid,
      startTime: startTimeOf(child.pid),
      label: child.request.label,
      kind: child.request.kind ?? childKind(child.request.label),
      command: shownCommand(child.request),
      marker: child.tree?.marker,
      since: child.since,
      leftBehind,
    });
  }

  #finished(child: SupervisedChild, leftRunning: boolean): void {
    clearTimeout(this.#running.get(child));
    this.#running.delete(child);
    if (child.tree === undefined) return;
    if (!leftRunning) {
      this.#forget(child.tree);
      return;
    }
    this.#leftRunning.set(child.tree.group, child.tree);
    this.#watch(child);
    const { groupLifetimeMs } = child.request;
    const leftMs = (groupLifetimeMs ?? Number.POSITIVE_INFINITY) - (Date.now() - child.since);
    if (leftMs > REGISTER_AFTER_MS) this.#register(child, true);
    this.#endGroupLater(child.tree, leftMs);
  }

  /** Only the group: what made itself a session of its own is meant to stay. */
  #endGroupLater(tree: ProcessTree, ms: number): void {
    if (ms <= 0) void this.#endGroup(tree);
    else if (ms <= LONGEST_TIMER_MS) setTimeout(() => void this.#endGroup(tree), ms).unref();
  }

  async #endGroup(tree: ProcessTree): Promise<void> {
    const isThere = (): boolean =>
      this.#leftRunning.has(tree.group) && isStillOurs(tree) && groupAlive(tree.group);
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (isThere()) signalGroup(tree.group, signal);
      const deadline = performance.now() + EXIT_GRACE_MS;
      while (isThere() && performance.now() < deadline) await delay(POLL_MS);
    }
    this.#forget(tree);
  }

  #forget(tree: ProcessTree): void {
    this.#leftRunning.delete(tree.group);
    this.#registry?.remove(tree.group);
    if (this.#watched.delete(tree.group)) this.#watchdog.remove(tree);
  }
}

/**
 * The leader of such a group is known to be gone, and its pid is not given out again while the group
 * has members: a process of that pid means that the group is gone and the number was reused.
 */
function isStillOurs(tree: ProcessTree): boolean {
  return !processAlive(tree.group);
}
