import type { ShellWord } from './model.js';
import type { TreeUse } from './tree-use.js';

/** What a git command does to the files that git keeps, in the working tree or in its store. */
export interface TrackedUse {
  readonly access: 'read' | 'write';
  /** Operands that are paths where such a path exists, and revisions where not. */
  readonly open: readonly ShellWord[];
  /** A `--` stands behind them: then they are revisions, whatever exists. */
  readonly openAreRevisions?: boolean;
  readonly paths: readonly ShellWord[];
  /** Without a path: everything, or only what is named in another way. */
  readonly scope: 'all' | 'named';
  /** An operand that is decided at run time may be the name of any content. */
  readonly byContent?: true;
  /** Whether only files are touched that differ from what git has. */
  readonly onlyChanged: (given: { revisions: number; paths: number }) => boolean;
}

export interface GitUse {
  /** Directories of `-C`. */
  readonly moves: readonly string[];
  /** An option that leads it to another repository. */
  readonly elsewhere?: string;
  readonly tracked: readonly TrackedUse[];
  /** What it goes through on the disk. */
  readonly trees: readonly TreeUse[];
  /** What it goes through outside of any repository. */
  readonly outside: readonly TreeUse[];
}
