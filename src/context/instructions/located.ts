import type { InstructionScope, SkippedInstruction } from './types.js';

/** A file to look for. */
export interface Wanted {
  readonly path: string;
  readonly scope: InstructionScope;
  /** Resolved directories that it may lie in without a question; absent: anywhere. */
  readonly within?: readonly string[];
  /** The file that includes it. */
  readonly parent?: string;
  /** Above the project, where others may be at home. */
  readonly aboveProject?: boolean;
  /** Its directory behind all links, where that directory's list has just named it. */
  readonly realDirectory?: string;
  /** In a folder that the session came to later. */
  readonly nested?: boolean;
}

/** A regular file that may be read. */
export interface Located {
  readonly wanted: Wanted;
  readonly real: string;
  /** Changes whenever the content does. */
  readonly stamp: string;
  readonly bytes: number;
  /** It is not shown, and why; what it enforces holds all the same. */
  readonly hidden?: SkippedInstruction;
}

/** `absent`: nothing of that name. */
export type Sought = Located | SkippedInstruction | 'absent';
