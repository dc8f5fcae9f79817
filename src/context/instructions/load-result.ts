import type { Entry, Located, Place, SkippedInstruction, WaitingRule } from './types.js';

/** What one look at the disk has found. */
export interface LoadResult {
  readonly entries: Entry[];
  /** Files that are not shown and whose restrictions hold. */
  readonly unshown: Entry[];
  readonly skipped: SkippedInstruction[];
  readonly waiting: WaitingRule[];
  /** Resolved paths of files that are not shown again. */
  readonly seen: Set<string>;
  /** Which files were taken for what they enforce; absent where only what is shown matters. */
  readonly enforced?: Enforced;
  /** Included files that are shown. */
  included: number;
  /** Names behind an at sign that were looked up. */
  lookups: number;
}

interface Enforced {
  /** A file may speak for several directories, and its rules mean something else in each. */
  readonly taken: Set<string>;
  /** Files whose includes were not all looked at. `reason` completes "… so that restrictions may be missed". */
  readonly givenUp: { readonly place: Place; readonly reason: string }[];
  bytes: number;
}

/** Names of files that are looked up in one go, and what is read for the sake of restrictions. */
export const MOST_LOOKUPS = 10_000;
const MOST_ENFORCED = { files: 5_000, bytes: 64 * 1024 * 1024 };

/** For what is shown. */
export function newResult(seen: Iterable<string> = []): LoadResult {
  const lists = { entries: [], unshown: [], skipped: [], waiting: [] };
  return { ...lists, seen: new Set(seen), included: 0, lookups: 0 };
}

/** For what is shown and what is enforced; with another one, for what that has not found yet. */
export function enforcingResult(before?: LoadResult): LoadResult {
  const taken = new Set(before?.enforced?.taken);
  return { ...newResult(before?.seen), enforced: { taken, givenUp: [], bytes: 0 } };
}

/** An independent copy to add to. */
export function copyOf(found: LoadResult): LoadResult {
  const copy = found.enforced === undefined ? newResult() : enforcingResult();
  addTo(copy, found);
  return copy;
}

/** Adds what was found to what is known. Returns what of it is news. */
export function addTo(known: LoadResult, found: LoadResult): LoadResult {
  const keyOf = ({ path, kind, parent = '' }: SkippedInstruction) => `${kind}\n${path}\n${parent}`;
  const skippedBefore = new Set(known.skipped.map(keyOf));
  const skipped = found.skipped.filter((one) => !skippedBefore.has(keyOf(one)));
  const waits = new Set(known.waiting.map(({ real }) => real));
  known.entries.push(...found.entries);
  known.unshown.push(...found.unshown);
  known.skipped.push(...skipped);
  known.waiting.push(...found.waiting.filter(({ real }) => !waits.has(real)));
  for (const real of found.seen) known.seen.add(real);
  for (const key of found.enforced?.taken ?? []) known.enforced?.taken.add(key);
  known.enforced?.givenUp.push(...(found.enforced?.givenUp ?? []));
  return { ...found, skipped };
}

/** Whether a file was taken already for what it enforces from this place. */
export function isAdmitted({ enforced }: LoadResult, place: Place, real: string): boolean {
  return enforced === undefined || enforced.taken.has(keyOf(place, real));
}

/** Records that a file is loaded for its restrictions; false when it needs not be. */
export function admit(into: LoadResult, place: Place, { real, bytes }: Located): boolean {
  const { enforced } = into;
  // What a model wrote down for itself restricts nothing.
  if (place.scope === 'memory' || place.scope === 'team') return false;
  if (enforced === undefined || isAdmitted(into, place, real)) return false;
  if (place.parent !== undefined) {
    const { files, bytes: most } = MOST_ENFORCED;
    if (enforced.taken.size >= files) return giveUp(into, place, `over ${files} files`);
    if (enforced.bytes + bytes > most) return giveUp(into, place, `over ${most} bytes`);
    enforced.bytes += bytes;
  }
  enforced.taken.add(keyOf(place, real));
  return true;
}

/** Whether one more name may be looked up. */
export function mayLookUp(into: LoadResult, place: Place): boolean {
  return ++into.lookups <= MOST_LOOKUPS || giveUp(into, place, `over ${MOST_LOOKUPS} names`);
}

/** fail-closed: what was not looked at may be a restriction, so that it is a fatal problem. */
function giveUp({ enforced }: LoadResult, place: Place, what: string): false {
  if (enforced?.givenUp.length === 0) {
    enforced.givenUp.push({ place, reason: `it brings in ${what}` });
  }
  return false;
}

/** The head of a rule is not a text, so that a rule is another file when it is included. */
function keyOf({ base, kind }: Place, real: string): string {
  return `${kind === 'rule' ? 'rule' : 'file'}\n${base}\n${real}`;
}
