import type { ConfigProblem, SourcedRule } from '../../settings/types.js';
import type { Gathering, GivenUp } from '../instructions/load-result.js';
import type { Entry, Fitting } from '../instructions/loader.js';
import type { SkippedInstruction } from '../instructions/types.js';
import type { EnforcedRules, LocateJson } from './enforced.js';

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

/** Any fence, with all that stands behind it on its line. Between its marks may be what nobody sees. */
const FENCE = /([`~])[^\n\x20-\x7e]*\1[^\n\x20-\x7e]*\1([^\n]*)/g;
/**
 * Two mistakes, even two letters swapped each, leave one of these pairs of `portcullis` as it is. What
 * is not plain text may look like any letter.
 */
const MAY_BE_OURS = /po|rt|cu|ll|is|[^\t\x20-\x7e]/i;

/** The word by its consonants, or letters as wide as signs of other scripts. */
const WORD = /p\w{0,2}r\w{0,2}t\w{0,2}c\w{0,3}l\w{0,2}s|[\uff21-\uff5a]{8}/i;
const RULES = /\{[^{}]*(?:deny|ask|permissions)/i;

/**
 * Worth a closer look: a fence with a word behind it that may be ours, or the word, and rules behind it.
 * Most files have none.
 */
export function mayEnforce(source: string): boolean {
  // Hundreds of files have no such sign, and to see that is much less work.
  const fences = source.includes('`') || source.includes('~') ? source.matchAll(FENCE) : [];
  for (const [, , behind = ''] of fences) if (MAY_BE_OURS.test(behind)) return true;
  const word = source.search(WORD);
  return word !== -1 && RULES.test(source.slice(word));
}

/** What the files of a gathering enforce. */
export async function enforcedIn(
  entries: readonly Entry[],
  locateJson: LocateJson,
  { enforced, skipped }: Pick<Gathering, 'enforced' | 'skipped'>,
): Promise<FoundRules> {
  const found = { deny: [] as SourcedRule[], ask: [] as SourcedRule[] };
  const problems: ConfigProblem[] = [
    ...(enforced?.givenUp ?? []).flatMap(givenUpProblem),
    ...skipped.flatMap(shutProblem),
  ];
  const when = new Map<SourcedRule, Fitting>();
  for (const { place, source, line, when: fitting } of entries) {
    const { scope, path, base } = place;
    // What a model wrote down for itself binds nobody.
    if (scope === 'memory' || scope === 'team' || !mayEnforce(source)) continue;
    const { enforcedRules } = await import('./enforced.js');
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

function givenUpProblem({ place, reason }: GivenUp): readonly ConfigProblem[] {
  const { scope, path } = place;
  if (scope === 'memory' || scope === 'team') return [];
  const message = `${reason}, so that restrictions in them may be missed.`;
  return [
    { severity: 'fatal', source: scope, file: path, message, remedy: 'Include fewer files.' },
  ];
}
