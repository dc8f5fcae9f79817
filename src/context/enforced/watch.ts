import type { Entry, InstructionLoader } from '../instructions/loader.js';
import { type InstructionReader, isLocated } from '../instructions/reader.js';

interface LookParts {
  readonly reader: Pick<InstructionReader, 'locate'>;
  readonly loader: Pick<InstructionLoader, 'prepare'>;
}

/** Sees whether files that enforce something have changed, whatever is shown of them. */
export interface EnforcedWatch {
  /** Takes the files as they were read. */
  begin(entries: readonly Entry[]): void;
  /** The files as they are on disk now; undefined when all are as they were at the last look. */
  look(entries: readonly Entry[], parts: LookParts): Promise<readonly Entry[] | undefined>;
}

interface Seen {
  readonly stamp: string;
  readonly source: string;
}

const GONE: Seen = { stamp: '', source: '' };

export function createEnforcedWatch(): EnforcedWatch {
  let seen = new Map<string, Seen>();
  const keyOf = ({ place }: Entry): string =>
    JSON.stringify([place.path, place.parent, place.base]);
  return {
    begin(entries) {
      seen = new Map(entries.map((entry) => [keyOf(entry), asRead(entry)]));
    },
    async look(entries, parts) {
      const now = new Map<string, Seen>();
      for (const entry of entries) {
        const key = keyOf(entry);
        const before = seen.get(key);
        const isSetting = entry.place.kind === 'setting';
        now.set(key, isSetting ? asRead(entry) : await sourceNow(entry, before, parts));
      }
      const isSame =
        now.size === seen.size &&
        [...now].every(([key, { stamp }]) => seen.get(key)?.stamp === stamp);
      seen = now;
      if (isSame) return undefined;
      return entries.map((entry) => ({
        ...entry,
        source: now.get(keyOf(entry))?.source ?? entry.source,
      }));
    },
  };
}

function asRead({ located, source }: Entry): Seen {
  return { stamp: located.stamp, source };
}

async function sourceNow(
  { place }: Entry,
  before: Seen | undefined,
  { reader, loader }: LookParts,
): Promise<Seen> {
  const sought = await reader.locate(place);
  if (!isLocated(sought)) return GONE;
  if (before?.stamp === sought.stamp) return before;
  const prepared = await loader.prepare(place, sought);
  return prepared.ok ? { stamp: sought.stamp, source: prepared.value.source } : GONE;
}
