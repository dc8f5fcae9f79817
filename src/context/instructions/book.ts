import { Queue } from '../../lib/queue.js';
import type { EnforcedRules } from '../enforced/enforced.js';
import { enforcedIn, type NearRules } from '../enforced/entries.js';
import { createEnforcedWatch } from '../enforced/policy.js';
import { type BelowRules, takeBelow, waitingBelow } from './below.js';
import type { InstructionBookParts } from './discovery.js';
import { type CallLook, namesIn, nearbyIn, touchedIn } from './for-path.js';
import { createWorld, type World } from './load-context.js';
import { copyOf, enforcingGathering, type Gathering, newGathering } from './load-result.js';

import { isLocated } from './reader.js';
import { type InstructionReport, reportOf } from './report.js';
import type { Entry, LoadedFiles, LoadedInstruction, SkippedInstruction, Taking } from './types.js';

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
  touched(paths: readonly string[], signal: AbortSignal, look?: CallLook): Promise<LoadedFiles>;
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
   * that names them is judged. Directories count themselves.
   */
  enforcedNear(paths: readonly string[], look?: CallLook): Promise<NearRules>;
  /**
   * Restrictions in the files of the folders in these directories, for calls that take in all of it.
   * Those that hold for some files only are not among them.
   */
  enforcedBelow(directories: readonly string[]): Promise<BelowRules>;
  /** The same for all folders, for calls of which nobody knows where they lead. */
  enforcedAnywhere(): Promise<BelowRules>;
  /**
   * A book of another conversation that was shown what this one holds from the start; what comes into
   * play later is its own. Nothing is looked for again.
   */
  forAnother(): Pick<InstructionBook, 'touched'>;
  /** For what may not be shown in the end: it counts as shown once it is kept. */
  onTrial(): Trial;
}

export interface Trial extends Pick<InstructionBook, 'touched'> {
  /** What was found has been shown. */
  keep(): Promise<void>;
}

/** What a book begins with. */
interface Beginning {
  readonly world: World;
  readonly start: Gathering;
}

export function createInstructionBook(parts: InstructionBookParts): InstructionBook {
  return openBook(parts, undefined);
}

function openBook(
  parts: InstructionBookParts,
  inherited: (() => Promise<Beginning>) | undefined,
): InstructionBook {
  let world: Promise<World> | undefined;
  let state: Gathering | undefined;
  /** As it was before anything came into play. */
  let atStart: Gathering | undefined;

  const worldOf = async (): Promise<World> => {
    world ??= createWorld(parts);
    return await world;
  };
  /** One at a time: two calls at once must not show the same file twice. */
  const queue = new Queue();
  const start = async (how: Taking): Promise<Gathering> => {
    state = await (await worldOf()).discovery.start(how);
    atStart = copyOf(state);
    return state;
  };
  const inherit = async (from: () => Promise<Beginning>): Promise<Gathering> => {
    const beginning = await from();
    world = Promise.resolve(beginning.world);
    state = beginning.start;
    return state;
  };
  const opened = async (): Promise<Gathering> =>
    state ?? (inherited === undefined ? await start(AT_START) : await inherit(inherited));
  const broughtBy = (use: {
    readonly paths: readonly string[];
    readonly signal: AbortSignal;
    readonly look: CallLook | undefined;
  }): Promise<LoadedFiles> =>
    queue.add(async () => {
      const shown = await opened();
      return filesOf(join(shown, await touchedIn(await worldOf(), { shown, ...use })));
    });
  const near = (use: {
    readonly paths: readonly string[];
    readonly look: CallLook | undefined;
  }): Promise<NearRules> =>
    queue.add(async () => {
      const { waiting } = await opened();
      const there = await worldOf();
      const found = await nearbyIn(there, { waiting, ...use });
      const rules = enforcedIn(enforcing(found), parts.locateJson, found);
      return { paths: namesIn(there, use.paths), ...rules };
    });
  const watch = createEnforcedWatch();
  const below = (directories: () => Promise<readonly string[]>): Promise<BelowRules> =>
    queue.add(async () => {
      const found = enforcingGathering();
      const looked = await takeBelow(await worldOf(), await directories(), found);
      return { ...enforcedIn(enforcing(found), parts.locateJson, found), ...looked };
    });

  return {
    open: () => queue.add(async () => filesOf(fromStart(await opened()))),
    reopen: () =>
      queue.add(async () => {
        world = undefined;
        return filesOf(await start(AT_START));
      }),
    afterCompaction: () => queue.add(async () => filesOf(await start(AFTER_COMPACTION))),
    touched: (paths, signal, look) => broughtBy({ paths, signal, look }),
    changed: () => queue.add(async () => changedIn(await opened(), await worldOf())),
    report: () =>
      queue.add(async () => {
        const shown = await opened();
        return reportOf(shown, await waitingBelow(await worldOf(), shown.seen));
      }),
    hideAgain: () =>
      queue.add(async () => {
        if (!(await hidesAny(await opened(), await worldOf()))) return;
        watch.begin(enforcing(await start(AT_START)));
      }),
    enforced: () =>
      queue.add(async () => {
        const found = fromStart(await opened());
        watch.begin(enforcing(found));
        return enforcedIn(enforcing(found), parts.locateJson, found);
      }),
    enforcedAgain: () =>
      queue.add(async () => {
        const before = await opened();
        const now = await watch.look(enforcing(fromStart(before)), await worldOf());
        if (now === undefined) return undefined;
        const more = await newlyIncluded(await worldOf(), before, now);
        return enforcedIn([...now, ...more.unshown], parts.locateJson, more);
      }),
    enforcedNear: (paths, look) => near({ paths, look }),
    enforcedBelow: (directories) => below(async () => directories),
    enforcedAnywhere: () => below(async () => (await worldOf()).projects.map(({ root }) => root)),
    forAnother: () =>
      openBook(parts, () =>
        queue.add(async () => {
          const shown = await opened();
          return { world: await worldOf(), start: copyOf(atStart ?? shown) };
        }),
      ),
    onTrial: () => trialOf({ queue, opened, worldOf }),
  };
}

