import type { FileMemory } from '../env/file-memory.js';
import type { FileStat } from '../env/fs.js';
import { isRecord } from '../util/own.js';
import type { Draft } from './trust-types.js';

/**
 * The digests of a file's declarations, in their order. Texts are not kept: settings hold values that
 * may be secret. fail-closed: that a digest is known says nothing about whether anybody accepted it.
 */
export interface Digests {
  /** The known one, or else the one that is made. */
  of(index: number, make: () => string): string;
  /** Keeps those that were made. */
  note(): void;
}

export function openDigests(
  memory: FileMemory,
  read: {
    readonly file: string;
    /** As the file was before it was read, and after. */
    readonly before: FileStat | undefined;
    readonly after: FileStat | undefined;
    /** How many declarations were found in what was read. */
    readonly count: number;
  },
): Digests {
  const { file, before, after, count } = read;
  // fail-closed: of a file that changed meanwhile nobody knows which version was read.
  const stat = isSame(before, after) ? before : undefined;
  const said = stat === undefined ? undefined : memory.recall(WHAT, file, stat);
  const known = Array.isArray(said) && said.length === count ? said : [];
  const all: unknown[] = [...known];
  let isNew = false;
  return {
    of(index, make) {
      const digest = all[index];
      if (typeof digest === 'string' && digest.length === DIGEST_LENGTH) return digest;
      const made = make();
      all[index] = made;
      isNew = true;
      return made;
    },
    note() {
      if (!isNew || stat === undefined) return;
      memory.note(
        WHAT,
        file,
        stat,
        Array.from({ length: count }, (_, index) => all[index] ?? null),
      );
    },
  };
}

const WHAT = 'digests';
const DIGEST_LENGTH = 64;

function isSame(one: FileStat | undefined, other: FileStat | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return (
    one.ctimeMs === other.ctimeMs &&
    one.mtimeMs === other.mtimeMs &&
    one.size === other.size &&
    one.inode === other.inode &&
    one.device === other.device
  );
}

/** fail-closed: what is not whole is read from the file again. */
export function draftsFrom(value: unknown): readonly Draft[] | undefined {
  return Array.isArray(value) && value.every(isDraft) ? value : undefined;
}

function isDraft(value: unknown): value is Draft {
  return (
    isRecord(value) &&
    ['kind', 'name', 'text'].every((key) => typeof value[key] === 'string') &&
    [value.way, value.runs].every((list) => Array.isArray(list) && list.every(isText)) &&
    isText(value.value) &&
    typeof value.line === 'number'
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
