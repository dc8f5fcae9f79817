import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { listProcesses } from '../platform/process/process-tree.js';

/** The processes that may hold the other end of a connection on this machine. */
export interface ConnectionOwners {
  readonly pids: readonly number[];
  /** False: the holder hides its open files, and these are all processes that do. */
  readonly certain: boolean;
}

/**
 * The processes at the other end of a TCP connection over loopback, by the ports of both ends. Undefined where
 * the system does not tell.
 */
export function connectionOwners(ports: {
  readonly theirs: number;
  readonly ours: number;
}): ConnectionOwners | undefined {
  const pids = listProcesses();
  if (pids === undefined) return undefined;
  const inodes = ['tcp', 'tcp6'].flatMap((table) => inodesIn(table, ports));
  if (inodes.length === 0) return undefined;
  const wanted = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const hidden: number[] = [];
  const holding = pids.filter((pid) => {
    const files = openFiles(pid);
    if (files === undefined) hidden.push(pid);
    return files?.some((file) => wanted.has(file)) === true;
  });
  return holding.length > 0 ? { pids: holding, certain: true } : { pids: hidden, certain: false };
}

/** Whether a process has this file open. Undefined where the system does not tell. */
export function hasOpenFile(pid: number, path: string): boolean | undefined {
  if (listProcesses() === undefined) return undefined;
  return openFiles(pid)?.includes(path) === true;
}

/** Undefined: it is gone, or its files are hidden from this user. */
function openFiles(pid: number): readonly string[] | undefined {
  let names: readonly string[];
  try {
    names = readdirSync(`/proc/${pid}/fd`);
  } catch {
    return undefined;
  }
  return names.flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      // Closed in the meantime.
      return [];
    }
  });
}

/** The sockets of a table of /proc/net that are bound to one port and connected to the other. */
function inodesIn(
  table: string,
  { theirs, ours }: { readonly theirs: number; readonly ours: number },
): readonly string[] {
  let text: string;
  try {
    text = readFileSync(`/proc/net/${table}`, 'latin1');
  } catch {
    // A system without this protocol.
    return [];
  }
  return text
    .split('\n')
    .slice(1)
    .flatMap((row) => {
      const [, local = '', remote = '', , , , , , , inode = '0'] = row.trim().split(/\s+/);
      return portOf(local) === theirs && portOf(remote) === ours && inode !== '0' ? [inode] : [];
    });
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}
