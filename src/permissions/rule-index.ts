import { type CommandIndex, createCommandIndex } from './command-index.js';
import { createPathIndex, type PathIndex } from './path-index.js';
import type { Rule } from './rule.js';

/** The rules of one list that concern one tool. */
export interface ToolRules {
  /** The first that covers every call. */
  readonly any: Rule | undefined;
  readonly commands: CommandIndex;
  /** Rules for hosts and other inputs, which are few. */
  readonly others: readonly Rule[];
}

/** A list of rules, ordered so that the cost of a decision hardly grows with their number. */
export interface RuleIndex {
  forTool(names: readonly string[]): ToolRules;
  /** Path rules of all tools. */
  readonly paths: PathIndex;
}

/** Made once for every list: a list never changes. */
export function indexOf(rules: readonly Rule[]): RuleIndex {
  if (rules.length === 0) return NO_RULES;
  const known = indexes.get(rules);
  if (known !== undefined) return known;
  const made = makeIndex(rules);
  indexes.set(rules, made);
  return made;
}

const indexes = new WeakMap<readonly Rule[], RuleIndex>();

/** Each part is made when the first call is compared with it: most parts never are. */
function makeIndex(rules: readonly Rule[]): RuleIndex {
  const byTool = new Map<string, ToolRules>();
  const pathRules = later(() => createPathIndex(rules));
  const inputRules = later(() => byName(rules.filter((rule) => rule.spec.kind !== 'path')));
  return {
    get paths() {
      return pathRules();
    },
    forTool(names) {
      const key = names.join(' ');
      const known = byTool.get(key);
      if (known !== undefined) return known;
      const mine = inputRules()(names);
      // Of many sessions in one process most have rules for few of their tools.
      const made = mine.length === 0 ? NOTHING : toolRulesOf(mine);
      byTool.set(key, made);
      return made;
    },
  };
}

/**
 * The rules for a tool, in their order. Hundreds name the same few tools and share the function that
 * tells, so that only the names are asked.
 */
function byName(rules: readonly Rule[]): (names: readonly string[]) => readonly Rule[] {
  const groups = new Map<Rule['matchesTool'], Rule[]>();
  for (const rule of rules) {
    const { matchesTool } = rule;
    const group = groups.get(matchesTool);
    if (group === undefined) groups.set(matchesTool, [rule]);
    else group.push(rule);
  }
  return (names) => {
    const meant = new Map([...groups].filter(([matchesTool]) => matchesTool(names)));
    const [first = [], ...others] = meant.values();
    return others.length === 0 ? first : rules.filter((rule) => meant.has(rule.matchesTool));
  };
}

/** Holds on to these rules alone: one is kept for every tool of every session. */
function toolRulesOf(mine: readonly Rule[]): ToolRules {
  const commands = later(() => createCommandIndex(mine));
  return {
    any: mine.find((rule) => rule.spec.kind === 'any'),
    others: mine.filter((rule) => ['domain', 'field'].includes(rule.spec.kind)),
    get commands() {
      return commands();
    },
  };
}

function later<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const NOTHING: ToolRules = toolRulesOf([]);
/** For every list without a rule. */
const NO_RULES: RuleIndex = makeIndex([]);
