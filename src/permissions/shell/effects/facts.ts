/** What is known of a program besides the effects of its words. */
export interface ProgramFacts {
  /** Other names of it, without a version: `cc` for `gcc`. */
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
}

/** Files of a project, in the directory or above; `says`: only with such a text in them. */
export interface ProjectChoice {
  readonly files: readonly string[];
  readonly says?: RegExp;
}

export interface SubcommandFacts {
  /** How many words name one; 1 unless stated. */
  readonly words?: 1 | 2;
  /** First words that only name a group: one word more says what is done. */
  readonly groups?: RegExp;
  /** Subcommands that run what they are given, or that choose what others run. */
  readonly runs?: RegExp;
}
