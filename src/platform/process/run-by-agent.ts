import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stateDirectory } from '../fs/paths.js';
import { listProcesses, MARKER_VARIABLE, readProcess } from './process-tree.js';
import { WATCHDOG_NAME } from './process-watchdog.js';

/** Variables that an agent's programs find in their environment. */
const AGENT_MARKS: readonly string[] = ['PORTCULLIS', 'CLAUDECODE', MARKER_VARIABLE];

/** What the system tells of a process. */
export interface ProcessFacts {
  readonly parent: number;
  /** Its process group. */
  readonly group: number;
  /** In clock ticks since boot. */
  readonly startTime?: number | undefined;
  readonly hasTerminal?: boolean;
  readonly command: string;
  /** Undefined where the system does not show it. */
  readonly env?: Environment | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

export type ProcessTable = ReadonlyMap<number, ProcessFacts>;

/**
 * Whether an agent runs this process: by its own environment, by that of a process above it (which
 * `env -u` does not change), or because a process above it is a session. On Linux a process that has
 * left its parents is an agent's when it has no terminal and is younger than a session that runs and
 * goes by the same state directory.
 * fail-closed: where no process can be seen, only a terminal is a person's.
 */
export function isRunByAgent(
  env: Environment,
  table: ProcessTable | undefined = readProcesses(),
  self: number = process.pid,
): boolean {
  if (isMarked(env)) return true;
  const own = table?.get(self);
  if (table === undefined || own === undefined) return process.stdin.isTTY !== true;
  if (descendsFromSession(self, table)) return true;
  const sessions = sessionsIn(table, self);
  const above = ancestorsOf(own, table);
  if (own.hasTerminal !== false) return false;
  // What has left its parents belongs to the process that adopts all such.
  const kin = [own, ...above.flatMap((pid) => (isAdopter(pid, table) ? [] : [table.get(pid)]))];
  const oldest = Math.min(...kin.map((one) => one?.startTime ?? 0));
  const place = stateDirectory(env);
  return [...sessions].some((pid) => {
    const { startTime = 0, env: its } = table.get(pid) ?? {};
    return startTime < oldest && its !== undefined && stateDirectory(its) === place;
  });
}

/**
 * Whether an agent runs another process, by all that `isRunByAgent` goes by.
 * fail-closed: a process that cannot be seen is an agent's.
 */
export function isOtherRunByAgent(pid: number): boolean {
  const table = readProcesses();
  const env = table?.get(pid)?.env;
  return table === undefined || env === undefined || isRunByAgent(env, table, pid);
}

/** Whether a process, or one above it, carries the marks of an agent's programs or was started by a session. */
export function descendsFromSession(
  self: number,
  table: ProcessTable | undefined = readProcesses(),
): boolean {
  const own = table?.get(self);
  if (table === undefined || own === undefined) return false;
  const line = [self, ...ancestorsOf(own, table)];
  if (line.some((pid) => isMarked(table.get(pid)?.env))) return true;
  const sessions = sessionsIn(table, self);
  // What a session starts leads a group of its own and cannot come back into that of the session; what the
  // program around a session starts itself stays in it.
  const groupOf = (pid: number): number | undefined => table.get(pid)?.group;
  return line.some(
    (pid, at) => at > 0 && sessions.has(pid) && groupOf(pid) !== groupOf(line[at - 1] ?? 0),
  );
}

function isMarked(env: Environment | undefined): boolean {
  return env !== undefined && AGENT_MARKS.some((name) => (env[name] ?? '') !== '');
}

/** Every session has a watchdog among its children. */
function sessionsIn(table: ProcessTable, self: number): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { command, parent } of table.values()) {
    // The watchdog of a session that has just died is adopted; in a container a session may be first.
    const isOrphan = isAdopter(parent, table) && !/node|portcullis/.test(commandOf(parent, table));
    if (command.trimEnd().endsWith(WATCHDOG_NAME) && !isOrphan) found.add(parent);
  }
  found.delete(self);
  return found;
}

function ancestorsOf(own: ProcessFacts, table: ProcessTable): readonly number[] {
  const above: number[] = [];
  for (let pid = own.parent; pid > 0 && !above.includes(pid); pid = table.get(pid)?.parent ?? 0) {
    above.push(pid);
  }
  return above;
}

/** init, and the manager of a user's services. */
function isAdopter(pid: number, table: ProcessTable): boolean {
  return pid === 1 || /^\S*systemd(\s|$)/.test(commandOf(pid, table));
}

function commandOf(pid: number, table: ProcessTable): string {
  return table.get(pid)?.command ?? '';
}

/** Undefined where the system shows no processes. */
function readProcesses(): ProcessTable | undefined {
  const pids = listProcesses();
  if (pids === undefined) return listedByPs();
  return new Map(
    pids.flatMap((pid) => {
      const facts = factsOf(pid);
      return facts === undefined ? [] : [[pid, facts] as const];
    }),
  );
}

function factsOf(pid: number): ProcessFacts | undefined {
  const found = readProcess(pid);
  if (found === undefined) return undefined;
  try {
    return {
      ...found,
      startTime: Number(found.startTime),
      command: readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' '),
      env: environmentOf(pid),
    };
  } catch {
    // Ended in the meantime.
    return undefined;
  }
}

function environmentOf(pid: number): Environment | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return Object.fromEntries(
      variables.map((one) => {
        const at = one.indexOf('=');
        return at < 0 ? [one, ''] : [one.slice(0, at), one.slice(at + 1)];
      }),
    );
  } catch {
    // Another user's process: what is above it is still looked at.
    return undefined;
  }
}

/** Systems without /proc show parents and commands, but no environment of others. */
function listedByPs(): ProcessTable | undefined {
  const listed = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,command='], {
    encoding: 'utf8',
    timeout: 5_000,
    maxBuffer: 64 << 20,
  });
  if (listed.status !== 0) return undefined;
  return new Map(
    listed.stdout.split('\n').flatMap((row) => {
      const [, pid, parent, group, command = ''] =
        /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? [];
      if (pid === undefined) return [];
      return [[Number(pid), { parent: Number(parent), group: Number(group), command }] as const];
    }),
  );
}
