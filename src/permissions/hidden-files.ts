import { restrictingPath } from './path-restriction.js';
import { createPathJudge, type PathFileSystem } from './paths.js';
import type { RuleSet } from './rule.js';
import { indexOf } from './rule-index.js';
import type { WorkingTrees } from './working-trees.js';

/** Whether a file that a search has found may not be shown, because a rule denies or asks about reading it. */
export type IsHidden = (path: string) => Promise<boolean>;

/** Undefined when no rule speaks of paths, so that nothing needs to be looked at. */
export function hiddenBy(
  rules: RuleSet,
  place: {
    readonly fs: PathFileSystem;
    readonly roots: readonly string[];
    readonly home: string;
    readonly trees?: WorkingTrees;
  },
): IsHidden | undefined {
  const lists = [rules.deny, rules.ask].filter((list) => !indexOf(list).paths.isEmpty);
  if (lists.length === 0) return undefined;
  const judge = createPathJudge(place.fs, place);
  return async (path) => {
    const touched = [{ access: 'read' as const, spellings: await judge.spell(path) }];
    return lists.some((list) => restrictingPath(list, touched) !== undefined);
  };
}
