import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import { groupAlive, processAlive, startTimeOf } from './process-tree.js';

/** A child as the registry knows it. */
export interface RegisteredChild {
  readonly pid: number;
  /** Names the process together with the pid; absent where the system does not tell. */
  readonly startTime?: string;
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** The child itself has ended; what it started in its group still runs. */
  readonly leftBehind?: boolean;
}

export interface ListedChild extends RegisteredChild {
  readonly ownerPid: number;
  /** False when the program that started it is gone: then nothing will end it. */
  readonly ownerAlive: boolean;
}

/**
 * The children of this program on disk, for `portcullis ps` and for whoever finds them after a crash.
 * One small file a program; only children that live for a while are ever written.
 */
export class ProcessRegistry {
  readonly #directory: string;
  readonly #file: string;
  readonly #children = new Map<number, RegisteredChild>();
  readonly #owner: { readonly pid: number; readonly startTime: string | undefined };

  /** `id` tells apart the registries of one process. */
  constructor(stateDirectory: string, id: string) {
    this.#directory = registryDirectory(stateDirectory);
    this.#file = path.join(this.#directory, `${process.pid}.${id}.json`);
    this.#owner = { pid: process.pid, startTime: startTimeOf(process.pid) };
  }

  add(child: RegisteredChild): void {
    this.#children.set(child.pid, child);
    this.#write();
  }

  remove(pid: number): void {
    if (this.#children.delete(pid)) this.#write();
  }

  #write(): void {
    try {
      if (this.#children.size === 0) {
        rmSync(this.#file, { force: true });
        return;
      }
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      const text = JSON.stringify({ owner: this.#owner, children: [...this.#children.values()] });
      writeFileSync(`${this.#file}.new`, text, { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch {
      // A full or read-only disk costs the listing. Ending children goes by memory and the watchdog.
    }
  }
}

/** Every child that still runs, of every program that uses this state directory. Tidies up. */
export function listChildren(stateDirectory: string): readonly ListedChild[] {
  const directory = registryDirectory(stateDirectory);
  const found: ListedChild[] = [];
  for (const name of fileNames(directory)) {
    const file = path.join(directory, name);
    const entry = readEntry(file);
    const ownerAlive = entry !== undefined && isSame(entry.owner.pid, entry.owner.startTime);
    const running = (entry?.children ?? []).filter(stillRuns);
    for (const child of running) {
      found.push({ ...child, ownerPid: entry?.owner.pid ?? 0, ownerAlive });
    }
    if (running.length === 0 && !ownerAlive) rmSync(file, { force: true });
  }
  return found.sort((a, b) => a.since - b.since);
}

function registryDirectory(stateDirectory: string): string {
  return path.join(stateDirectory, 'children');
}

function fileNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.json'));
  } catch {
    // Nothing was ever registered.
    return [];
  }
}

function stillRuns(child: RegisteredChild): boolean {
  if (processAlive(child.pid)) return isSame(child.pid, child.startTime);
  // The leader is gone; a pid is not given out again while a group still goes by it.
  return groupAlive(child.pid);
}

function isSame(pid: number, startTime: string | undefined): boolean {
  if (!processAlive(pid)) return false;
  return startTime === undefined || startTimeOf(pid) === startTime;
}

interface RegistryEntry {
  readonly owner: { readonly pid: number; readonly startTime?: string };
  readonly children: readonly RegisteredChild[];
}

function readEntry(file: string): RegistryEntry | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Removed by its owner in the meantime.
    return undefined;
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isRecord(parsed.value)) return undefined;
  const { owner, children } = parsed.value;
  if (!isRecord(owner) || !isPid(owner.pid) || !Array.isArray(children)) return undefined;
  return {
    owner: { pid: owner.pid, ...startTimeIn(owner) },
    children: children.flatMap(childOf),
  };
}

function childOf(value: unknown): RegisteredChild[] {
  if (!isRecord(value) || !isPid(value.pid)) return [];
  if (typeof value.label !== 'string' || typeof value.since !== 'number') return [];
  return [
    {
      pid: value.pid,
      ...startTimeIn(value),
      label: value.label,
      since: value.since,
      ...(value.leftBehind === true ? { leftBehind: true } : {}),
    },
  ];
}

function startTimeIn(value: Record<string, unknown>): { startTime?: string } {
  return typeof value.startTime === 'string' ? { startTime: value.startTime } : {};
}

function isPid(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 1;
}
