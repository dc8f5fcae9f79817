import { wordSet } from '../../lib/patterns/word-set.js';
import { rowOf } from './effects/uses.js';
import { EDITS_IN_PLACE, takesText } from './file-commands.js';
import { programOf, type ShellWord } from './model.js';
import { isForeign } from './runners/foreign-code.js';
import { LAUNCHERS, SHELLS, WRAPPERS } from './runners/tables.js';

/** Builtins that change the shell and no file. */
const BUILTINS = wordSet(
  `. alias bg bind break builtin caller case cd compgen complete continue declare dirs disown enable
  eval exec export fc fg getopts hash help jobs kill let local logout mapfile popd pushd read readarray
  readonly return set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait`,
);

/**
 * Whether no table says what the program does with the files that it is given: then it may write them. Of words
 * that only may be a program, those count that look like a name.
 */
export function isUnknownProgram(words: readonly ShellWord[]): boolean {
  const program = programOf(words) ?? '';
  if (!/^[A-Za-z_][\w.+-]*$/.test(program) || takesText(words)) return false;
  const row = rowOf(words);
  const isModelled = row !== undefined && row.partial !== true;
  const runsOthers = WRAPPERS.has(program) || LAUNCHERS.has(program) || SHELLS.has(program);
  const isListed = BUILTINS.has(program) || EDITS_IN_PLACE.test(program);
  return !isModelled && !runsOthers && !isListed && !isForeign(words);
}
