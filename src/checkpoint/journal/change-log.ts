import { messageOf } from '../../errors.js';
import type { Clock } from '../../platform/clock.js';
import type { BlobStore } from '../disk/blob-store.js';
import type { CheckpointFiles } from '../disk/state-files.js';
import type { WorkspaceFiles } from '../disk/workspace-files.js';
import type { TreeTracker } from '../scan/tracker.js';
import { type ForkedFrom, type LogEntry, readEntry, type WindowRecord } from './entry.js';
import { History } from './history.js';

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
  readonly clock: Clock;
  /** The journal cannot be written; said once. */
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
  // What the parent has begun goes on in the parent.
  const inherited: Loaded = { entries: [...entries, { t: 'start', at: 0 }], lines: 0 };
  return new ChangeLog(options, inherited, { session: options.parent, lines });
}

const CUT_OFF = 'the program ended while it was writing its journal';

/** The journal of one session: what it says, and what is added to it. */
export class ChangeLog {
  readonly history: History;
  /** Why parts of it could not be read, in words for a person. */
  readonly gaps: readonly string[];
  readonly #options: ChangeLogOptions;
  readonly #log: ReturnType<CheckpointFiles['openLog']>;
  /** Names this run of the program. */
  readonly #run: string;
  /** Written before the first real entry: a session that only looks leaves nothing behind. */
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

  /** Kept in memory even when the disk does not take it. `durable`: on the disk when it returns. */
  append(entry: LogEntry, { durable = false }: { readonly durable?: boolean } = {}): void {
    const entries = [...this.#opening.splice(0), entry];
    for (const one of entries) this.history.add(one);
    // `run` stands on every line, so that those of other programs are told from ours.
    const lines = entries.map((one) => JSON.stringify({ ...one, run: this.#run }));
    try {
      this.#log.append(lines, { sync: durable });
      this.#size += lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    } catch (thrown) {
      if (!this.#isTroubled) this.#options.onTrouble(messageOf(thrown));
      this.#isTroubled = true;
    }
  }

  /** Takes in what another program has added meanwhile, such as a rewind in another terminal. */
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
  /** With what was taken over from another session; undefined for what is none. */
  readonly entries: readonly (LogEntry | undefined)[];
  /** Lines of its own journal. */
  readonly lines: number;
}

/** What the journal of a session says now. */
export async function loadHistory(files: CheckpointFiles, session: string): Promise<History> {
  return historyOf(await load(files, { session, lines: Number.POSITIVE_INFINITY }));
}

/** More forks of forks than this are no history but a knot. */
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

/** So that later runs know as well which points a killed one has left less than whole. */
function* amendsFor(history: History): Iterable<LogEntry> {
  for (const window of history.unended) {
    const point = history.points[history.positionOf(window.messageId)];
    if (point === undefined) continue;
    const gaps = [...new Set([...point.gaps, leftOpen(window)])];
    yield { t: 'amend', messageId: point.messageId, complete: false, gaps };
  }
}
