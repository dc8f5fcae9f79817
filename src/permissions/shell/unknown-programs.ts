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
 * The command of a program of which no table says what it does with the files that it is given: then it may write
 * them. Of words that only may be a program, those count that look like a name.
 */
export function unknownProgram(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const program = programOf(words) ?? '';
  if (!/^[A-Za-z_][\w.+-]*$/.test(program) || takesText(words)) return undefined;
  if (isForeign(words)) return scriptOf(words);
  const row = rowOf(words);
  const isModelled = row !== undefined && row.partial !== true;
  const runsOthers = WRAPPERS.has(program) || LAUNCHERS.has(program) || SHELLS.has(program);
  const isListed = BUILTINS.has(program) || EDITS_IN_PLACE.test(program);
  return isModelled || runsOthers || isListed ? undefined : words;
}

const RUNS_SCRIPTS =
  /^(python[\d.]*|pypy3?|perl|ruby|node|nodejs|deno|bun|php|lua\w*|tclsh\d*|Rscript|tsx|ts-node)$/;

/** The script that an interpreter runs, and what that is given. */
function scriptOf(words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  if (!RUNS_SCRIPTS.test(programOf(words) ?? '')) return undefined;
  const operand = words.findIndex(({ value }, at) => at > 0 && !value.startsWith('-'));
  const options = words.slice(1, operand === -1 ? undefined : operand);
  const isInline = options.some(({ value }) =>
    /^-(-?(eval|print)|[a-zA-Z0]*[ceEpnrm])/.test(value),
  );
  return operand === -1 || isInline ? undefined : words.slice(operand);
}
