import { own } from '../lib/own.js';
import { originOf } from '../lib/sourced.js';
import type { SourcedRule } from '../settings/types.js';
import type { ParseRulesOptions, Rule, RuleKind, RuleSpec } from './rule.js';
import { resolveRuleName } from './rule-names.js';
import { parseSpec, startsWithKeyword } from './rule-specs.js';
import { RULE_TOOLS, type SpecKind } from './rule-tools.js';

/** One tool and one specifier of letters, digits, blanks, slashes, dots, dashes and stars, not of stars alone. */
const PLAIN = /^[A-Za-z]+\((?!\**\)$)[A-Za-z0-9_./*-][A-Za-z0-9_./* -]*\)$/;

/** A tool alone. */
const TOOL = /^[A-Za-z][A-Za-z0-9_-]*$/;
const ANY: RuleSpec = { kind: 'any' };

const KINDS: Readonly<Partial<Record<SpecKind, 'command' | 'path'>>> = {
  command: 'command',
  'read-path': 'path',
  'write-path': 'path',
};

/** What the name before the parentheses means: the same for hundreds of rules. */
interface Meant {
  readonly kind: RuleKind;
  /** As it is written. */
  readonly name: string;
  readonly tool: string;
  readonly specKind: 'command' | 'path';
  readonly matchesTool: Rule['matchesTool'];
  readonly options: ParseRulesOptions;
}

/**
 * Reads rules in which nothing can be wrong but the tool's name: those about all of its calls, and those
 * about commands or paths, whose patterns are read when the first call is compared with them. Undefined
 * for every other, which is read at once.
 */
export function plainRules(
  kind: RuleKind,
  options: ParseRulesOptions,
): (origin: SourcedRule) => Rule | undefined {
  const known = new Map<string, Meant | undefined>();
  const meantBy = (name: string): Meant | undefined => {
    const before = known.get(name);
    if (before !== undefined || known.has(name)) return before;
    const found = meaningOf(name, kind, options);
    known.set(name, found);
    return found;
  };
  return (origin) => {
    const { text } = origin.value;
    if (!text.endsWith(')')) {
      return TOOL.test(text) ? toolRule(kind, origin, options) : undefined;
    }
    if (!PLAIN.test(text) || startsWithKeyword(text.slice(text.indexOf('(') + 1, -1)))
      return undefined;
    const meant = meantBy(text.slice(0, text.indexOf('(')));
    return meant === undefined ? undefined : new PlainRule(origin, meant);
  };
}

function meaningOf(name: string, kind: RuleKind, options: ParseRulesOptions): Meant | undefined {
  const { knownTools = [] } = options;
  const tool = resolveRuleName(name, { kind, scoped: true, knownTools });
  // fail-closed: a name in doubt is for the reader that says what is wrong with it.
  if ('why' in tool || tool.canonical === undefined || tool.nothingNow === true) return undefined;
  const specKind = KINDS[own(RULE_TOOLS, tool.canonical)?.spec ?? 'none'];
  if (specKind === undefined) return undefined;
  return { kind, name, tool: tool.canonical, specKind, matchesTool: tool.matchesTool, options };
}

function toolRule(
  kind: RuleKind,
  origin: SourcedRule,
  { knownTools = [] }: ParseRulesOptions,
): Rule | undefined {
  const tool = resolveRuleName(origin.value.text, { kind, scoped: false, knownTools });
  // fail-closed: a name in doubt is for the reader that says what is wrong with it.
  if ('why' in tool || tool.nothingNow === true) return undefined;
  // No call is named like this: what it means stands in its specifier.
  return tool.canonical === 'Effect' ? undefined : new ToolRule(kind, origin, tool.matchesTool);
}

/** A class: one file may grant every server of a company, and labels are for the few that decide. */
class ToolRule implements Rule {
  readonly kind: RuleKind;
  readonly text: string;
  readonly origin: SourcedRule;
  readonly spec: RuleSpec = ANY;
  readonly matchesTool: Rule['matchesTool'];

  constructor(kind: RuleKind, origin: SourcedRule, matchesTool: Rule['matchesTool']) {
    this.kind = kind;
    this.text = origin.value.text;
    this.origin = origin;
    this.matchesTool = matchesTool;
  }

  get label(): string {
    return labelOf(this);
  }
}

function labelOf({ text, origin }: Pick<Rule, 'text' | 'origin'>): string {
  return `${text} (${originOf(origin)})`;
}

/**
 * A class: there may be hundreds, most of what they are they share with all that begin with the same
 * name, and what is read late is a property of all of them.
 */
class PlainRule implements Rule {
  readonly origin: SourcedRule;
  readonly #meant: Meant;
  #spec: RuleSpec | undefined;

  constructor(origin: SourcedRule, meant: Meant) {
    this.origin = origin;
    this.#meant = meant;
  }

  get kind(): RuleKind {
    return this.#meant.kind;
  }

  get text(): string {
    return this.origin.value.text;
  }

  get specKind(): RuleSpec['kind'] {
    return this.#meant.specKind;
  }

  get matchesTool(): Rule['matchesTool'] {
    return this.#meant.matchesTool;
  }

  get label(): string {
    return labelOf(this);
  }

  get spec(): RuleSpec {
    this.#spec ??= this.#read();
    return this.#spec;
  }

  #read(): RuleSpec {
    const { origin, text } = this;
    const { kind, name, tool, options } = this.#meant;
    const written = text.slice(name.length + 1, -1);
    const spec = parseSpec(written, { kind, origin, options, tool, written: name });
    // fail-closed: not possible with these letters; were it so, every call of the tool would be meant,
    // which for a grant must not be.
    if ('why' in spec) throw new Error(`the rule "${text}" cannot be read`);
    return spec;
  }
}
