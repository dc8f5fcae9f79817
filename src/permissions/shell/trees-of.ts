import { own } from '../../lib/own.js';
import { programOf, type ShellWord } from './model.js';
import { CHANGING_PROGRAMS } from './tree-change.js';
import { COMPRESSING_PROGRAMS } from './tree-compress.js';
import { COPYING_PROGRAMS } from './tree-copy.js';
import { PACKING_PROGRAMS } from './tree-pack.js';
import { SEARCHING_PROGRAMS } from './tree-search.js';
import { TRANSFERRING_PROGRAMS } from './tree-transfer.js';
import type { TreeContext, TreeProgram, TreeUse } from './tree-use.js';

export const PROGRAMS: Readonly<Record<string, TreeProgram>> = {
  ...SEARCHING_PROGRAMS,
  ...PACKING_PROGRAMS,
  ...COPYING_PROGRAMS,
  ...COMPRESSING_PROGRAMS,
  ...TRANSFERRING_PROGRAMS,
  ...CHANGING_PROGRAMS,
};

/** The trees that a command goes through; programs that are not in the tables go through none. */
export function treesOf(words: readonly ShellWord[], context: TreeContext): readonly TreeUse[] {
  // Some systems take `GREP` for `grep`.
  const name = programOf(words)?.toLowerCase() ?? '';
  return own(PROGRAMS, name)?.(words.slice(1), context, name) ?? [];
}
