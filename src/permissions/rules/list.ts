import type { Budget } from '../gate/budget.js';
import type { TouchedPath } from '../gate/view.js';
import type { PathSpellings } from '../paths/paths.js';
import { matchesNames, namesOf, type PathPattern } from './path-pattern.js';
import type { CommandPattern, Rule } from './rule.js';

/** What may not be read may not be written either. */
export function restrictingPath(
  rules: readonly Rule[],
  touched: readonly TouchedPath[],
  budget: Budget,
): Rule | undefined {
  budget.spend(rules.length >> 3);
  return coveringRule(pathRulesIn(rules), touched, budget);
}

/** As `restrictingPath`, for rules that are compared with many paths. */
export function coveringRule(
  relevant: readonly PathRule[],
  touched: readonly TouchedPath[],
  budget: Budget,
): Rule | undefined {
  const tests = relevant.filter(({ spec }) => spec.isMeant !== undefined).length;
  for (const { access, spellings } of touched) {
    for (const path of restrictedNames(spellings)) {
      const names = namesOf(path, true);
      budget.spend(
        1 + tests * STEPS_OF_TEST + ((relevant.length * (NAMES_OF_PATTERN + names.length)) >> 6),
      );
      const found = relevant.find(
        ({ spec }) =>
          (spec.access === 'read' || access === 'write') && covers(spec, { path, names }),
      );
      if (found !== undefined) return found.rule;
    }
  }
  return undefined;
}

/** What comparing a pattern costs besides the names of the path. */
const NAMES_OF_PATTERN = 8;
/** What a rule asks about a path beside its pattern. */
const STEPS_OF_TEST = 10;

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

export interface PathRule {
  readonly rule: Rule;
  readonly spec: Extract<Rule['spec'], { kind: 'path' }>;
}

interface CommandRule {
  readonly rule: Rule;
  readonly pattern: CommandPattern;
}

/** The rules of one list that concern one tool, in their order. */
export interface ToolRules {
  /** The first that covers every call. */
  readonly any: Rule | undefined;
  readonly commands: readonly CommandRule[];
  /** Rules for hosts and other inputs. */
  readonly others: readonly Rule[];
}

export function rulesForTool(rules: readonly Rule[], names: readonly string[]): ToolRules {
  const mine = rules.filter((rule) => rule.spec.kind !== 'path' && rule.matchesTool(names));
  return {
    any: mine.find(({ spec }) => spec.kind === 'any'),
    commands: mine.flatMap((rule) =>
      rule.spec.kind === 'command'
        ? [rule.spec.pattern, rule.spec.also ?? []].flat().map((pattern) => ({ rule, pattern }))
        : [],
    ),
    others: mine.filter(({ spec }) => spec.kind === 'domain' || spec.kind === 'field'),
  };
}

/** The path rules of a list, which concern all tools. */
export function pathRulesIn(rules: readonly Rule[]): readonly PathRule[] {
  return rules.flatMap((rule) => (rule.spec.kind === 'path' ? [{ rule, spec: rule.spec }] : []));
}

export function hasPathRules(rules: readonly Rule[]): boolean {
  return rules.some(({ spec }) => spec.kind === 'path');
}

/** Restrictions are compared without regard to case. */
function covers(
  spec: PathRule['spec'],
  { path, names }: { readonly path: string; readonly names: readonly string[] },
): boolean {
  return patternsOf(spec).some((one) => matchesNames(one, names)) && spec.isMeant?.(path) !== false;
}

export function patternsOf({ pattern, also }: PathRule['spec']): readonly PathPattern[] {
  return also === undefined ? [pattern] : [pattern, also];
}

/** The rule of exactly this text. */
export function exactRule(rules: readonly CommandRule[], text: string): CommandRule | undefined {
  return rules.find(({ pattern }) => pattern.tokens === undefined && pattern.text === text);
}

/** The rules whose first word is this program. */
export function rulesNaming(
  rules: readonly CommandRule[],
  program: string,
): readonly CommandRule[] {
  return rules.filter(({ pattern }) => firstWordOf(pattern) === program);
}

/** Undefined where a wildcard stands in the first word. */
function firstWordOf({ text, tokens }: CommandPattern): string | undefined {
  if (tokens === undefined) return text.split(' ', 1)[0];
  const end = tokens.findIndex(({ kind }) => kind !== 'char');
  const plain = (end === -1 ? tokens : tokens.slice(0, end))
    .map((token) => (token.kind === 'char' ? token.char : ''))
    .join('');
  return end === -1 || plain.includes(' ') ? plain.split(' ', 1)[0] : undefined;
}
