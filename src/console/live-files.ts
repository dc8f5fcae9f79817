import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { parseJson } from '../lib/json.js';
import { isRecord } from '../lib/own.js';
import { basename, dirname, join } from '../platform/fs/paths.js';
import { stateFiles } from '../platform/fs/state-files.js';
import { nodeProcesses, type ProcessStamp } from '../platform/process/process-stamp.js';
import { processAlive } from '../platform/process/process-tree.js';

export type SessionKind = 'terminal' | 'print' | 'wire' | 'sdk';

/** How consoles of the same user find and join a running session. */
export interface LiveSession {
  readonly v: 1;
  /** Identifies the session before its conversation has an id. */
  readonly key: string;
  readonly by: ProcessStamp;
  readonly socket: string;
  readonly token: string;
  readonly kind: SessionKind;
  readonly cwd: string;
  /** Empty until the session is open; `/clear` and `/resume` change it. */
  readonly sessionId: string;
  /** ISO time. */
  readonly startedAt: string;
}

export function liveDirectory(stateDirectory: string): string {
  return join(stateDirectory, 'live');
}

/** Creates the directory with access for this user alone. Throws where it belongs to another user. */
export function makeLiveDirectory(stateDirectory: string): string {
  const directory = liveDirectory(stateDirectory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(directory);
  // fail-closed: another user could replace the socket.
  if (process.getuid !== undefined && uid !== process.getuid()) {
    throw new Error(`${directory} belongs to another user`);
  }
  chmodSync(directory, 0o700);
  return directory;
}

export function writeLive(directory: string, live: LiveSession): void {
  const file = join(directory, `${live.key}.json`);
  writeFileSync(`${file}.new`, JSON.stringify(live), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function removeLive(directory: string, { key, socket }: LiveSession): void {
  rmSync(join(directory, `${key}.json`), { force: true });
  rmSync(socket, { force: true });
  if (dirname(socket) === directory) return;
  try {
    rmdirSync(dirname(socket));
  } catch {
    // The directory is gone already, or has other files.
  }
}

/** The sessions whose process still runs. Removes the files of ended ones. */
export function listLive(stateDirectory: string): readonly LiveSession[] {
  const directory = liveDirectory(stateDirectory);
  const found: LiveSession[] = [];
  for (const name of namesIn(directory)) {
    if (!name.endsWith('.json')) continue;
    const live = readLive(join(directory, name));
    if (live !== undefined && nodeProcesses.isAlive(live.by)) found.push(live);
    else if (live !== undefined) removeLive(directory, live);
  }
  return found;
}

/** Removes the files of ended processes, which their names begin with. */
export function removeStale(directory: string): void {
  for (const name of namesIn(directory)) {
    const pid = Number(/^(\d+)-/.exec(name)?.[1]);
    if (!Number.isNaN(pid) && !processAlive(pid)) rmSync(join(directory, name), { force: true });
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // No session has run yet.
    return [];
  }
}

/** fail-closed: a file of another user or with missing fields is ignored. */
function readLive(file: string): LiveSession | undefined {
  const read = stateFiles.readOwn(file);
  const parsed = read?.ok === true ? parseJson(read.value) : undefined;
  if (parsed?.ok !== true || !isRecord(parsed.value)) return undefined;
  const { v, key, by, socket, token, kind, cwd, sessionId, startedAt } = parsed.value;
  const texts = [key, socket, token, kind, cwd, sessionId, startedAt];
  const isWhole =
    v === 1 &&
    texts.every((text) => typeof text === 'string') &&
    `${key}.json` === basename(file) &&
    isRecord(by) &&
    typeof by.pid === 'number';
  return isWhole ? (parsed.value as unknown as LiveSession) : undefined;
}
