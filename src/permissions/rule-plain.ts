import type { SourcedRule } from '../settings/types.js';
import { own } from '../util/own.js';
import { originOf } from '../util/sourced.js';
import type { ParseRulesOptions, Rule, RuleKind, RuleSpec } from './rule.js';
import { resolveRuleName } from './rule-names.js';
import { parseSpec } from './rule-specs.js';
import { RULE_TOOLS, type SpecKind } from './rule-tools.js';

/** One tool and one specifier of letters, digits, blanks, slashes, dots, dashes and stars. */
const PLAIN = /^([A-Za-z]+)\(([A-Za-z0-9_./*-][A-Za-z0-9_./* -]*)\)$/;
const STARS = /^\**$/;

const KINDS: Readonly<Partial<Record<SpecKind, 'command' | 'path'>>> = {
  command: 'command',
  'read-path': 'path',
  'write-path': 'path',
};

/**
 * A rule about commands or paths in which nothing can be wrong but the tool's name: its pattern is
 * read when the first call is compared with it. Undefined for every other, which is read at once.
 */
export function plainRule(
  kind: RuleKind,
  origin: SourcedRule,
  options: ParseRulesOptions,
): Rule | undefined {
  const found = PLAIN.exec(origin.value.text);
  const [text, name = '', written = ''] = found ?? [];
  if (text === undefined || STARS.test(written)) return undefined;
  const tool = resolveRuleName(name, { kind, scoped: true, knownTools: options.knownTools ?? [] });
  // fail-closed: a name in doubt is for the reader that says what is wrong with it.
  if ('why' in tool || tool.canonical === undefined || tool.nothingNow === true) return undefined;
  const specKind = KINDS[own(RULE_TOOLS, tool.canonical)?.spec ?? 'none'];
  if (specKind === undefined) return undefined;
  const context = { kind, origin, options, tool: tool.canonical, written: name };
  let spec: RuleSpec | undefined;
  return {
    kind,
    text,
    origin,
    specKind,
    matchesTool: tool.matchesTool,
    get label() {
      return `${text} (${originOf(origin)})`;
    },
    get spec() {
      spec ??= specOf(written, context);
      return spec;
    },
  };
}

function specOf(written: string, context: Parameters<typeof parseSpec>[1]): RuleSpec {
  const spec = parseSpec(written, context);
  // fail-closed: not possible with these letters; were it so, every call of the tool would be meant,
  // which for a grant must not be.
  if ('why' in spec) throw new Error(`the rule "${context.origin.value.text}" cannot be read`);
  return spec;
}
