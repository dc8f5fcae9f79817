import { type Duplicate, type JsonReading, readJsonAt } from '../../settings/files/json.js';

/** Of two equal keys a parser keeps the last value without a word, so that a no could be lost. */
export function duplicateProblem(
  duplicates: readonly Pick<Duplicate, 'path'>[],
): string | undefined {
  const key = duplicates[0]?.path.at(-1);
  return key === undefined
    ? undefined
    : `the key ${JSON.stringify(String(key).slice(0, 60))} stands twice in one object`;
}

/** Steps for each character of the text; only braces inside braces that never close need as many. */
const STEPS_PER_CHARACTER = 8;

export interface FoundObject {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  readonly hasDuplicates: boolean;
}

export interface FoundObjects {
  /** Each object that is whole and in no other. */
  readonly objects: readonly FoundObject[];
  /** The first brace that starts no object. */
  readonly brokenAt: number | undefined;
  /** The search was given up, or an object is nested too deeply to be read. */
  readonly isUnread: boolean;
}

/** The JSON objects inside a text. */
export function objectsIn(text: string): FoundObjects {
  const objects: FoundObject[] = [];
  let brokenAt: number | undefined;
  let isUnread = false;
  let steps = STEPS_PER_CHARACTER * (text.length + 1000);
  for (let at = text.indexOf('{'); at !== -1; ) {
    const read: JsonReading = readJsonAt(text, at);
    const end = read.ok ? read.end : read.offset;
    steps -= end - at + 1;
    if (steps < 0) return { objects, brokenAt: brokenAt ?? at, isUnread: true };
    if (read.ok) {
      const { node, duplicates } = read;
      objects.push({ start: at, end, value: node.value, hasDuplicates: duplicates.length > 0 });
    } else {
      brokenAt ??= at;
      isUnread ||= read.isRefused;
    }
    at = text.indexOf('{', read.ok ? end : at + 1);
  }
  return { objects, brokenAt, isUnread };
}
