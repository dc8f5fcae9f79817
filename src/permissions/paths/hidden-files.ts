import { Budget } from '../gate/budget.js';
import { hasPathRules, restrictingPath, rulesForTool } from '../rules/list.js';
import type { RuleSet } from '../rules/rule.js';
import { withLinkedPlaces } from './linked-places.js';
import { createPathJudge, type PathFileSystem, type PathJudge } from './paths.js';
import type { WorkingTrees } from './working-trees.js';

/** Whether a file that a search has found may not be shown, because a rule denies or asks about reading it. */
export type IsHidden = (path: string) => Promise<boolean>;

/**
 * Whether rules speak against every call of Read. What other files bring in is then not shown either;
 * searches have rules of their own.
 */
export function keepsFromReading({ deny, ask }: Pick<RuleSet, 'deny' | 'ask'>): boolean {
  return [deny, ask].some((list) => rulesForTool(list, READ).any !== undefined);
}

const READ = ['Read'];

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
  const lists = [rules.deny, rules.ask].filter((list) => hasPathRules(list));
  if (lists.length === 0) return undefined;
  // A search may find any number of files, and each is looked at.
  const budget = new Budget(Number.POSITIVE_INFINITY);
  const judgeOnce = async (): Promise<PathJudge> => {
    const trees = await withLinkedPlaces(place.trees, rules, place.fs);
    return createPathJudge(place.fs, { ...place, trees, budget });
  };
  const twinsOnce = async (judge: PathJudge) => {
    const { readRestrictedTwins } = await import('./hard-links.js');
    const bases = [...place.roots, place.home, '/'];
    return await readRestrictedTwins(lists, { judge, bases });
  };
  let judging: Promise<PathJudge> | undefined;
  let twins: ReturnType<typeof twinsOnce> | undefined;
  return async (path) => {
    judging ??= judgeOnce();
    const judge = await judging;
    const spellings = await judge.spell(path);
    const touched = [{ access: 'read' as const, spellings }];
    if (lists.some((list) => restrictingPath(list, touched, judge.budget) !== undefined))
      return true;
    const file = await judge.manyNamed(spellings);
    if (file === undefined) return false;
    twins ??= twinsOnce(judge);
    const isTwin = (await twins)(file);
    // fail-closed: a second name that could not be told may be a kept one's. Package managers link all
    // that they bring, and those would be lost in every search.
    return isTwin === 'yes' || (isTwin === 'maybe' && !/[/\\]node_modules[/\\]/.test(path));
  };
}
