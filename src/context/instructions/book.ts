import { Queue } from '../../lib/queue.js';
import {
  type EnforcedRules,
  type FoundRules,
  type NearRules,
  readEnforcedRules,
} from '../enforced/enforced.js';
import type { InstructionBookParts, KnownDirectories } from './discovery.js';
import { enforcedForPaths, namesIn, touchedIn } from './for-path.js';
import { createLoadContext, type LoadContext } from './load-context.js';
import { addTo, copyOf, enforcingResult, type LoadResult, newResult } from './load-result.js';
import { type BelowRules, takeBelow, waitingBelow } from './nested-folders.js';
import { isLocated } from './reader.js';
import { type InstructionReport, reportOf } from './report.js';
import type { Entry, LoadCause, LoadedFiles, LoadedInstruction } from './types.js';

export type { InstructionBookParts } from './discovery.js';

/** The instructions of a session: which files there are, which are shown, and which come into play. */
export interface InstructionBook {
  /** What holds from the start. Read once. */
  open(): Promise<LoadedFiles>;
  /** Forgets everything and reads again, after an approval or in another place. */
  reopen(): Promise<LoadedFiles>;
  /**
   * Files were read or written: what becomes active by that and was not before. Directories and
   * files outside of the project bring nothing.
   */
  touched(paths: readonly string[], signal: AbortSignal): Promise<LoadedFiles>;
  /** Shown files that are different on disk now, in the order in which they were shown. */
  changed(): Promise<readonly LoadedInstruction[]>;
  /** What has to be shown again after a summary; the rest comes back when it is touched again. */
  afterCompaction(): Promise<LoadedFiles>;
  /** With the folders below, so that it takes its time. Nothing comes into play by it. */
  report(): Promise<InstructionReport>;
  /** Rules have come into force since the start: what they hide is not shown after all. */
  hideAgain(): Promise<void>;
  /** Restrictions in the files that hold from the start. */
  enforced(): Promise<EnforcedRules>;
  /** The same as the files are now; undefined when none has changed since the last look. */
  enforcedAgain(): Promise<EnforcedRules | undefined>;
  /**
   * Restrictions in the files on the way to these paths, shown or not: to be asked before a call
   * that names them is judged. Directories count themselves. `known`: directories that were looked at.
   */
  enforcedNear(paths: readonly string[], known?: KnownDirectories): Promise<NearRules>;
  /**
   * Restrictions in the files of the folders in these directories, for calls that take in all of it.
   * Those that hold for some files only are not among them.
   */
  enforcedBelow(directories: readonly string[]): Promise<BelowRules>;
  /** The same for all folders, for calls that may lead anywhere. */
  enforcedAnywhere(): Promise<BelowRules>;
  /**
   * A book of another conversation that was shown what this one holds from the start; what comes into
   * play later is its own.
   */
  forAnother(): Pick<InstructionBook, 'touched'>;
  /** For what may not be shown in the end: it counts as shown once it is kept. */
  onTrial(): Trial;
}

export interface Trial extends Pick<InstructionBook, 'touched'> {
  /** What was found has been shown. */
  keep(): Promise<void>;
}

export function createInstructionBook(parts: InstructionBookParts): InstructionBook {
  return new Book(parts);
}

const AT_START: LoadCause = { reason: 'session_start' };
const AFTER_COMPACTION: LoadCause = { reason: 'compact', reasonForAll: true };

/** What a book begins with that goes on from another one. */
interface Opened {
  readonly context: LoadContext;
  readonly shown: LoadResult;
}

class Book implements InstructionBook {
  readonly #parts: InstructionBookParts;
  readonly #inherit: (() => Promise<Opened>) | undefined;
  /** One at a time: two calls at once must not show the same file twice. */
  readonly #queue = new Queue();
  #context: LoadContext | undefined;
  #shown: LoadResult | undefined;
  /** As it was before anything came into play. */
  #atStart: LoadResult | undefined;
  /** Files that enforce something, as they were at the last look. */
  #sources = new Map<string, Source>();

  constructor(parts: InstructionBookParts, inherit?: () => Promise<Opened>) {
    this.#parts = parts;
    this.#inherit = inherit;
  }

  open(): Promise<LoadedFiles> {
    return this.#queue.add(async () => filesOf(fromStart(await this.#opened())));
  }

