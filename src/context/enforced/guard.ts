import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import type { CallView } from '../../permissions/gate/view.js';
import { effectRestriction } from '../../permissions/guards/effects.js';
import type { TakenDirectory } from '../../permissions/paths/tree-restriction.js';
import { hasPathRules, patternsOf, restrictingPath } from '../../permissions/rules/list.js';
import { findRestriction } from '../../permissions/rules/match.js';
import {
  namesOf,
  type PatternState,
  patternState,
  stepInto,
} from '../../permissions/rules/path-pattern.js';
import type { RestrictionMatch, Rule } from '../../permissions/rules/rule.js';
import { NO_RULES, type RuleSet } from '../../permissions/rules/rule.js';
import { describeProblem } from '../../settings/types.js';
import type { InstructionBook } from '../instructions/book.js';
import type { BelowRules } from '../instructions/nested-folders.js';
import type { CompileEnforced } from './compiled.js';
import type { EnforcedRules } from './enforced.js';
import { type Named, namedBy } from './named-paths.js';
import type { EnforcedHold } from './policy.js';

type NearBook = Pick<InstructionBook, 'enforcedNear' | 'enforcedBelow' | 'enforcedAnywhere'>;

/** Rules of instruction files on the way to what a call names hold before the call is judged. */
export function nearGuard(book: NearBook, compile: CompileEnforced, hold: EnforcedHold): Guard {
  const compiled = (found: EnforcedRules): RuleSet | Finding => {
    const isEmpty = found.deny.length + found.ask.length === 0;
    if (isEmpty && found.problems.length === 0) return NO_RULES;
    const { rules, problems } = isEmpty ? { rules: NO_RULES, problems: [] } : compile(found);
    const fatal = [...found.problems, ...problems].find(({ severity }) => severity === 'fatal');
    if (fatal === undefined) return rules;
    const reason = `a restriction near it cannot be honoured: ${describeProblem(fatal)}`;
    return { decision: 'deny', refusal: 'guard-failed', reason };
  };
  const decideNamed = async (view: CallView, named: Named): Promise<Finding> => {
    const { paths, whole, unknown } = named;
    if (paths.length === 0 && unknown === undefined) return NOTHING;
    const near = compiled(hold.with(await book.enforcedNear(paths)));
    if ('decision' in near) return near;
    const finding = near === NO_RULES ? NOTHING : await judged(near, view, named);
    if (finding.decision !== 'none') return finding;
    if (whole.length > 0) {
      const found = await book.enforcedBelow(whole.flatMap((one) => one.paths));
      const below = compiled(hold.withBelow(found));
      if ('decision' in below) return below;
      const taken = takenIn([near, below], whole, found);
      if (taken.decision !== 'none') return taken;
    }
    if (unknown === undefined) return NOTHING;
    const all = await book.enforcedAnywhere();
    const anywhere = compiled(hold.withBelow(all));
    if ('decision' in anywhere) return anywhere;
    const maybe = maybeThere(anywhere, unknown);
    // fail-closed: in the folders that were not looked at there may be a rule against it.
    return maybe.decision === 'none' && all.cut
      ? doubt(`${unknown}, and the project has more folders than are looked at`)
      : maybe;
  };
  return {
    name: 'instruction files',
    // fail-closed: a restriction that could not be looked up may have been one against this call.
    onFailure: 'deny',
    decide: async (view) => await decideNamed(view, await namedBy(view)),
  };
}

/** As the rules of settings are judged: a sure match first, then every doubt as a question. */
async function judged(rules: RuleSet, view: CallView, named: Named): Promise<Finding> {
  const lists = [rules.deny, rules.ask];
  for (const decision of ['deny', 'ask'] as const) {
    const found =
      (await findRestriction(rules[decision], view)) ??
      (await effectRestriction(rules[decision], view));
    if (found !== undefined) return findingOf(decision, found);
    const rule = restrictingPath(rules[decision], named.expanded, view.judge.budget);
    if (rule !== undefined) return findingOf(decision, { rule, sure: 'yes' });
  }
  if (view.call.subject.command === undefined || lists.every(({ length }) => length === 0)) {
    return NOTHING;
  }
  const withPaths = lists.filter((list) => hasPathRules(list));
  // fail-closed: code that cannot be followed may do what a rule near it forbids.
  const opaque = (await view.shell())?.opaque;
  if (opaque !== undefined)
    return doubt(`it cannot be checked against the rules near it: ${opaque}`);
  const mentioned = await view.mentionedPaths();
  for (const list of withPaths) {
    const rule = restrictingPath(list, mentioned, view.judge.budget);
    if (rule !== undefined) return findingOf('ask', { rule, sure: 'maybe' });
  }
  return withPaths.length > 0 && named.unknown !== undefined
    ? doubt(`it cannot be checked against the path rules near it: ${named.unknown}`)
    : NOTHING;
}

/** fail-closed: a call that reads a whole directory reads the files that rules inside it hide. */
function takenIn(
  sets: readonly RuleSet[],
  whole: readonly TakenDirectory[],
  { directories, cut }: Pick<BelowRules, 'directories' | 'cut'>,
): Finding {
  const rules = sets.flatMap(({ deny, ask }) => [...deny, ...ask]);
  for (const { access, paths } of whole) {
    const there = paths.filter((path) => directories.includes(path));
    const [name] = there;
    if (name === undefined) continue;
    const rule = rules.find((one) =>
      there.some((directory) => ruleInside(one, { directory, access })),
    );
    if (rule !== undefined) {
      return doubt(`it takes in all of ${name}, where ${rule.label} holds`, rule);
    }
    if (cut && access === 'write') {
      return doubt(`it changes all of ${name}, which has more folders than are looked at`);
    }
  }
  return NOTHING;
}

/** fail-closed: a path that is decided at run time may be in any folder, one without loaded rules too. */
function maybeThere({ deny, ask }: RuleSet, unknown: string): Finding {
  const rule = [...deny, ...ask].find(({ spec }) => spec.kind === 'path' || spec.kind === 'effect');
  return rule === undefined
    ? NOTHING
    : doubt(`it cannot be checked against ${rule.label}: ${unknown}`, rule);
}

function doubt(reason: string, rule?: Rule): Finding {
  return { decision: 'ask', reason, ...(rule === undefined ? {} : nameOf(rule)) };
}

function findingOf(kind: 'deny' | 'ask', { rule, sure }: RestrictionMatch): Finding {
  // It cannot be told before it runs, so a person decides.
  if (sure === 'maybe') return doubt(`${rule.label} may cover it`, rule);
  if (kind === 'ask') return doubt(`${rule.label} asks about it`, rule);
  return { decision: 'deny', refusal: 'rule', reason: `${rule.label} denies it`, ...nameOf(rule) };
}

function nameOf({ label, text, origin }: Rule) {
  return { source: label, rule: { text, source: origin.source } };
}

/** Whether a rule on paths or effects may cover something in a directory for this access. */
export function ruleInside(
  { spec }: Rule,
  { directory, access }: { readonly directory: string; readonly access: 'read' | 'write' },
): boolean {
  if (spec.kind === 'effect') return access === 'write';
  // What may not be read may not be written either.
  if (spec.kind !== 'path' || (spec.access === 'write' && access === 'read')) return false;
  return patternsOf(spec).some((pattern) => {
    const end = namesOf(directory, pattern.folded).reduce<PatternState | undefined>(
      (state, name) => state && stepInto(state, name),
      patternState(pattern),
    );
    return end !== undefined;
  });
}
