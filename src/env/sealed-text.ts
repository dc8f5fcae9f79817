import { everydayHead } from '../util/everyday-head.js';
import { isRecord } from '../util/own.js';
import type { FileMemory } from './file-memory.js';
import { type FileSeal, isUnbroken, type SeenPlaces, sealOf } from './file-seal.js';
import type { FileVersion } from './file-version.js';
import type { FileSystem } from './fs.js';
import { SeenText } from './seen-text.js';

/** What was made of all that is in some places, and what people were told about that. */
export interface SealedText {
  readonly text: string;
  readonly note?: string | undefined;
  /** It was found by files that were read, so that a seal of their facts is still worth making. */
  readonly byTexts?: boolean | undefined;
}

/** A place in which something was looked for. */
export interface LookedPlace {
  readonly directory: string;
  /** All that was looked at there. Absent: also what no seal can hold. */
  readonly seen?: 'absence' | SeenPlaces | undefined;
}

export interface SealDeps {
  readonly fs: Pick<FileSystem, 'lstatNow' | 'readSmallNow' | 'realPath'>;
  /** Keeps the texts; absent: none is remembered. */
  readonly memory?: FileMemory | undefined;
}

interface Said extends SealedText {
  /** What it was made with besides the files. */
  readonly key: string;
  /** Every place; without a seal there was nothing. */
  readonly places: readonly { readonly directory: string; readonly seal?: FileSeal }[];
}

/**
 * What an earlier start has made of these places, where every file and every place is as it was then: most
 * starts need of hundreds of files nothing but this. Undefined: look at them.
 */
export async function recallText(
  { fs, memory }: SealDeps,
  what: string,
  from: { readonly directories: readonly string[]; keyOf(): string | undefined },
): Promise<SealedText | undefined> {
  if (memory === undefined || fs.lstatNow === undefined) return undefined;
  const { directories } = from;
  try {
    for (const directory of directories) {
      const stat = fs.lstatNow(directory);
      if (stat === undefined) continue;
      // It is noted about the first that is there.
      const said = memory.recall(what, directory, stat);
      if (!isSaid(said) || said.key !== from.keyOf()) return undefined;
      return (await areAsSaid(fs, directories, said)) ? foundIn(said) : undefined;
    }
  } catch {
    // Whoever looks closer says what cannot be looked at.
  }
  return undefined;
}

function foundIn({ text, note, places }: Said): SealedText {
  return { text, note, byTexts: places.some(({ seal }) => seal?.begins !== undefined) };
}

async function areAsSaid(
  fs: SealDeps['fs'],
  directories: readonly string[],
  { places }: Said,
): Promise<boolean> {
  if (places.length !== directories.length) return false;
  for (const [index, directory] of directories.entries()) {
    const place = places[index];
    // fail-closed: another place may hold something else.
    if (place?.directory !== directory) return false;
    const isAsThen =
      place.seal === undefined
        ? fs.lstatNow?.(directory) === undefined
        : await isUnbroken(fs, directory, place.seal);
    if (!isAsThen) return false;
  }
  return true;
}

/** Notes what was made of a look at all places, for the next start. `at`: when that was. */
export function noteText(
  memory: FileMemory | undefined,
  what: string,
  about: {
    readonly at: number;
    readonly places: readonly LookedPlace[];
    readonly made: SealedText;
    keyOf(): string | undefined;
  },
): void {
  const { at, places, made } = about;
  const first = places.find(({ seen }) => seen !== 'absence');
  if (memory === undefined || typeof first?.seen !== 'object') return;
  const [top] = first.seen.folders;
  if (top === undefined) return;
  memory.note(what, first.directory, top.stat, (): Said | undefined => {
    const sealed = places.flatMap((place) => sealedPlace(place, at) ?? []);
    if (sealed.length < places.length) return undefined;
    // That is what is noted already.
    if (made.byTexts === true && sealed.some(({ seal }) => seal?.begins !== undefined))
      return undefined;
    const key = about.keyOf();
    if (key === undefined) return undefined;
    const { text, note } = made;
    return { key, places: sealed, text, ...(note === undefined ? {} : { note }) };
  });
}

function sealedPlace(
  { directory, seen }: LookedPlace,
  at: number,
): Said['places'][number] | undefined {
  if (seen === undefined) return undefined;
  if (seen === 'absence') return { directory };
  const seal = sealOf(seen, at);
  return seal === undefined ? undefined : { directory, seal };
}

/**
 * A file of which nothing is shown but its head. Of one that was read there are no facts; where its head
 * is an everyday one it is known by that. Undefined: it was not looked at.
 */
export function sealable(
  path: string,
  look: FileVersion | undefined,
): SeenPlaces['files'][number] | undefined {
  if (look === undefined) return undefined;
  if (!(look instanceof SeenText)) return { path, stat: look };
  const { text } = look;
  // fail-closed: what is no text may have been left out for that, whatever it begins with.
  const head = text.includes('\0') ? undefined : everydayHead(text);
  return { path, begins: text.slice(0, head?.bodyAt ?? 0) };
}

function isSaid(value: unknown): value is Said {
  return (
    isRecord(value) &&
    typeof value.key === 'string' &&
    typeof value.text === 'string' &&
    (value.note === undefined || typeof value.note === 'string') &&
    Array.isArray(value.places) &&
    value.places.every(isRecord)
  );
}