  reopen(): Promise<LoadedFiles> {
    return this.#queue.add(async () => {
      this.#context = undefined;
      return filesOf(await this.#start(AT_START));
    });
  }

  touched(paths: readonly string[], signal: AbortSignal): Promise<LoadedFiles> {
    return this.#queue.add(async () => {
      const shown = await this.#opened();
      return filesOf(addTo(shown, await touchedIn(await this.#at(), shown, { paths, signal })));
    });
  }

  changed(): Promise<readonly LoadedInstruction[]> {
    return this.#queue.add(async () => changedIn(await this.#opened(), await this.#at()));
  }

  afterCompaction(): Promise<LoadedFiles> {
    return this.#queue.add(async () => filesOf(await this.#start(AFTER_COMPACTION)));
  }

  report(): Promise<InstructionReport> {
    return this.#queue.add(async () => {
      const shown = await this.#opened();
      return reportOf(shown, await waitingBelow(await this.#at(), shown.seen));
    });
  }

  hideAgain(): Promise<void> {
    return this.#queue.add(async () => {
      if (!(await hidesAny(await this.#opened(), await this.#at()))) return;
      this.#sources = sourcesOf(enforcing(await this.#start(AT_START)));
    });
  }

  enforced(): Promise<EnforcedRules> {
    return this.#queue.add(async () => {
      const found = fromStart(await this.#opened());
      this.#sources = sourcesOf(enforcing(found));
      return this.#rulesIn(found);
    });
  }

  enforcedAgain(): Promise<EnforcedRules | undefined> {
    return this.#queue.add(async () => {
      const shown = await this.#opened();
      const context = await this.#at();
      const before = enforcing(fromStart(shown));
      const looked = await Promise.all(
        before.map(async (entry) => {
          const now = await readSource(entry, this.#sources.get(keyOf(entry)), context);
          return { entry: { ...entry, source: now.source }, now };
        }),
      );
      const sources = new Map(looked.map(({ entry, now }) => [keyOf(entry), now]));
      const isSame =
        sources.size === this.#sources.size &&
        [...sources].every(([key, { stamp }]) => this.#sources.get(key)?.stamp === stamp);
      this.#sources = sources;
      if (isSame) return undefined;
      // What files of the start include now and did not before restricts before it is shown.
      const more = enforcingResult(shown);
      const entries = looked.map(({ entry }) => entry);
      for (const entry of entries) {
        await context.loader.takeIncludes(entry, AT_START, more, { unshown: true });
      }
      addTo(shown, { ...more, skipped: [] });
      return this.#rulesIn({ ...more, entries });
    });
  }

  enforcedNear(paths: readonly string[], known?: KnownDirectories): Promise<NearRules> {
    return this.#queue.add(async () => {
      const shown = await this.#opened();
      const context = await this.#at();
      const rules = this.#rulesIn(await enforcedForPaths(context, shown, { paths, known }));
      return { paths: namesIn(context, paths), ...rules };
    });
  }

  enforcedBelow(directories: readonly string[]): Promise<BelowRules> {
    return this.#queue.add(async () => this.#below(directories));
  }

  enforcedAnywhere(): Promise<BelowRules> {
    return this.#queue.add(async () => {
      const { projects } = await this.#at();
      return await this.#below(projects.map(({ root }) => root));
    });
  }

  forAnother(): Pick<InstructionBook, 'touched'> {
    return new Book(this.#parts, () =>
      this.#queue.add(async () => {
        const shown = await this.#opened();
        return { context: await this.#at(), shown: copyOf(this.#atStart ?? shown) };
      }),
    );
  }

  onTrial(): Trial {
    const found: LoadResult[] = [];
    return {
      touched: (paths, signal) =>
        this.#queue.add(async () => {
          const shown = copyOf(await this.#opened());
          for (const earlier of found) addTo(shown, earlier);
          const more = await touchedIn(await this.#at(), shown, { paths, signal });
          found.push(more);
          return filesOf(addTo(shown, more));
        }),
      keep: () =>
        this.#queue.add(async () => {
          const shown = await this.#opened();
          for (const one of found.splice(0)) addTo(shown, one);
        }),
    };
  }

  async #at(): Promise<LoadContext> {
    this.#context ??= await createLoadContext(this.#parts);
    return this.#context;
  }

  async #start(how: LoadCause): Promise<LoadResult> {
    const shown = await (await this.#at()).discovery.start(how);
    this.#shown = shown;
    this.#atStart = copyOf(shown);
    return shown;
  }

  async #opened(): Promise<LoadResult> {
    if (this.#shown === undefined && this.#inherit !== undefined) {
      const { context, shown } = await this.#inherit();
      this.#context = context;
      this.#shown = shown;
    }
    return this.#shown ?? (await this.#start(AT_START));
  }

  #rulesIn(found: LoadResult): FoundRules {
    return readEnforcedRules(enforcing(found), this.#parts.locateJson, found);
  }

  async #below(directories: readonly string[]): Promise<BelowRules> {
    const found = enforcingResult();
    const looked = await takeBelow(await this.#at(), directories, found);
    return { ...this.#rulesIn(found), ...looked };
  }
}