function trialOf(book: {
  readonly queue: Queue;
  opened(): Promise<Gathering>;
  worldOf(): Promise<World>;
}): Trial {
  const { queue, opened, worldOf } = book;
  const found: Gathering[] = [];
  return {
    touched: (paths, signal, look) =>
      queue.add(async () => {
        const shown = copyOf(await opened());
        for (const earlier of found) join(shown, earlier);
        const more = await touchedIn(await worldOf(), { shown, paths, signal, look });
        found.push(more);
        return filesOf(join(shown, more));
      }),
    keep: () =>
      queue.add(async () => {
        const shown = await opened();
        for (const one of found.splice(0)) join(shown, one);
      }),
  };
}

const AT_START: Taking = { reason: 'session_start' };
const AFTER_COMPACTION: Taking = { reason: 'compact', reasonForAll: true };

/** Adds what was found to what is known; what remains is news. */
function join(shown: Gathering, found: Gathering): Gathering {
  const known = new Set(shown.skipped.map(skipKey));
  const skipped = found.skipped.filter((one) => !known.has(skipKey(one)));
  const waits = new Set(shown.waiting.map(({ real }) => real));
  shown.entries.push(...found.entries);
  shown.unshown.push(...found.unshown);
  shown.skipped.push(...skipped);
  shown.waiting.push(...found.waiting.filter(({ real }) => !waits.has(real)));
  for (const real of found.seen) shown.seen.add(real);
  for (const key of found.enforced?.taken ?? []) shown.enforced?.taken.add(key);
  shown.enforced?.givenUp.push(...(found.enforced?.givenUp ?? []));
  return { ...found, skipped };
}

function skipKey({ path, kind, parent = '' }: SkippedInstruction): string {
  return [kind, path, parent].join('\n');
}

/** What files of the start include now and did not before: it restricts before it is shown. */
async function newlyIncluded(
  { loader }: World,
  before: Gathering,
  now: readonly Entry[],
): Promise<Gathering> {
  const more = enforcingGathering(before);
  for (const entry of now) await loader.takeIncludes(entry, AT_START, more, { unshown: true });
  join(before, { ...more, skipped: [] });
  return more;
}

/** Looks at every shown file again; those that changed take the place of what was shown. */
async function changedIn(shown: Gathering, world: World): Promise<readonly LoadedInstruction[]> {
  const news: LoadedInstruction[] = [];
  for (const [index, entry] of [...shown.entries.entries()]) {
    if (entry.instruction.kind === 'setting') continue;
    const now = await lookAgain(entry, world);
    if (now === undefined) continue;
    shown.entries[index] = now;
    if (now.instruction === entry.instruction) continue;
    news.push(now.instruction);
    const { trigger } = now.instruction;
    const more = trigger === undefined ? enforcingGathering(shown) : newGathering(shown.seen);
    const how: Taking = { reason: 'include', trigger };
    await world.loader.takeIncludes(now, how, more);
    join(shown, more);
    news.push(...more.entries.map(({ instruction }) => instruction));
  }
  return news;
}

/** Whether a file is shown that would not be now. */
async function hidesAny({ entries }: Gathering, { reader }: World): Promise<boolean> {
  for (const { place } of entries) {
    if (place.kind === 'setting' || place.scope === 'managed') continue;
    const sought = await reader.locate(place);
    if (isLocated(sought) && sought.hidden !== undefined) return true;
  }
  return false;
}

/** Undefined when it is the same; with the same instruction when only its stamp is new. */
async function lookAgain(entry: Entry, { reader, loader }: World): Promise<Entry | undefined> {
  const { instruction, place, located } = entry;
  const sought = await reader.locate(place);
  const isShowable = isLocated(sought) && sought.hidden === undefined;
  if (isShowable && sought.stamp === located.stamp) return undefined;
  const prepared = isShowable ? await loader.prepare(place, sought) : undefined;
  if (isShowable && prepared?.ok === true) {
    const { text, notes, source } = prepared.value;
    const isSame = text === instruction.text;
    const fresh = { ...instruction, text, notes, bytes: sought.bytes };
    return { ...entry, located: sought, source, instruction: isSame ? instruction : fresh };
  }
  if (instruction.text === '') return undefined;
  const gone = { ...instruction, text: '', bytes: 0, notes: ['it can no longer be read'] };
  const nowhere = { wanted: located.wanted, real: located.real, bytes: 0, stamp: '' };
  return { ...entry, located: nowhere, source: '', instruction: gone };
}

/** Without what came into play by the use of files. */
function fromStart(shown: Gathering): Gathering {
  const isFirst = ({ instruction }: Entry): boolean => instruction.trigger === undefined;
  const { entries, unshown } = shown;
  return { ...shown, entries: entries.filter(isFirst), unshown: unshown.filter(isFirst) };
}

/** What must not be shown still restricts. */
function enforcing({ entries, unshown }: Gathering): readonly Entry[] {
  return unshown.length === 0 ? entries : [...entries, ...unshown];
}

function filesOf({ entries, skipped }: Gathering): LoadedFiles {
  return { files: entries.map(({ instruction }) => instruction), skipped: [...skipped] };
}
