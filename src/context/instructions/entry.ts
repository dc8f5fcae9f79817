import type { Located, Wanted } from './reader.js';
import type { LoadedInstruction, LoadReason } from './types.js';

/** A file with a meaning by its place. */
export interface Place extends Wanted {
  readonly kind: LoadedInstruction['kind'];
  /** The directory that it speaks for: the one with `.claude` in it, or the one that it lies in. */
  readonly base: string;
  /** Resolved directories that it may include from without a question; absent: anywhere. */
  readonly includesWithin?: readonly string[];
  /** A text that stands already elsewhere is not shown again. */
  readonly onceByContent?: boolean;
}

/** Why and how a file is taken. */
export interface Taking {
  readonly reason: LoadReason;
  /** The file whose use made it load. */
  readonly trigger?: string;
  /** It counts only for files that these patterns fit. */
  readonly when?: Fitting;
  /** Includes keep this reason instead of their own. */
  readonly reasonForAll?: boolean;
}

/** A file that is shown, with what is needed to look at it again. */
export interface Entry {
  readonly instruction: LoadedInstruction;
  readonly place: Place;
  readonly located: Located;
  /** Lines as in the file, those of the head empty; nothing for programs and data. */
  readonly source: string;
  /** 0 for a file that nobody includes. */
  readonly depth: number;
  /** Of a text that stands on one line of another file. */
  readonly line?: number;
  /** It counts only for files that these patterns fit. */
  readonly when?: Fitting;
}

/** Patterns that say for which files something counts. */
export interface Fitting {
  readonly globs: readonly string[];
  /** Takes an absolute path. */
  fits(path: string): boolean;
}

/** A rule that waits for a file that its patterns fit. */
export interface WaitingRule extends Fitting {
  readonly place: Place;
  readonly real: string;
}