/** A file that enforces something, as it is on disk; both empty when it is gone. */
interface Source {
  readonly stamp: string;
  readonly source: string;
}

function keyOf({ place }: Entry): string {
  return JSON.stringify([place.path, place.parent, place.base]);
}

function sourcesOf(entries: readonly Entry[]): Map<string, Source> {
  return new Map(
    entries.map((entry) => [keyOf(entry), { stamp: entry.located.stamp, source: entry.source }]),
  );
}

async function readSource(
  { place, located, source }: Entry,
  before: Source | undefined,
  { reader, loader }: LoadContext,
): Promise<Source> {
  if (place.kind === 'setting') return { stamp: located.stamp, source };
  const sought = await reader.locate(place);
  const { stamp } = isLocated(sought) ? sought : { stamp: '' };
  if (before?.stamp === stamp) return before;
  const prepared = isLocated(sought) ? await loader.prepare(place, sought) : undefined;
  return prepared?.ok === true
    ? { stamp, source: prepared.value.source }
    : { stamp: '', source: '' };
}

/** Looks at every shown file again; those that changed take the place of what was shown. */
async function changedIn(
  shown: LoadResult,
  context: LoadContext,
): Promise<readonly LoadedInstruction[]> {
  const news: LoadedInstruction[] = [];
  for (const [index, entry] of [...shown.entries.entries()]) {
    const now = await lookAgain(entry, context);
    if (now === undefined) continue;
    shown.entries[index] = now;
    const { instruction } = now;
    if (instruction === entry.instruction) continue;
    news.push(instruction);
    const { trigger } = instruction;
    const more = trigger === undefined ? enforcingResult(shown) : newResult(shown.seen);
    await context.loader.takeIncludes(now, { reason: 'include', trigger }, more);
    addTo(shown, more);
    news.push(...more.entries.map((one) => one.instruction));
  }
  return news;
}

/** Undefined when it is the same; with the same instruction when only its stamp is new. */
async function lookAgain(
  entry: Entry,
  { reader, loader }: LoadContext,
): Promise<Entry | undefined> {
  const { instruction, place, located } = entry;
  if (place.kind === 'setting') return undefined;
  const sought = await reader.locate(place);
  if (isLocated(sought) && sought.hidden === undefined) {
    if (sought.stamp === located.stamp) return undefined;
    const prepared = await loader.prepare(place, sought);
    if (prepared.ok) {
      const { text, notes, source } = prepared.value;
      const isSame = text === instruction.text;
      const fresh = { ...instruction, text, notes, bytes: sought.bytes };
      return { ...entry, located: sought, source, instruction: isSame ? instruction : fresh };
    }
  }
  if (instruction.text === '') return undefined;
  const gone = { ...instruction, text: '', bytes: 0, notes: ['it can no longer be read'] };
  const nowhere = { real: located.real, bytes: 0, stamp: '' };
  return { ...entry, located: nowhere, source: '', instruction: gone };
}

/** Whether a file is shown that would not be now. */
async function hidesAny({ entries }: LoadResult, { reader }: LoadContext): Promise<boolean> {
  for (const { place } of entries) {
    if (place.kind === 'setting' || place.scope === 'managed') continue;
    const sought = await reader.locate(place);
    if (isLocated(sought) && sought.hidden !== undefined) return true;
  }
  return false;
}

/** Without what came into play by the use of files. */
function fromStart(shown: LoadResult): LoadResult {
  const isFirst = ({ instruction }: Entry): boolean => instruction.trigger === undefined;
  const { entries, unshown } = shown;
  return { ...shown, entries: entries.filter(isFirst), unshown: unshown.filter(isFirst) };
}

/** What must not be shown still restricts. */
function enforcing({ entries, unshown }: LoadResult): readonly Entry[] {
  return [...entries, ...unshown];
}

function filesOf({ entries, skipped }: LoadResult): LoadedFiles {
  return { files: entries.map(({ instruction }) => instruction), skipped: [...skipped] };
}
