import { resolveFrom } from './includes.js';

/** Names with an `@` of one text that are looked up; most of them are words. */
export const MOST_NAMES = 200;

const SENTENCE_END = /[.,;:!?)\]}'"»”’*]+$/;

/** The sentence may end behind a name. */
export function withoutSentenceEnd(name: string): string {
  return name.replace(SENTENCE_END, '');
}

export interface LookUp<Found> {
  /** Directories from which a name is seen, the first one first. */
  readonly bases: readonly string[];
  readonly home: string;
  /** What is there; undefined: nothing that is meant. */
  look(path: string): Promise<Found | undefined>;
}

/** Where a name with an `@` leads; undefined: nowhere, so that it is a word. */
export async function findNamed<Found>(
  name: string,
  { bases, home, look }: LookUp<Found>,
): Promise<{ readonly path: string; readonly found: Found } | undefined> {
  if (name === '' || name.includes('\0')) return undefined;
  for (const path of new Set(bases.map((base) => resolveFrom(name, base, home)))) {
    const found = await look(path);
    if (found !== undefined) return { path, found };
  }
  return undefined;
}
