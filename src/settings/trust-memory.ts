import type { FileMemory } from '../env/file-memory.js';
import type { FileStat } from '../env/fs.js';
import { sha256 } from '../env/hash.js';
import { isRecord } from '../util/own.js';
import type { Draft } from './trust-types.js';

/**
 * The digests of a file's declarations, in their order. Texts are not kept: settings hold values that
 * may be secret. fail-closed: that a digest is known says nothing about whether anybody accepted it.
 */
export interface Digests {
  /** The known one, or else the one that is made, which is remembered. */
  of(index: number, make: () => string): string;
}

export function openDigests(
  memory: FileMemory,
  read: {
    readonly file: string;
    /** Asked when the first digest is. */
    stat(): FileStat | undefined;
    /** What was read now. */
    readonly text: string;
    /** How many declarations were found in it. */
    readonly count: number;
  },
): Digests {
  let list: RememberedDigests | undefined;
  return {
    of(index, make) {
      list ??= recalled(memory, read);
      const digest = list.digests[index];
      if (typeof digest === 'string' && digest.length === DIGEST_LENGTH) return digest;
      const made = make();
      list.digests[index] = made;
      list.note();
      return made;
    },
  };
}

interface RememberedDigests {
  readonly digests: unknown[];
  /** Has it written down with all that are in it by then. */
  note(): void;
}

function recalled(memory: FileMemory, read: Parameters<typeof openDigests>[1]): RememberedDigests {
  const { file, text, count } = read;
  const stat = read.stat();
  if (stat === undefined) return { digests: [], note: () => undefined };
  // fail-closed: they are those of this text and no other, whatever the file's times say.
  const content = sha256(text);
  const said = memory.recall(WHAT, file, stat);
  const isOfText = isRecord(said) && said.content === content && Array.isArray(said.digests);
  const known = isOfText ? (said.digests as readonly unknown[]) : [];
  const digests = known.length === count ? [...known] : new Array<unknown>(count).fill(null);
  let isNoted = false;
  return {
    digests,
    note() {
      if (!isNoted) memory.note(WHAT, file, stat, { content, digests });
      isNoted = true;
    },
  };
}

const WHAT = 'digests';
const DIGEST_LENGTH = 64;

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
