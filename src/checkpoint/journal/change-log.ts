import { messageOf } from '../../errors.js';
import type { Clock } from '../../platform/clock.js';
import type { BlobStore } from '../disk/blob-store.js';
import type { CheckpointFiles } from '../disk/state-files.js';
import type { WorkspaceFiles } from '../disk/workspace-files.js';
import type { TreeTracker } from '../scan/tracker.js';
import { type LogEntry, readEntry } from './entry.js';
import { History, type WindowRecord } from './history.js';

/** What the journal of a session is made of. */
export interface JournalParts {
  /** Real path of the root of the workspace. */
  readonly root: string;
  readonly session: string;
  /** Journals and unfinished rewinds. */
  readonly files: CheckpointFiles;
  /** What writes into the workspace. */
  readonly workspace: WorkspaceFiles;
  readonly store: BlobStore;
  readonly tracker: TreeTracker;
  readonly log: ChangeLog;
  readonly clock: Clock;
  /** The index of the tree, whose contents are kept. */
  readonly indexFile?: string | undefined;
}

export interface ChangeLogOptions {
  readonly files: CheckpointFiles;
  readonly session: string;
  /** The session this one was forked from. Only counts where this one has no journal yet. */
  readonly parent?: string | undefined;
  readonly now: () => number;
  /** Names this run of the program. */
  readonly run: string;
  /** The journal cannot be written; said once. */
  readonly onTrouble: (why: string) => void;
}

export async function openChangeLog(options: ChangeLogOptions): Promise<ChangeLog> {
  const { files, session } = options;
  const loaded = await loadHistory(files, session);
  const parent =
    loaded.isNew && options.parent !== undefined && options.parent !== session
      ? { session: options.parent, lines: await countLines(files, options.parent) }
      : undefined;
  if (parent !== undefined) await loadParent(files, parent, loaded);
  return new ChangeLog(options, loaded, parent);
}

/** The journal of one session: what it says, and what is added to it. */
export class ChangeLog {
  readonly history: History;
  /** Why parts of it could not be read, in words for a person. */
  readonly gaps: readonly string[];
  readonly #options: ChangeLogOptions;
  readonly #log: ReturnType<CheckpointFiles['openLog']>;
  /** Written before the first real entry: a session that only looks leaves nothing behind. */
  readonly #opening: LogEntry[];
  #linesSeen: number;
  #size: number;
  #isTroubled = false;

  constructor(options: ChangeLogOptions, { history, gaps, lines }: Loaded, parent: Parent) {
    const { files, session } = options;
    this.history = history;
    this.gaps = [...gaps, ...history.unended.map(leftOpen)];
    this.#options = options;
    this.#log = files.openLog(session);
    this.#opening = [{ t: 'start', at: options.now(), parent }, ...amendsFor(history)];
    this.#linesSeen = lines;
    this.#size = files.logSize(session);
  }

  /** Kept in memory even when the disk does not take it. `durable`: on the disk when it returns. */
  append(entry: LogEntry, { durable = false }: { readonly durable?: boolean } = {}): void {
    // `run` stands on every line, so that those of other programs are told from ours.
    const { run, onTrouble } = this.#options;
    const entries = [...this.#opening.splice(0), entry];
    for (const one of entries) this.history.add(one);
    const lines = entries.map((one) => JSON.stringify({ ...one, run }));
    try {
      this.#log.append(lines, { sync: durable });
      this.#size += lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    } catch (thrown) {
      if (!this.#isTroubled) onTrouble(messageOf(thrown));
      this.#isTroubled = true;
    }
  }

  /** Takes in what another program has added meanwhile, such as a rewind in another terminal. */
  async catchUp(): Promise<readonly LogEntry[]> {
    const { files, session, run } = this.#options;
    const size = files.logSize(session);
    if (size === this.#size) return [];
    const added: LogEntry[] = [];
    let lines = 0;
    await files.readLog(session, (line) => {
      if (++lines <= this.#linesSeen) return;
      const entry = line === undefined ? undefined : readEntry(line);
      if (entry === undefined || ('run' in entry && entry.run === run)) return;
      added.push(entry);
    });
    this.#linesSeen = lines;
    this.#size = size;
    for (const entry of added) this.history.add(entry);
    return added;
  }

  close(): void {
    this.#log.close();
  }
}

/** The journal that one was forked from, after so many lines. */
type Parent = { readonly session: string; readonly lines: number } | undefined;

interface Loaded {
  readonly history: History;
  readonly gaps: string[];
  isNew: boolean;
  /** Lines of its own journal. */
  lines: number;
}

/** What the journal of a session says now. */
export async function loadHistory(files: CheckpointFiles, session: string): Promise<Loaded> {
  const loaded: Loaded = { history: new History(), gaps: [], isNew: true, lines: 0 };
  await loadInto(loaded, files, { session, lines: Number.POSITIVE_INFINITY, depth: 0 });
  return loaded;
}

/** More forks of forks than this are no history but a knot. */
const MOST_FORKS = 50;
const CUT_OFF = 'the program ended while it was writing its journal';

async function loadInto(
  loaded: Loaded,
  files: CheckpointFiles,
  from: { readonly session: string; readonly lines: number; readonly depth: number },
): Promise<void> {
  const entries: (LogEntry | undefined)[] = [];
  let seen = 0;
  const found = await files.readLog(from.session, (line) => {
    if (++seen > from.lines || line === '') return;
    entries.push(line === undefined ? undefined : readEntry(line));
  });
  if (!found) return;
  if (from.depth === 0) {
    loaded.isNew = entries.length === 0;
    loaded.lines = seen;
  }
  const first = entries[0];
  if (first?.t === 'start' && first.parent !== undefined && from.depth < MOST_FORKS) {
    await loadInto(loaded, files, { ...first.parent, depth: from.depth + 1 });
  }
  for (const entry of entries) {
    if (entry !== undefined) loaded.history.add(entry);
    else if (!loaded.gaps.includes(CUT_OFF)) loaded.gaps.push(CUT_OFF);
  }
}

async function loadParent(
  files: CheckpointFiles,
  parent: { readonly session: string; readonly lines: number },
  loaded: Loaded,
): Promise<void> {
  await loadInto(loaded, files, { ...parent, depth: 1 });
  // What the parent has begun goes on in the parent.
  loaded.history.add({ t: 'start', at: 0 });
}

async function countLines(files: CheckpointFiles, session: string): Promise<number> {
  let lines = 0;
  await files.readLog(session, () => {
    lines++;
  });
  return lines;
}

function leftOpen({ author }: WindowRecord): string {
  const who = author.kind === 'call' ? author.tool : author.kind;
  return `${who} had begun and not ended: what it wrote last is not known`;
}

/** So that later runs know as well which points a killed one has left less than whole. */
function* amendsFor(history: History): Iterable<LogEntry> {
  for (const window of history.unended) {
    const point = history.points[history.positionOf(window.messageId)];
    if (point === undefined) continue;
    const gaps = [...new Set([...point.gaps, leftOpen(window)])];
    yield { t: 'amend', messageId: point.messageId, complete: false, gaps };
  }
}
