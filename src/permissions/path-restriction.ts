import type { PathSpellings } from './paths.js';
import type { Rule } from './rule.js';
import { coversPath, pathRulesIn } from './rule-index.js';
import type { TouchedPath } from './view.js';

/** What may not be read may not be written either. */
export function restrictingPath(
  rules: readonly Rule[],
  touched: readonly TouchedPath[],
): Rule | undefined {
  const relevant = pathRulesIn(rules);
  for (const { access, spellings } of touched) {
    for (const spelling of restrictedNames(spellings)) {
      const found = relevant.find(
        ({ spec }) => (spec.access === 'read' || access === 'write') && coversPath(spec, spelling),
      );
      if (found !== undefined) return found.rule;
    }
  }
  return undefined;
}

/** Every name by which a restriction may cover a path. */
export function restrictedNames({
  literal,
  resolved,
  standsFor,
}: PathSpellings): readonly string[] {
  const isAlone = standsFor === undefined || standsFor.length === 0;
  if (isAlone && resolved.length === 1 && resolved[0] === literal) return resolved;
  return [...new Set([literal, ...resolved, ...(standsFor ?? [])])];
}
