import type { Rendering } from './render/refusal.js';

/** A word of a command line, as far as it is known before the shell runs. */
export interface ShellWord {
  /** What the shell makes of it. When it is not literal: the part in front of what is not known. */
  readonly value: string;
  /** False when the word, or the number of words it becomes, is decided at run time. */
  readonly literal: boolean;
  /** For a word with unquoted wildcards: the pattern, special characters of its quoted parts escaped. */
  readonly pattern?: string;
  /** As written. */
  readonly raw: string;
  /** The shell makes it, and perhaps others, of a word with braces: restrictions go by it, grants do not. */
  readonly braced?: true;
}

export interface ShellRedirection {
  /** `none`: another descriptor, or text from the command line itself. */
  readonly access: 'read' | 'write' | 'none';
  readonly target?: ShellWord;
}

/** Where shell code begins to run. */
export interface ShellPlace {
  readonly cwd: string;
  readonly home: string;
}

/** One command that the shell would run, with what surrounds it. */
export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  readonly assignments: readonly { readonly name: string; readonly value: ShellWord }[];
  readonly redirections: readonly ShellRedirection[];
  /** Inside `( … )` or `{ … }`: found like any other, but no rule for single commands opens it. */
  readonly grouped: boolean;
  /** Where it may run; undefined when that is not known. */
  readonly directories: readonly string[] | undefined;
  readonly raw: string;
  /** Text that the command line gives to it: here-documents and here-strings. */
  readonly input: string;
  /** The words `time` and `time -p` in front of it, which belong to the language: for restrictions. */
  readonly timed?: readonly ShellWord[];
  /** What the command in front of it writes is its input. */
  readonly piped?: true;
  /** A structure around it has an input, which it reads as well. */
  readonly inherits?: true;
  /** The command whose output is its only input, where that is a single one. */
  readonly fedBy?: SimpleCommand;
  /**
   * The words again, and what they run when they name a program that runs another (`sudo`, `env`,
   * `find -exec`): for restrictions, which look through disguises. The last words of a view whose
   * arguments come from elsewhere are a word that is not literal.
   */
  readonly views: readonly (readonly ShellWord[])[];
}

/** A word of a command that names what is moved or copied, and where the command runs. */
export interface CarriedFile {
  readonly directory: string;
  readonly source: ShellWord;
}

export interface ShellReading {
  /** Every command that was found, those inside substitutions and `sh -c` strings too. */
  readonly commands: readonly SimpleCommand[];
  /** Why there may be commands that were not found. Restrictions cannot be decided then. */
  readonly opaque?: string;
  /** Why no grant for single commands covers the whole, though all commands are known. */
  readonly complex?: string;
  /** What it moves or copies to a place that it then goes through. */
  readonly carried?: readonly CarriedFile[];
  /** The canonical form of the code, which runs in its place; absent where it was not read at all. */
  readonly rendering?: Rendering;
}

/** A word of our own making. */
export function literalWord(value: string): ShellWord {
  return { value, literal: true, raw: value };
}

export const UNKNOWN_WORD: ShellWord = { value: '', literal: false, raw: '' };

/** An expansion outside quotes, which may become any number of words. */
export function maySplit({ literal, raw }: ShellWord): boolean {
  return !literal && /[$`{]/.test(raw.replace(/'[^']*'|"(?:\\.|[^"\\])*"/gs, ''));
}

/** The command's name, or undefined when it is decided at run time. */
export function nameOf(words: readonly ShellWord[]): string | undefined {
  const [first] = words;
  return first?.literal === true && first.pattern === undefined ? first.value : undefined;
}

/** The last segment of a program's path. */
export function programOf(words: readonly ShellWord[]): string | undefined {
  const name = nameOf(words);
  const cut = name?.lastIndexOf('/') ?? -1;
  return cut === -1 ? name : name?.slice(cut + 1);
}

/** What code within other code takes over from it. */
export interface OuterCode {
  readonly depth: number;
  readonly assigned: ReadonlySet<string>;
  /** Whether it may run in another directory than the first one. */
  readonly moved: boolean;
}

export const OUTERMOST: OuterCode = { depth: 0, assigned: new Set(), moved: false };
