import { treeBudget } from './budget.js';
import { restrictingGit } from './git-restriction.js';
import type { RestrictionMatch } from './restriction-match.js';
import type { Rule } from './rule.js';
import { gitUseOf } from './shell/git-call.js';
import { programOf, type ShellWord } from './shell/model.js';
import type { TreeContext } from './shell/tree-use.js';
import { treesOf } from './shell/trees-of.js';
import { contextOf, directoriesOf } from './tree-context.js';
import { restrictingUses, type TreePlace } from './tree-uses.js';
import type { CallView } from './view.js';

type Match = RestrictionMatch | undefined;

/**
 * A restriction on a path that exists below a directory which a command goes through by itself. What
 * is there decides, so nothing changes where no such file is.
 */
export async function restrictingTree(rules: readonly Rule[], view: CallView): Promise<Match> {
  const { commands = [] } = (await view.shell()) ?? {};
  const text = view.call.subject.command ?? '';
  const elevated = /\b(?:sudo|doas|su|pkexec|run0)\b/.test(text);
  const look = { judge: view.judge, home: view.home, budget: treeBudget(), elevated };
  let possible: Match;
  for (const command of commands) {
    const context = contextOf(command, view);
    for (const words of command.views) {
      const directories = directoriesOf(command, words);
      const place = { rules, view, look, directories };
      const found = await restrictingWords(words, place, context);
      if (found?.sure === 'yes') return found;
      possible ??= found;
    }
  }
  return possible;
}

async function restrictingWords(
  words: readonly ShellWord[],
  place: TreePlace,
  context: TreeContext,
): Promise<Match> {
  if (programOf(words)?.toLowerCase() === 'git') {
    const use = gitUseOf(words);
    return use === undefined ? undefined : await restrictingGit(use, place, context);
  }
  return await restrictingUses(treesOf(words, context), place);
}
