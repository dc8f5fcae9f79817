import type { SourcedRule } from '../settings/types.js';
import { own } from '../util/own.js';
import { originOf } from '../util/sourced.js';
import type { ParseRulesOptions, Rule, RuleKind, RuleSpec } from './rule.js';
import { resolveRuleName } from './rule-names.js';
import { parseSpec } from './rule-specs.js';
import { RULE_TOOLS, type SpecKind } from './rule-tools.js';

/** One tool and one specifier of letters, digits, blanks, slashes, dots, dashes and stars, not of stars alone. */
const PLAIN = /^[A-Za-z]+\((?!\**\)$)[A-Za-z0-9_./*-][A-Za-z0-9_./* -]*\)$/;

const KINDS: Readonly<Partial<Record<SpecKind, 'command' | 'path'>>> = {
  command: 'command',
  'read-path': 'path',
  'write-path': 'path',
};

/** What the name before the parentheses means: the same for hundreds of rules. */
interface Meant {
  /** As it is written. */
  readonly name: string;
  readonly tool: string;
  readonly specKind: 'command' | 'path';
  readonly matchesTool: Rule['matchesTool'];
  readonly options: ParseRulesOptions;
}

/**
 * Reads rules about commands or paths in which nothing can be wrong but the tool's name: their patterns
 * are read when the first call is compared with them. Undefined for every other, which is read at once.
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
    if (!PLAIN.test(text)) return undefined;
    const meant = meantBy(text.slice(0, text.indexOf('(')));
    return meant === undefined ? undefined : new PlainRule(kind, origin, meant);
  };
}

function meaningOf(name: string, kind: RuleKind, options: ParseRulesOptions): Meant | undefined {
  const { knownTools = [] } = options;
  const tool = resolveRuleName(name, { kind, scoped: true, knownTools });
  // fail-closed: a name in doubt is for the reader that says what is wrong with it.
  if ('why' in tool || tool.canonical === undefined || tool.nothingNow === true) return undefined;
  const specKind = KINDS[own(RULE_TOOLS, tool.canonical)?.spec ?? 'none'];
  if (specKind === undefined) return undefined;
  return { name, tool: tool.canonical, specKind, matchesTool: tool.matchesTool, options };
}

/** A class: there may be hundreds, and what is read late is a property of all of them. */
class PlainRule implements Rule {
  readonly kind: RuleKind;
  readonly text: string;
  readonly origin: SourcedRule;
  readonly specKind: RuleSpec['kind'];
  readonly matchesTool: Rule['matchesTool'];
  readonly #meant: Meant;
  #spec: RuleSpec | undefined;

  constructor(kind: RuleKind, origin: SourcedRule, meant: Meant) {
    this.kind = kind;
    this.text = origin.value.text;
    this.origin = origin;
    this.specKind = meant.specKind;
    this.matchesTool = meant.matchesTool;
    this.#meant = meant;
  }

  get label(): string {
    return `${this.text} (${originOf(this.origin)})`;
  }

  get spec(): RuleSpec {
    this.#spec ??= this.#read();
    return this.#spec;
  }

  #read(): RuleSpec {
    const { kind, origin, text } = this;
    const { name, tool, options } = this.#meant;
    const written = text.slice(name.length + 1, -1);
    const spec = parseSpec(written, { kind, origin, options, tool, written: name });
    // fail-closed: not possible with these letters; were it so, every call of the tool would be meant,
    // which for a grant must not be.
    if ('why' in spec) throw new Error(`the rule "${text}" cannot be read`);
    return spec;
  }
}
