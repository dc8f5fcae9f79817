import { readdirSync, readFileSync } from 'node:fs';
import { systemCodeOf } from '../../errors.js';

/** Set for every child, so that descendants that left its process group can still be found. */
export const MARKER_VARIABLE = 'PORTCULLIS_CHILD_OF';

/** A process group that we started, and the marker that its members carry in their environment. */
export interface ProcessTree {
  readonly group: number;
  readonly marker: string;
}

/**
 * Ends a whole tree: the group and the processes that left it. Sends SIGTERM, and SIGKILL once `graceMs` have
 * passed. Resolves when nothing of it runs any more (or cannot be made to go, which is bounded).
 */
export async function endTree(tree: ProcessTree, graceMs: number): Promise<void> {
  const family = familyOf(tree);
  signalTree(tree, 'SIGTERM', family);
  if (await goneWithin(tree, family, graceMs)) return;
  // More than once: a process may have forked between the search and the signal.
  for (let attempt = 0; attempt < 5; attempt++) {
    signalTree(tree, 'SIGKILL', family);
    if (await goneWithin(tree, family, 200)) return;
  }
}

/** Sends a signal to the group, to its descendants and to marked processes. Never throws. */
function signalTree(tree: ProcessTree, signal: NodeJS.Signals, family: Family): void {
  const seen = scan();
  addDescendants(family, seen);
  signalGroup(tree.group, signal);
  for (const pid of new Set([...markedIn(seen, tree.marker), ...runningOf(family)])) {
    sendSignal(pid, signal);
  }
}

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  if (group > 1) sendSignal(-group, signal);
}

/** Whether any process of the group still runs; one that merely waits to be reaped does not count. */
export function groupAlive(group: number): boolean {
  // The usual answer, for one system call.
  if (!answers(-group)) return false;
  const pids = listProcesses();
  // Without /proc the answer above is all there is.
  if (pids === undefined) return true;
  return pids.some((pid) => {
    const found = readProcess(pid);
    return found !== undefined && found.group === group && found.state !== 'Z';
  });
}

/** Whether a process of this pid runs; one that merely waits to be reaped does not. */
export function processAlive(pid: number): boolean {
  return answers(pid) && readProcess(pid)?.state !== 'Z';
}

/**
 * When a process started, in clock ticks since boot. Together with the pid it names a process for
 * good, where a pid alone is given out again. Undefined where there is no /proc.
 */
export function startTimeOf(pid: number): string | undefined {
  return readProcess(pid)?.startTime;
}

/** The process group of a process. Undefined when it is gone, and where there is no /proc. */
export function groupOf(pid: number): number | undefined {
  return readProcess(pid)?.group;
}

/** Processes whose environment carries the marker, zombies left out. Empty where there is no /proc. */
export function markedProcesses(marker: string): number[] {
  return markedIn(scan(), marker);
}

/** All processes at one moment by pid, zombies left out. */
type ProcessScan = ReadonlyMap<number, ProcessEntry>;

function scan(): ProcessScan {
  const processes = new Map<number, ProcessEntry>();
  for (const pid of listProcesses() ?? []) {
    const found = readProcess(pid);
    if (found !== undefined && found.state !== 'Z') processes.set(pid, found);
  }
  return processes;
}

function markedIn(seen: ProcessScan, marker: string): number[] {
  return [...seen.keys()].filter((pid) => {
    if (pid === process.pid) return false;
    const text = environmentOf(pid);
    return text.includes(MARKER_VARIABLE) && text.includes(marker);
  });
}

/**
 * The leader and its descendants: start times by pid. Descendants may have left the group and dropped
 * the marker, and once a parent is gone its children no longer say whose they are; so they are kept
 * from the first look on, and recognised for good by when they started.
 */
type Family = Map<number, string>;

function familyOf(tree: ProcessTree): Family {
  const startTime = startTimeOf(tree.group);
  return new Map(startTime === undefined ? [] : [[tree.group, startTime]]);
}

function runningOf(family: Family): number[] {
  return [...family].filter(([pid, since]) => isRunning(pid, since)).map(([pid]) => pid);
}

function isRunning(pid: number, startTime: string): boolean {
  const found = readProcess(pid);
  return found !== undefined && found.state !== 'Z' && found.startTime === startTime;
}

function addDescendants(family: Family, processes: ProcessScan): void {
  const children = new Map<number, { readonly pid: number; readonly startTime: string }[]>();
  for (const [pid, { parent, startTime }] of processes) {
    const siblings = children.get(parent) ?? [];
    siblings.push({ pid, startTime });
    children.set(parent, siblings);
  }
  const open = runningOf(family);
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const { pid, startTime } of children.get(parent) ?? []) {
      if (family.get(pid) === startTime) continue;
      family.set(pid, startTime);
      open.push(pid);
    }
  }
}

async function goneWithin(tree: ProcessTree, family: Family, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
    if (runningOf(family).length === 0 && isGoneIn(scan(), tree)) return true;
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}

function isGoneIn(seen: ProcessScan, { group, marker }: ProcessTree): boolean {
  // Without /proc nothing is seen, and the group itself has to say.
  if (seen.size === 0) return !answers(-group);
  for (const found of seen.values()) if (found.group === group) return false;
  return markedIn(seen, marker).length === 0;
}

function answers(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    // Not permitted means that it is there.
    return systemCodeOf(thrown) === 'EPERM';
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or not ours to signal: both are found out by looking whether it still runs.
  }
}

export interface ProcessEntry {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly hasTerminal: boolean;
  readonly startTime: string;
}

/** The facts in `/proc/<pid>/stat`. Undefined when the process is gone, and where there is no /proc. */
export function readProcess(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name is in parentheses and may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent, group, , terminal] = fields;
    const startTime = fields[19];
    if (state === undefined || group === undefined || startTime === undefined) return undefined;
    const hasTerminal = terminal !== '0';
    return { state, parent: Number(parent), group: Number(group), hasTerminal, startTime };
  } catch {
    // Ended in the meantime, or no /proc.
    return undefined;
  }
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // Another user's process, or one that ended in the meantime: not one we could signal anyway.
    return '';
  }
}

/** Undefined where there is no /proc. */
export function listProcesses(): number[] | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // A container without /proc: the group is all that can be reached.
    return undefined;
  }
}
