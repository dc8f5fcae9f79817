import type { Entry, Located, Place, SkippedInstruction, WaitingRule } from './types.js';

/** What one look at the disk has found. */
export interface Gathering {
  readonly entries: Entry[];
  /** Files that are not shown and whose restrictions hold. */
  readonly unshown: Entry[];
  readonly skipped: SkippedInstruction[];
  readonly waiting: WaitingRule[];
  /** Resolved paths of files that are not shown again. */
  readonly seen: Set<string>;
  /** Which files were taken for what they enforce; absent where nobody asks for that. */
  readonly enforced?: Enforced;
  /** Included files that are shown. */
  included: number;
  /** Names behind an at sign that were looked up. */
  lookups: number;
}

interface Enforced {
  /** A file may speak for several directories, and its rules mean something else in each. */
  readonly taken: Set<string>;
  /** Where it was too much, so that restrictions may be missing. */
  readonly givenUp: GivenUp[];
  bytes: number;
}

/** A file whose includes were not all looked at. */
export interface GivenUp {
  readonly place: Place;
  /** Completes "… so restrictions in them may be missing". */
  readonly reason: string;
}

/** Names of files that are looked up in one gathering, and what is read for the sake of restrictions. */
export const MOST_LOOKUPS = 10_000;
export const MOST_ENFORCED = { files: 5_000, bytes: 64 * 1024 * 1024 } as const;

/** For what is shown. */
export function newGathering(seen: Iterable<string> = []): Gathering {
  return {
    entries: [],
    unshown: [],
    skipped: [],
    waiting: [],
    seen: new Set(seen),
    included: 0,
    lookups: 0,
  };
}

/** For what is shown and for what is enforced; with another one, for what that has not found yet. */
export function enforcingGathering(before?: Gathering): Gathering {
  const taken = new Set(before?.enforced?.taken);
  return { enforced: { taken, givenUp: [], bytes: 0 }, ...newGathering(before?.seen) };
}

/** The same for somebody else, who goes on from there. */
export function copyOf(found: Gathering): Gathering {
  const { entries, unshown, skipped, waiting, seen, enforced } = found;
  return {
    ...found,
    entries: [...entries],
    unshown: [...unshown],
    skipped: [...skipped],
    waiting: [...waiting],
    seen: new Set(seen),
    ...(enforced === undefined
      ? {}
      : {
          enforced: {
            ...enforced,
            taken: new Set(enforced.taken),
            givenUp: [...enforced.givenUp],
          },
        }),
  };
}

/** Whether a file was taken already for what it enforces from this place. */
export function isAdmitted({ enforced }: Gathering, place: Place, real: string): boolean {
  return enforced === undefined || enforced.taken.has(keyOf(place, real));
}

/** Notes that a file is taken for what it enforces; false when there is no need to. */
export function admit(into: Gathering, place: Place, { real, bytes }: Located): boolean {
  const { enforced } = into;
  // What a model wrote down for itself binds nobody.
  if (enforced === undefined || place.scope === 'memory' || place.scope === 'team') return false;
  if (isAdmitted(into, place, real)) return false;
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
export function mayLookUp(into: Gathering, { place }: Pick<Entry, 'place'>): boolean {
  return ++into.lookups <= MOST_LOOKUPS || giveUp(into, place, `over ${MOST_LOOKUPS} names`);
}

/** fail-closed: what nobody has looked at may be a restriction, so that it is a fatal problem. */
function giveUp({ enforced }: Gathering, place: Place, what: string): false {
  if (enforced?.givenUp.length === 0) {
    enforced.givenUp.push({ place, reason: `it brings in ${what}` });
  }
  return false;
}

/** The head of a rule is no text, so that it is another file when it is included. */
function keyOf({ base, kind }: Place, real: string): string {
  return `${kind === 'rule' ? 'rule' : 'file'}\n${base}\n${real}`;
}
