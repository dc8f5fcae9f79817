import { resolve } from '../../platform/fs/paths.js';
import type { CallView } from '../gate/view.js';
import { restrictingGit } from '../git/restriction.js';
import { gitUseOf } from '../git/subcommands.js';
import { restrictedNames } from '../rules/list.js';
import type { RestrictionMatch, Rule } from '../rules/rule.js';
import type { CommandContext } from '../shell/effects/recursion.js';
import type { TreeUse } from '../shell/effects/trees.js';
import { treesOf } from '../shell/effects/uses.js';
import { programOf, type ShellWord } from '../shell/model.js';
import { contextOf, restrictingUses, surest, type TreePlace, treeLook } from './tree-uses.js';

type Match = RestrictionMatch | undefined;

/**
 * A restriction on a path that exists below a directory which a command goes through by itself. What
 * is there decides, so nothing changes where no such file is.
 */
export async function restrictingTree(rules: readonly Rule[], view: CallView): Promise<Match> {
  return await surest(matchesIn(rules, view));
}

async function* matchesIn(rules: readonly Rule[], view: CallView): AsyncGenerator<Match> {
  const look = treeLook(view);
  for (const command of (await view.shell())?.commands ?? []) {
    const context = contextOf(command, view);
    const place = { rules, view, look, directories: command.directories };
    for (const words of command.views) yield restrictingWords(words, place, context);
  }
}

async function restrictingWords(
  words: readonly ShellWord[],
  place: TreePlace,
  context: CommandContext,
): Promise<Match> {
  if (programOf(words)?.toLowerCase() === 'git') {
    const use = gitUseOf(words);
    return use === undefined ? undefined : await restrictingGit(use, place, context);
  }
  return await restrictingUses(treesOf(words, context), place);
}

/** A directory, or a file, that a call takes in with all that is in it. */
export interface TakenDirectory {
  readonly access: 'read' | 'write';
  /** Under all its names. */
  readonly paths: readonly string[];
}

/** What the commands of a call go through by themselves, whatever is there. */
export async function takenDirectories(view: CallView): Promise<readonly TakenDirectory[]> {
  const found: TakenDirectory[] = [];
  for (const command of (await view.shell())?.commands ?? []) {
    const context = contextOf(command, view);
    for (const words of command.views) {
      const directories = command.directories ?? [view.call.workspace.cwd];
      for (const start of startsOf(words, context)) {
        found.push(...(await taken(start, directories, view)));
      }
    }
  }
  return found;
}

/** Where a command begins to go through directories. */
type TreeStart = Pick<TreeUse, 'start' | 'moves'> & Pick<TakenDirectory, 'access'>;

/** Git as a whole is left to those who know which files it keeps; here it takes what is named. */
export function startsOf(
  words: readonly ShellWord[],
  context: CommandContext,
): readonly TreeStart[] {
  const accessOf = ({ access }: Pick<TreeUse, 'access'>): TakenDirectory['access'] =>
    access === 'read' ? 'read' : 'write';
  if (programOf(words)?.toLowerCase() !== 'git') {
    return treesOf(words, context).map((use) => ({ ...use, access: accessOf(use) }));
  }
  const use = gitUseOf(words);
  if (use === undefined) return [];
  const named = use.tracked.flatMap(({ access, open, paths }) =>
    [...open, ...paths].map((start) => ({ access, start })),
  );
  return [...named, ...use.trees, ...use.outside].map((one) => ({
    access: accessOf(one),
    start: one.start,
    moves: use.moves,
  }));
}

async function taken(
  { access, start, moves = [] }: TreeStart,
  directories: readonly string[],
  { judge }: CallView,
): Promise<readonly TakenDirectory[]> {
  if (!start.literal) return [];
  const found: TakenDirectory[] = [];
  for (const directory of directories) {
    const from = moves.reduce((at, move) => resolve(at, move), directory);
    const { pattern, value } = start;
    const names = pattern === undefined ? [value] : await judge.expand(from, pattern);
    for (const name of names ?? []) {
      const spelled = await judge.spellFrom(from, name);
      found.push({
        access: access === 'read' ? access : 'write',
        paths: [...new Set(spelled.flatMap(restrictedNames))],
      });
    }
  }
  return found;
}
