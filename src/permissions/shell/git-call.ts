import { memoised } from '../../lib/memo.js';
import { own } from '../../lib/own.js';
import { GIT_SUBCOMMANDS } from './git-subcommands.js';
import type { GitUse } from './git-use.js';
import type { ShellWord } from './model.js';

const NONE = { tracked: [], trees: [], outside: [] };
const WITH_VALUE =
  /^--(git-dir|work-tree|exec-path|namespace|super-prefix|config-env|attr-source)$/;
const ELSEWHERE = /^--(git-dir|work-tree|bare|namespace)(=|$)/;
/** They change what a path on the command line means. */
const OTHER_PATHS = /^--(literal|glob|noglob|icase)-pathspecs$/;

/** Undefined when the command has no subcommand that is known to take files in. */
export const gitUseOf = memoised(useOf);

function useOf(words: readonly ShellWord[]): GitUse | undefined {
  const moves: string[] = [];
  let elsewhere: string | undefined;
  for (let at = 1; at < words.length; at++) {
    const value = words[at]?.value ?? '';
    if (value === '-C') moves.push(words[++at]?.value ?? '');
    else if (value === '-c' || WITH_VALUE.test(value)) at++;
    if (ELSEWHERE.test(value) || OTHER_PATHS.test(value)) elsewhere ??= value;
    if (value.startsWith('-') || words[at] === undefined) continue;
    if (words[at]?.value !== value) continue;
    const use = own(GIT_SUBCOMMANDS, value)?.(words.slice(at + 1));
    if (use === undefined) return undefined;
    return { ...NONE, ...use, moves, elsewhere };
  }
  return undefined;
}
