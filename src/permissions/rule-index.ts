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
  const known = indexes.get(rules);
  if (known !== undefined) return known;
  const made = makeIndex(rules);
  indexes.set(rules, made);
  return made;
}

const indexes = new WeakMap<readonly Rule[], RuleIndex>();

function makeIndex(rules: readonly Rule[]): RuleIndex {
  const byTool = new Map<string, ToolRules>();
  return {
    paths: createPathIndex(rules),
    forTool(names) {
      const key = names.join(' ');
      const known = byTool.get(key);
      if (known !== undefined) return known;
      const mine = rules.filter((rule) => rule.spec.kind !== 'path' && rule.matchesTool(names));
      const made: ToolRules = {
        any: mine.find((rule) => rule.spec.kind === 'any'),
        commands: createCommandIndex(mine),
        others: mine.filter(({ spec }) => spec.kind === 'domain' || spec.kind === 'field'),
      };
      byTool.set(key, made);
      return made;
    },
  };
}
