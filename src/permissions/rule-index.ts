import { matchesPath } from './path-pattern.js';
import type { CommandPattern, Rule } from './rule.js';

export interface PathRule {
  readonly rule: Rule;
  readonly spec: Extract<Rule['spec'], { kind: 'path' }>;
}

export interface CommandRule {
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
      rule.spec.kind === 'command' ? [{ rule, pattern: rule.spec.pattern }] : [],
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

export function coversPath({ pattern, also, isMeant }: PathRule['spec'], path: string): boolean {
  const fits = matchesPath(pattern, path) || (also !== undefined && matchesPath(also, path));
  return fits && isMeant?.(path) !== false;
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
