import type { ShellWord } from '../model.js';
import type { Recursion, TreeTarget } from './recursion.js';

/** Something that a command does, or may do, besides printing. */
export type Effect =
  | PathEffect
  | RunEffect
  /** The text is read as code by a shell. */
  | { readonly kind: 'shell'; readonly code: ShellWord }
  /** The text is code of another language. */
  | { readonly kind: 'code'; readonly text: ShellWord }
  | { readonly kind: 'network' }
  /** It changes the shell that runs it: its directory, its variables, what its words mean. */
  | { readonly kind: 'shell-state'; readonly what: 'directory' | 'other' }
  | UnknownEffect;

export interface PathEffect {
  readonly kind: 'path';
  readonly access: 'read' | 'write' | 'delete';
  /** Relative to the command's directory, after `moves`. */
  readonly target: ShellWord;
  /** Directories that the program changes to first: `tar -C dir`. */
  readonly moves?: readonly ShellWord[];
  /** It goes through all that lies below. */
  readonly recursion?: Recursion;
  /** Where what is read is written to again. */
  readonly onto?: TreeTarget | undefined;
}

interface RunEffect {
  readonly kind: 'run';
  readonly words: readonly ShellWord[];
  /** Where further arguments come from. */
  readonly fed?: 'input' | 'found-files';
}

/** What the model cannot tell. It never disappears: a grant needs its absence. */
export interface UnknownEffect {
  readonly kind: 'unknown';
  readonly why: UnknownReason;
  readonly word?: ShellWord;
}

export type UnknownReason =
  /** The table has no row for the program, or its name is decided at run time. */
  | 'program'
  | 'subcommand'
  | 'option'
  /** More operands than the row knows, or of another form. */
  | 'operand'
  /** A word that is decided at run time, or a wildcard that may become an option. */
  | 'word'
  /** A relative path and no known directory. */
  | 'directory'
  /** Code that cannot be followed, or a file of names. */
  | 'script'
  | 'assignment'
  | 'depth';

export function unknown(why: UnknownReason, word?: ShellWord): UnknownEffect {
  return word === undefined ? { kind: 'unknown', why } : { kind: 'unknown', why, word };
}

export function reads(target: ShellWord, recursion?: Recursion): PathEffect {
  return path('read', target, recursion);
}

export function writes(target: ShellWord, recursion?: Recursion): PathEffect {
  return path('write', target, recursion);
}

export function deletes(target: ShellWord, recursion?: Recursion): PathEffect {
  return path('delete', target, recursion);
}

function path(
  access: PathEffect['access'],
  target: ShellWord,
  recursion: Recursion | undefined,
): PathEffect {
  const effect = { kind: 'path', access, target } as const;
  return recursion === undefined ? effect : { ...effect, recursion };
}
