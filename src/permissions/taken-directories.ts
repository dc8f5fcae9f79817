import { resolve } from '../platform/fs/paths.js';
import { restrictedNames } from './path-restriction.js';
import { gitUseOf } from './shell/git-call.js';
import { programOf, type ShellWord } from './shell/model.js';
import type { TreeContext, TreeUse } from './shell/tree-use.js';
import { treesOf } from './shell/trees-of.js';
import { contextOf, directoriesOf } from './tree-context.js';
import type { CallView } from './view.js';

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
      const directories = directoriesOf(command, words) ?? [view.call.workspace.cwd];
      for (const start of startsOf(words, context)) {
        found.push(...(await taken(start, directories, view)));
      }
    }
  }
  return found;
}

/** Where a command begins to go through directories. */
export type TreeStart = Pick<TreeUse, 'access' | 'start' | 'moves'>;

/** Git as a whole is left to those who know which files it keeps; here it takes what is named. */
export function startsOf(words: readonly ShellWord[], context: TreeContext): readonly TreeStart[] {
  if (programOf(words)?.toLowerCase() !== 'git') return treesOf(words, context);
  const use = gitUseOf(words);
  if (use === undefined) return [];
  const named = use.tracked.flatMap(({ access, open, paths }) =>
    [...open, ...paths].map((start) => ({ access, start })),
  );
  return [...named, ...use.trees, ...use.outside].map(({ access, start }) => ({
    access,
    start,
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
      found.push({ access, paths: [...new Set(spelled.flatMap(restrictedNames))] });
    }
  }
  return found;
}
