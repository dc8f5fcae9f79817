import type { ConfigProblem, SourcedRule } from '../../settings/types.js';
import type { LoadResult } from '../instructions/load-result.js';
import type { Entry, Fitting, Place, SkippedInstruction } from '../instructions/types.js';
import { type EnforcedRules, enforcedRules, type LocateJson } from './enforced.js';

/** Restrictions, and which of them hold only for some files. */
export interface FoundRules extends EnforcedRules {
  /** Of a rule that is not named here: it holds wherever its file counts. */
  readonly when: ReadonlyMap<SourcedRule, Fitting>;
}

/** Restrictions in the files on the way to some paths. */
export interface NearRules extends FoundRules {
  /** These paths, also as the files see them. */
  readonly paths: readonly string[];
}

/** What these files enforce. */
export function enforcedIn(
  entries: readonly Entry[],
  locateJson: LocateJson,
  { enforced, skipped }: Pick<LoadResult, 'enforced' | 'skipped'>,
): FoundRules {
  const found = { deny: [] as SourcedRule[], ask: [] as SourcedRule[] };
  const problems: ConfigProblem[] = [
    ...(enforced?.givenUp ?? []).flatMap(givenUpProblem),
    ...skipped.flatMap(shutProblem),
  ];
  const when = new Map<SourcedRule, Fitting>();
  for (const { place, source, line, when: fitting } of entries) {
    const { scope, path, base } = place;
    // What a model wrote down for itself binds nobody.
    if (scope === 'memory' || scope === 'team') continue;
    const file = { path, text: source, source: scope, root: base };
    const rules = enforcedRules(line === undefined ? file : { ...file, line }, locateJson);
    found.deny.push(...rules.deny);
    found.ask.push(...rules.ask);
    problems.push(...rules.problems);
    if (fitting === undefined) continue;
    for (const rule of [...rules.deny, ...rules.ask]) when.set(rule, fitting);
  }
  return { problems, when, ...found };
}

function shutProblem({ mayRestrict, scope, path, reason }: SkippedInstruction): ConfigProblem[] {
  if (mayRestrict !== true || scope === 'memory' || scope === 'team') return [];
  const message = `it cannot be read, so that restrictions in it may be missed: ${reason}.`;
  const remedy = 'Make it readable, or take it away.';
  return [{ severity: 'fatal', source: scope, file: path, message, remedy }];
}

function givenUpProblem({
  place,
  reason,
}: {
  place: Place;
  reason: string;
}): readonly ConfigProblem[] {
  const { scope, path } = place;
  if (scope === 'memory' || scope === 'team') return [];
  const message = `${reason}, so that restrictions in them may be missed.`;
  return [
    { severity: 'fatal', source: scope, file: path, message, remedy: 'Include fewer files.' },
  ];
}
