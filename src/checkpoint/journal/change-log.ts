import { messageOf } from '../../errors.js';
import type { Clock } from '../../platform/clock.js';
import type { BlobStore } from '../disk/blob-store.js';
import type { CheckpointFiles } from '../disk/state-files.js';
import type { WorkspaceFiles } from '../disk/workspace-files.js';
import type { TreeTracker } from '../scan/tracker.js';
import { type ForkedFrom, type LogEntry, readEntry, type WindowRecord } from './entry.js';
import { History } from './history.js';

/** The parts of a session's journal. */
export interface JournalParts {
  /** The real path of the workspace's root. */
  readonly root: string;
  readonly session: string;
  /** The journals and unfinished rewinds on disk. */
  readonly files: CheckpointFiles;
  /** The writer for rewinds. */
  readonly workspace: WorkspaceFiles;
  readonly store: BlobStore;
  readonly tracker: TreeTracker;
  readonly log: ChangeLog;
  readonly clock: Clock;
  /** The index of the tree, whose contents must be kept. */
  readonly indexFile?: string | undefined;
}

export interface ChangeLogOptions {
  readonly files: CheckpointFiles;
  readonly session: string;
  /** The session this one was forked from; ignored once this session has its own journal. */
  readonly parent?: string | undefined;
  readonly clock: Clock;
  /** Called once when the journal cannot be written. */
  readonly onTrouble: (why: string) => void;
}

export async function openChangeLog(options: ChangeLogOptions): Promise<ChangeLog> {
  const { files, session } = options;
  const own = await load(files, { session, lines: Number.POSITIVE_INFINITY });
  if (own.entries.length > 0 || options.parent === undefined || options.parent === session) {
    return new ChangeLog(options, own);
  }
  const from = { session: options.parent, lines: Number.POSITIVE_INFINITY };
  const { entries, lines } = await load(files, from);
  // The fork starts a new run: windows open in the parent are not its own.
  const inherited: Loaded = { entries: [...entries, { t: 'start', at: 0 }], lines: 0 };
  return new ChangeLog(options, inherited, { session: options.parent, lines });
}

const CUT_OFF = 'the program ended while it was writing its journal';

/** A session's journal: its history and new entries. */
export class ChangeLog {
  readonly history: History;
  /** Why parts are unreadable, for people. */
  readonly gaps: readonly string[];
  readonly #options: ChangeLogOptions;
  readonly #log: ReturnType<CheckpointFiles['openLog']>;
  /** The id of this program run. */
  readonly #run: string;
  /** Written before the first entry, so that a session that only reads leaves no journal. */
  readonly #opening: LogEntry[];
  #linesSeen: number;
  #size: number;
  #isTroubled = false;

  constructor(options: ChangeLogOptions, loaded: Loaded, parent?: ForkedFrom) {
    const { files, session, clock } = options;
    this.#options = options;
    this.history = historyOf(loaded);
    const cutOff = loaded.entries.includes(undefined) ? [CUT_OFF] : [];
    this.gaps = [...cutOff, ...this.history.unended.map(leftOpen)];
    this.#run = clock.uuid();
    this.#log = files.openLog(session);
    this.#opening = [{ t: 'start', at: clock.now(), parent }, ...amendsFor(this.history)];
    this.#linesSeen = loaded.lines;
    this.#size = files.logSize(session);
  }

  /** Adds an entry, in memory even when the disk refuses; `durable` flushes it to disk. */
  append(entry: LogEntry, { durable = false }: { readonly durable?: boolean } = {}): void {
    const entries = [...this.#opening.splice(0), entry];
    for (const one of entries) this.history.add(one);
    // The run id distinguishes our lines from those of other programs.
    const lines = entries.map((one) => JSON.stringify({ ...one, run: this.#run }));
    try {
      this.#log.append(lines, { sync: durable });
      this.#size += lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    } catch (thrown) {
      if (!this.#isTroubled) this.#options.onTrouble(messageOf(thrown));
      this.#isTroubled = true;
    }
  }

  /** Reads entries that another program added, such as a rewind in another terminal. */
  async catchUp(): Promise<readonly LogEntry[]> {
    const { files, session } = this.#options;
    const size = files.logSize(session);
    if (size === this.#size) return [];
    const added: LogEntry[] = [];
    let lines = 0;
    await files.readLog(files.logFile(session), (line) => {
      if (++lines <= this.#linesSeen) return;
      const entry = line === undefined ? undefined : readEntry(line);
      if (entry === undefined || ('run' in entry && entry.run === this.#run)) return;
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

interface Loaded {
  /** Includes entries inherited from the parent; undefined for unreadable lines. */
  readonly entries: readonly (LogEntry | undefined)[];
  /** Lines of the session's own journal. */
  readonly lines: number;
}

/** Reads a session's present history. */
export async function loadHistory(files: CheckpointFiles, session: string): Promise<History> {
  return historyOf(await load(files, { session, lines: Number.POSITIVE_INFINITY }));
}

/** Bounds the chain of forks, which could be circular. */
const MOST_FORKS = 50;

async function load(files: CheckpointFiles, from: ForkedFrom, depth = 0): Promise<Loaded> {
  const own: (LogEntry | undefined)[] = [];
  let lines = 0;
  await files.readLog(files.logFile(from.session), (line) => {
    if (++lines > from.lines || line === '') return;
    own.push(line === undefined ? undefined : readEntry(line));
  });
  const first = own[0];
  const parent = first?.t === 'start' && depth < MOST_FORKS ? first.parent : undefined;
  const inherited = parent === undefined ? [] : (await load(files, parent, depth + 1)).entries;
  return { entries: [...inherited, ...own], lines };
}

function historyOf({ entries }: Loaded): History {
  const history = new History();
  for (const entry of entries) if (entry !== undefined) history.add(entry);
  return history;
}

function leftOpen({ author }: WindowRecord): string {
  const who = author.kind === 'call' ? author.tool : author.kind;
  return `${who} had begun and not ended: what it wrote last is not known`;
}

/** Marks the points that a killed run left incomplete. */
function* amendsFor(history: History): Iterable<LogEntry> {
  for (const window of history.unended) {
    const point = history.points[history.positionOf(window.messageId)];
    if (point === undefined) continue;
    const gaps = [...new Set([...point.gaps, leftOpen(window)])];
    yield { t: 'amend', messageId: point.messageId, complete: false, gaps };
  }
}
