import { type OptionTable, optionTable } from './options.js';

/** What is known of a program besides the effects of its words. */
export interface ProgramFacts {
  /** Other names of it, in small letters and without a version: `cc` for `gcc`. */
  readonly aliases?: RegExp;
  /** Its first words say what is done; rules are suggested for one of these at a time. */
  readonly subcommands?: SubcommandFacts;
  /** It runs whatever its arguments name. */
  readonly runsAnything?: true;
  /** It runs programs out of images. */
  readonly runsImages?: true;
  /** No rule for all its calls is suggested: they remove, replace or send away what they name. */
  readonly destroys?: true;
  /** Files by which a project makes it start, or download and start, another program. */
  readonly chosenBy?: ProjectChoice;
  readonly shell?: true;
  /** It runs the program that its arguments name, here and now. */
  readonly wraps?: WrapperFacts;
  /** The same in a place or with arguments of its own: only restrictions look through it. */
  readonly launches?: true;
  /** It runs a program for each file that it finds. */
  readonly finds?: true;
  /** A word with a command behind it. */
  readonly runsAfter?: RegExp;
  readonly runsOption?: RunningOptions;
  /** A builtin that changes the shell and no file. */
  readonly builtin?: true;
  /** It evaluates names that it is given. */
  readonly names?: true;
  /** It changes what commands after it mean: a rule must name it, or, with `whole`, the command as a whole. */
  readonly steers?: true | 'whole';
  readonly hazards?: Hazards;
  /** With such arguments it runs code or prints a secret, though it looks harmless: the whole must be allowed. */
  readonly wholeOnly?: RegExp;
  /** It reads code of another language: files are named in quotes, without them, or by commands of its own. */
  readonly interprets?: 'quoted' | 'bare' | 'database' | 'transfers';
  readonly runsInput?: InputFacts;
  /** With such a word it changes the files that it is given. */
  readonly editsWith?: RegExp;
  /** All that it is given is text. */
  readonly takesText?: true;
  /** Whether it opens the files that its operands name, where its form does not say so. */
  readonly opens?: boolean;
  /** `--exclude` names what it leaves out. */
  readonly leavesOut?: true;
}

export interface SubcommandFacts {
  /** How many words name one; 1 unless stated. */
  readonly words?: 1 | 2;
  /** First words that only name a group: one word more says what is done. */
  readonly groups?: RegExp;
  /** Subcommands that run what they are given, or that choose what others run. */
  readonly runs?: RegExp;
}

/** Files of a project, in the directory or above; `says`: only with such a text in them. */
export interface ProjectChoice {
  readonly files: readonly string[];
  readonly says?: RegExp;
}

export interface WrapperFacts {
  /** A word of its own stands in front of the program: a lock, a root, a user. */
  readonly operand?: true;
  /** Letters of options without a value. */
  readonly flags?: string;
  /** It adds arguments from its input. */
  readonly feeds?: true;
}

/** Options whose value is run as a command. */
export interface RunningOptions {
  /** The value is the next word. */
  readonly next?: RegExp;
  /** The value is what the group matches. */
  readonly attached?: RegExp;
  /** As the first word, without a dash: any further word may be the value. */
  readonly leading?: RegExp;
}

/** It runs commands from its input, unless a file or code is given instead. */
export interface InputFacts {
  /** Only with such a word it reads its input. */
  readonly when?: RegExp;
  /** Any operand is the file to run. */
  readonly bare?: true;
  /** Options that give code instead. */
  readonly unless?: RegExp;
  /** Only such text in its input starts a program, or reaches other files. */
  readonly reaching?: RegExp;
}

/**
 * Words with which the program runs another one, reads its own code from elsewhere, writes a file or leaves the
 * place it works in. A rule for the beginning of a command covers them only when it spells them out.
 */
export interface Hazards {
  /** Abbreviations of long options count too, and letters inside a cluster. */
  readonly options: OptionTable;
  readonly words?: RegExp | undefined;
  /** Any other word, by those around it. */
  readonly also?: ((word: string, at: number, words: readonly string[]) => boolean) | undefined;
  /** Behind the first operand stands the command of another program. */
  readonly inner?: true;
}

export function hazards(
  options: string,
  words?: RegExp,
  more?: Pick<Hazards, 'also' | 'inner'>,
): Hazards {
  return { options: optionTable(options), words, ...more };
}
