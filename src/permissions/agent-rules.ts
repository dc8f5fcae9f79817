import type { AgentRef } from '../protocol/agent-ref.js';
import type { AgentRules, ConfigProblem, SourcedRule } from '../settings/types.js';
import { ANY_DEPTH, reachesEnd, type Segment, segmentOf } from './path-pattern.js';
import type { ParseRulesOptions, Rule, RuleKind, RuleSet } from './rule.js';
import { parseRules } from './rules.js';

/** The rules of an agent: everybody's, and those that name it. The same object for the same agent. */
export type RulesOf = (agent: AgentRef) => RuleSet;

/**
 * Compiles `portcullis.agents`. Denies are looked at first wherever they come from, so what is
 * granted to an agent never beats a ban, and a ban for some binds only these.
 */
export function createAgentRules(
  everybody: RuleSet,
  scoped: readonly AgentRules[],
  options: ParseRulesOptions,
): { readonly rulesOf: RulesOf; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const compiled = scoped.flatMap((entry) => {
    const parsed = parseRules(entry, options);
    problems.push(...parsed.problems);
    const why = patternProblem(entry.pattern);
    if (why === undefined) return [{ names: agentPattern(entry.pattern), rules: parsed.rules }];
    problems.push(...deadPattern(entry, why));
    return [];
  });
  // By the patterns that fit, of which there are few; agents come and go.
  const known = new Map<string, RuleSet>();
  return {
    problems,
    rulesOf(agent) {
      const mine = compiled.flatMap(({ names, rules }, index) =>
        names(agent) ? [{ index, rules }] : [],
      );
      if (mine.length === 0) return everybody;
      const key = `${agent.untrusted === true} ${mine.map(({ index }) => index).join(' ')}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const sets = mine.map(({ rules }) =>
        // fail-closed: a folder that nobody trusts cannot call its agent by a name that may more.
        agent.untrusted === true ? { ...rules, allow: [] } : rules,
      );
      const made = joined([everybody, ...sets]);
      known.set(key, made);
      return made;
    },
  };
}

// `reviewer` is a type, `main` the root, everything with `/` or `#` a path: `main/*`, `**/reviewer#*`.
export function agentPattern(pattern: string): (agent: AgentRef) => boolean {
  const segments = segmentsOf(pattern);
  if (/[/#]/.test(pattern))
    return ({ path }) => reachesEnd(segments, path.toLowerCase().split('/'));
  return ({ type, path }) =>
    reachesEnd(segments, [type.toLowerCase()]) || path === pattern.toLowerCase();
}

function segmentsOf(pattern: string): readonly Segment[] {
  return pattern
    .toLowerCase()
    .split('/')
    .map((name) => segmentOf(name, { ignoreCase: true }));
}

/** Why a pattern names no agent there could be. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'it is empty';
  if (pattern !== pattern.trim() || /\s/.test(pattern)) return 'it holds blanks';
  const names = pattern.split('/');
  if (names.some((name) => name === '')) return 'it has an empty part';
  const [first] = segmentsOf(pattern);
  const isPath = names.length > 1;
  const beginsAtMain =
    first === ANY_DEPTH || (first !== undefined && reachesEnd([first], ['main']));
  return isPath && !beginsAtMain ? 'every path begins with main' : undefined;
}

function deadPattern(entry: AgentRules, why: string): readonly ConfigProblem[] {
  const restricts = [...entry.deny, ...entry.ask];
  const [at] = [...restricts, ...entry.allow];
  if (at === undefined) return [];
  return [
    {
      severity: restricts.length > 0 ? 'fatal' : 'warning',
      ...placeOf(at),
      message: `\`portcullis.agents\` has rules for "${entry.pattern}", which names no agent: ${why}.`,
      remedy: 'Name a type (reviewer) or a path (main, main/*, **/reviewer#*).',
    },
  ];
}

function placeOf({ source, file, line }: SourcedRule): Partial<ConfigProblem> {
  return {
    source,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  };
}

function joined(sets: readonly RuleSet[]): RuleSet {
  const of = (kind: RuleKind): readonly Rule[] => sets.flatMap((set) => set[kind]);
  return { allow: of('allow'), ask: of('ask'), deny: of('deny') };
}
