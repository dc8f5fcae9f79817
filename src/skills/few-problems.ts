import type { SkillProblem } from './skill.js';

/** More than anybody corrects at once: a head may hold as many unknown fields as it has room for. */
const MOST = 20;

/** The first of them, all that are about a field that counts, and how many more there are. */
export function fewProblems(problems: readonly SkillProblem[]): readonly SkillProblem[] {
  if (problems.length <= MOST) return problems;
  const shown = problems.filter(({ field }, index) => index < MOST || field !== undefined);
  const rest = problems.length - shown.length;
  return rest === 0 ? shown : [...shown, { message: `and ${rest} more problems in its head` }];
}
