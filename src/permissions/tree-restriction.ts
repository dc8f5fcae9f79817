import { resolve } from '../env/paths.js';
import { restrictingGit } from './git-restriction.js';
import type { RestrictionMatch } from './restriction-match.js';
import type { Rule } from './rule.js';
import { gitUseOf } from './shell/git-call.js';
import { programOf, type ShellWord, type SimpleCommand } from './shell/model.js';
import type { TreeContext } from './shell/tree-use.js';
import { treesOf } from './shell/trees-of.js';
import { restrictingUses, type TreePlace } from './tree-uses.js';
import { treeBudget } from './tree-walk.js';
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
    const context: TreeContext = {
      fed: command.piped === true || command.input !== '',
      names: (variable) => text.includes(variable),
      mayBeSet: (variable) =>
        text.includes(variable) || view.facts.exported?.().has(variable) === true,
    };
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

/** `env -C dir` and `sudo -D dir` go to a directory before they run anything. */
function directoriesOf(
  { words, directories }: SimpleCommand,
  view: readonly ShellWord[],
): readonly string[] | undefined {
  if (directories === undefined || view === words) return directories;
  const moves = words.flatMap(({ value }, at) => {
    if (/^(-C|-D|--chdir|--cwd|--directory)$/.test(value)) return [words[at + 1]?.value ?? ''];
    const attached = /^(?:-[CD]|--(?:chdir|cwd|directory)=)(.+)$/s.exec(value)?.[1];
    return attached === undefined ? [] : [attached];
  });
  const moved = moves.flatMap((move) => directories.map((one) => resolve(one, move)));
  return [...directories, ...moved];
}
