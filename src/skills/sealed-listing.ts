import type { FileMemory } from '../env/file-memory.js';
import {
  type LookedPlace,
  noteText,
  recallText,
  type SealedText,
  sealable,
} from '../env/sealed-text.js';
import { type SkillPlaces, skillRoots } from './find-roots.js';
import type { Looked } from './scan.js';

export interface SealDeps extends SkillPlaces {
  readonly memory?: FileMemory | undefined;
}

const WHAT = 'skills';
const DRAWER = 'seals';

/** What the model was shown of all skills, where nothing of it can be different. Undefined: look at them. */
export async function recallShown(
  deps: SealDeps,
  keyOf: () => string | undefined,
): Promise<SealedText | undefined> {
  const { fs, memory } = deps;
  if (memory === undefined) return undefined;
  const directories = (await skillRoots(deps)).map(({ directory }) => directory);
  return await recallText({ fs, memory: memory.drawer(DRAWER) }, WHAT, { directories, keyOf });
}

/** Notes what was made of a look at all skills, for the next start. */
export function noteShown(
  { memory }: Pick<SealDeps, 'memory'>,
  { at, places }: Looked,
  about: { keyOf(): string | undefined; readonly shown: SealedText },
): void {
  const { keyOf, shown: made } = about;
  const looked = places.map(lookedPlace);
  noteText(memory?.drawer(DRAWER), WHAT, { at, places: looked, made, keyOf });
}

function lookedPlace({ root, found }: Looked['places'][number]): LookedPlace {
  const { directory } = root;
  const { by, candidates } = found;
  if (by === undefined || by === 'absence') return { directory, seen: by };
  const files = candidates.flatMap(
    ({ file, look }) => sealable(file.slice(directory.length + 1), look) ?? [],
  );
  const folders = [{ path: '', stat: by.stat }];
  const isWhole = files.length === candidates.length;
  return { directory, seen: isWhole ? { real: by.real, folders, files } : undefined };
}
