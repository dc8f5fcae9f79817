import type { FileMemory } from '../env/file-memory.js';
import { type FileSeal, isUnbroken, sealOf } from '../env/file-seal.js';
import type { FileStat } from '../env/fs.js';
import { SeenText } from '../env/seen-text.js';
import { isRecord } from '../util/own.js';
import { type SkillPlaces, type SkillRoot, skillRoots } from './find-roots.js';
import type { Found } from './found.js';
import type { Looked } from './scan.js';

/** What the model was shown of all skills, and what people were told about that. */
export interface Shown {
  readonly text: string;
  readonly note?: string | undefined;
}

export interface SealDeps extends SkillPlaces {
  readonly memory?: FileMemory | undefined;
}

interface Said extends Shown {
  /** What it was made with besides the files. */
  readonly key: string;
  /** Every place in which skills were looked for; without a seal there was nothing. */
  readonly places: readonly { readonly directory: string; readonly seal?: FileSeal }[];
}

const WHAT = 'skills';
const DRAWER = 'seals';

/**
 * What an earlier start has made of the skills, where every file and every place is as it was then: most
 * starts need of hundreds of skills nothing but this. Undefined: look at them.
 */
export async function recallShown(
  deps: SealDeps,
  keyOf: () => string | undefined,
): Promise<Shown | undefined> {
  const { fs, memory } = deps;
  if (memory === undefined || fs.lstatNow === undefined) return undefined;
  try {
    const roots = await skillRoots(deps);
    const [first] = roots.flatMap(({ directory }) => {
      const stat = fs.lstatNow?.(directory);
      return stat === undefined ? [] : [{ directory, stat }];
    });
    if (first === undefined) return undefined;
    const said = memory.drawer(DRAWER).recall(WHAT, first.directory, first.stat);
    if (!isSaid(said) || said.key !== keyOf()) return undefined;
    if (said.places.length !== roots.length) return undefined;
    for (const [index, { directory }] of roots.entries()) {
      if (!(await isAsSaid(fs, directory, said.places[index]))) return undefined;
    }
    return said;
  } catch {
    // Whoever looks closer says what cannot be looked at.
    return undefined;
  }
}

async function isAsSaid(
  fs: SealDeps['fs'],
  directory: string,
  said: Said['places'][number] | undefined,
): Promise<boolean> {
  // fail-closed: another place may have other skills.
  if (said?.directory !== directory) return false;
  if (said.seal === undefined) return fs.lstatNow?.(directory) === undefined;
  return await isUnbroken(fs, directory, said.seal);
}

/** Notes what was made of a look at all skills, for the next start. */
export function noteShown(
  { memory }: Pick<SealDeps, 'memory'>,
  { at, places }: Looked,
  about: { keyOf(): string | undefined; readonly shown: Shown },
): void {
  const first = places.find(({ found }) => found.by !== undefined && found.by !== 'absence');
  if (memory === undefined || typeof first?.found.by !== 'object') return;
  memory.drawer(DRAWER).note(WHAT, first.root.directory, first.found.by.stat, () => {
    const sealed = places.map(({ root, found }) => sealedPlace(root, found, at));
    if (sealed.includes(undefined)) return undefined;
    const key = about.keyOf();
    if (key === undefined) return undefined;
    const { text, note } = about.shown;
    return { key, places: sealed, text, ...(note === undefined ? {} : { note }) };
  });
}

function sealedPlace(
  { directory }: SkillRoot,
  { by, candidates }: Found,
  at: number,
): Said['places'][number] | undefined {
  if (by === undefined) return undefined;
  if (by === 'absence') return { directory };
  const files = candidates.flatMap(({ file, look }) => {
    const stat = factsOf(look);
    return stat === undefined ? [] : [{ path: file.slice(directory.length + 1), stat }];
  });
  const folders = [{ path: '', stat: by.stat }];
  const seal = sealOf({ real: by.real, folders, files }, at);
  return seal === undefined || files.length < candidates.length ? undefined : { directory, seal };
}

/** Of what was read there are none yet: the next start has them. */
function factsOf(look: Found['candidates'][number]['look']): FileStat | undefined {
  return look === undefined || look instanceof SeenText ? undefined : look;
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
