import { GIT_LOOKS } from '../../git/subcommands.js';
import { type Effect, reads, unknown } from '../effects/effect.js';
import { custom, effectsOfProgram, type Program } from '../effects/program.js';
import type { ShellWord } from '../model.js';

/** Behind an option the first operand would mean something else: `git stash -m show` stashes. */
const LEADS = new Set(['stash', 'worktree']);

function effectsOfGit(words: readonly ShellWord[]): readonly Effect[] {
  const [first, ...rest] = words;
  const name = first?.literal === true && first.pattern === undefined ? first.value : '';
  if (name === '--version' && rest.length === 0) return [];
  const doubts: Effect[] = words
    .filter(({ literal, pattern }) => !literal || pattern !== undefined)
    .map((word) => unknown('word', word));
  const row = Object.hasOwn(GIT_LOOKS, name) ? GIT_LOOKS[name] : undefined;
  // Options in front of the subcommand change the repository, its configuration or its pager.
  if (row === undefined) {
    return [...doubts, unknown('subcommand', first), ...rest.map((word) => reads(word))];
  }
  const isBehind = LEADS.has(name) && (rest[0]?.value ?? '-').startsWith('-');
  return [
    ...doubts,
    ...(isBehind ? [unknown('operand', rest[0])] : []),
    ...effectsOfProgram(row, rest),
  ];
}

export const GIT: Program = custom(effectsOfGit, {
  facts: {
    runsAfter: /^(run|foreach)$/,
    runsOption: { next: /^-x$/ },
    subcommands: {
      groups: /^(notes|remote|stash|worktree)$/,
      runs: /^(bisect|config|filter-branch|submodule)$/,
    },
  },
});
