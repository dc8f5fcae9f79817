import { ANY_DEPTH, namesOf, type PathPattern } from '../permissions/rules/path-pattern.js';
import type { Rule } from '../permissions/rules/rule.js';
import { matches } from '../permissions/rules/wildcard.js';

/** Whether a path rule may cover something in a directory for this access. */
export function ruleInside(
  { spec }: Rule,
  { directory, access }: { readonly directory: string; readonly access: 'read' | 'write' },
): boolean {
  // What may not be read may not be written either.
  if (spec.kind !== 'path' || (spec.access === 'write' && access === 'read')) return false;
  const patterns = [spec.pattern, ...(spec.also === undefined ? [] : [spec.also])];
  return patterns.some((pattern) => reachesInto(pattern, directory));
}

/** Whether the names on the way to the directory are the first that the pattern asks for. */
function reachesInto({ anchor, segments, folded }: PathPattern, directory: string): boolean {
  const wanted = [...anchor, ...segments];
  for (const [at, name] of namesOf(directory, folded).entries()) {
    const segment = wanted[at];
    // It ends above the directory, or says nothing about how deep it lies.
    if (segment === undefined || segment === ANY_DEPTH) return true;
    const fits = typeof segment === 'string' ? segment === name : matches(segment, name);
    if (!fits) return false;
  }
  return true;
}
