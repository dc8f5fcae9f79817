import {
  flag,
  listOf,
  number,
  object,
  optional,
  parseShape,
  type Shape,
  type Shaped,
  text,
} from '../../lib/shape.js';
import { redact } from '../../lib/text/redact.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { join } from '../fs/paths.js';
import { stateFiles } from '../fs/state-files.js';
import type { ChildKind, SpawnRequest } from './process.js';
import { groupAlive, markedProcesses, processAlive, startTimeOf } from './process-tree.js';

/** A child as the registry knows it. */
export interface RegisteredChild {
  /** Also the number of its process group, which it leads. */
  readonly pid: number;
  /** Names the process together with the pid; absent where the system does not tell. */
  readonly startTime?: string;
  readonly label: string;
  readonly kind: ChildKind;
  /** Program and arguments, cut, and without what looks like a secret. */
  readonly command?: string;
  /** Carried in the environment of every process it started (`MARKER_VARIABLE`). */
  readonly marker?: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** The child itself has ended; what it started in its group still runs. */
  readonly leftBehind?: boolean;
}

export interface ListedChild extends RegisteredChild {
  readonly ownerPid: number;
  readonly sessionId?: string;
  /** False when the program that started it is gone: then nothing will end it. */
  readonly ownerAlive: boolean;
}

const SHOWN_COMMAND = 300;

export function shownCommand({ command, args }: Pick<SpawnRequest, 'command' | 'args'>): string {
  return sliceWhole(redact([command, ...args].join(' ')), 0, SHOWN_COMMAND);
}

/** What a child is for, by what those who start one call it. */
export function childKind(label: string): ChildKind {
  if (/^mcp\b/i.test(label)) return 'mcp';
  if (/^(persistent )?hook\b/.test(label)) return 'hook';
  return /^(Bash|[\w-]+): /.test(label) ? 'shell' : 'other';
}

/**
 * The children of this program on disk, for `portcullis ps` and for clean-up after a crash.
 * One small file a program; only children that live for a while are ever written.
 */
export class ProcessRegistry {
  readonly #file: string;
  readonly #children = new Map<number, RegisteredChild>();
  readonly #owner: RegistryEntry['owner'];

  /** `id` tells apart the registries of one process. */
  constructor(stateDirectory: string, id: string, sessionId?: string) {
    this.#file = join(registryDirectory(stateDirectory), `${process.pid}.${id}.json`);
    this.#owner = { pid: process.pid, startTime: startTimeOf(process.pid), sessionId };
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
      const entry: RegistryEntry = { owner: this.#owner, children: [...this.#children.values()] };
      if (entry.children.length === 0) stateFiles.remove(this.#file);
      else stateFiles.write(this.#file, JSON.stringify(entry));
    } catch {
      // A full or read-only disk costs the listing. Ending children goes by memory and the watchdog.
    }
  }
}

/** Every child that still runs, of every program that uses this state directory. Tidies up. */
export function listChildren(stateDirectory: string): readonly ListedChild[] {
  const directory = registryDirectory(stateDirectory);
  const found: ListedChild[] = [];
  for (const name of stateFiles.list(directory)) {
    if (!name.endsWith('.json')) continue;
    const file = join(directory, name);
    const entry = readEntry(file);
    const ownerAlive = entry !== undefined && isSame(entry.owner.pid, entry.owner.startTime);
    const running = (entry?.children ?? []).filter(
      (child) => stillRuns(child) || (!ownerAlive && remainsOf(child).length > 0),
    );
    const { pid: ownerPid = 0, sessionId } = entry?.owner ?? {};
    for (const child of running) found.push({ ...child, ownerPid, sessionId, ownerAlive });
    if (running.length === 0 && !ownerAlive) stateFiles.remove(file);
  }
  return found.sort((a, b) => a.since - b.since);
}

/** Processes of any group that carry a child's marker. No program is left that would end them. */
export function remainsOf({ marker }: RegisteredChild): readonly number[] {
  return marker === undefined || !isMarker(marker) ? [] : markedProcesses(marker);
}

/** A shorter text would be found in environments that have nothing to do with us. */
function isMarker(text: string): boolean {
  return /^[0-9a-f]{12}\/\d+\/$/.test(text);
}

function registryDirectory(stateDirectory: string): string {
  return join(stateDirectory, 'children');
}

function stillRuns(child: RegisteredChild): boolean {
  if (processAlive(child.pid)) return isSame(child.pid, child.startTime);
  // The leader is gone; a pid is not given out again while a group still goes by it.
  return groupAlive(child.pid);
}

/** Whether this pid still is the process that was registered, and was not reused. */
export function isSame(pid: number, startTime: string | undefined): boolean {
  if (!processAlive(pid)) return false;
  return startTime === undefined || startTimeOf(pid) === startTime;
}

const KINDS: readonly ChildKind[] = ['mcp', 'hook', 'shell', 'other'];

/** A smaller number would name other processes when it is signalled. */
const pid: Shape<number> = (value): value is number => Number.isInteger(value) && Number(value) > 1;
const ownerShape = object({ pid, startTime: optional(text), sessionId: optional(text) });
const childShape = object({
  pid,
  startTime: optional(text),
  label: text,
  kind: optional(text),
  command: optional(text),
  marker: optional(text),
  since: number,
  leftBehind: optional(flag),
});
const entryShape = object({ owner: ownerShape, children: listOf(object({})) });

interface RegistryEntry {
  readonly owner: Shaped<typeof ownerShape>;
  readonly children: readonly RegisteredChild[];
}

function readEntry(file: string): RegistryEntry | undefined {
  // A file that its owner has removed in the meantime says nothing.
  const entry = parseShape(stateFiles.read(file) ?? '', entryShape);
  if (entry === undefined) return undefined;
  const children = entry.children.filter(childShape).map((child) => ({
    ...child,
    kind: KINDS.find((kind) => kind === child.kind) ?? childKind(child.label),
  }));
  return { owner: entry.owner, children };
}
