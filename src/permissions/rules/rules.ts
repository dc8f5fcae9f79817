import { own } from '../../lib/own.js';
import { originOf } from '../../lib/sourced.js';
import { hasInvisible } from '../../lib/text/visible.js';
import type { ConfigProblem, SourcedRule } from '../../settings/types.js';
import { resolveRuleName } from './names.js';
import type { Malformed, ParseRulesOptions, Rule, RuleKind, RuleSet } from './rule.js';
import { parseSpec } from './specs.js';
import { RULE_TOOLS } from './tools.js';

export type {
  CommandPattern,
  ParseRulesOptions,
  Rule,
  RuleKind,
  RuleSet,
  RuleSpec,
} from './rule.js';
export { NO_RULES } from './rule.js';

type Texts = Readonly<Record<RuleKind, readonly SourcedRule[]>>;

/**
 * Compiles rule texts. A restriction that cannot be understood is fatal, a grant that cannot be
 * understood is lost with a warning, and a ban that hits nothing now is kept and listed.
 */
export function parseRules(
  texts: Texts,
  options: ParseRulesOptions,
): { readonly rules: RuleSet; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const compile = (kind: RuleKind): readonly Rule[] => {
    const rules: Rule[] = [];
    const told: { readonly origin: SourcedRule; readonly what: Malformed | string }[] = [];
    for (const origin of texts[kind]) {
      const parsed = parseRule(kind, origin, options);
      if ('why' in parsed) told.push({ origin, what: parsed });
      else {
        rules.push(parsed.rule, ...(parsed.below === undefined ? [] : [parsed.below]));
        if (parsed.note !== undefined) told.push({ origin, what: parsed.note });
      }
    }
    const hasPaths = told.length > 0 && rules.some(({ spec }) => spec.kind === 'path');
    for (const { origin, what } of told) {
      const problem =
        typeof what === 'string'
          ? noteOf(kind, origin, what)
          : problemOf(kind, origin, { ...what, hasPaths });
      problems.push(problem);
    }
    return rules;
  };
  return {
    rules: { allow: compile('allow'), ask: compile('ask'), deny: compile('deny') },
    problems,
  };
}

export type ParsedRule =
  | {
      readonly rule: Rule;
      /** What a restriction `Edit(**)` says of files; `rule` is what it says of the tool. */
      readonly below?: Rule;
      readonly note?: string;
    }
  | Malformed;

export function parseRule(
  kind: RuleKind,
  origin: SourcedRule,
  options: ParseRulesOptions,
): ParsedRule {
  const split = splitRule(origin.value.text);
  if ('why' in split) return split;
  const { name, spec } = split;
  const onlyStars = spec === undefined || /^\**$/.test(spec);
  const { knownTools = [] } = options;
  const tool = resolveRuleName(name, { kind, scoped: !onlyStars, knownTools });
  if ('why' in tool) return tool;
  const isBelow = spec === '**' && isAboutPaths(tool);
  const everyCall = onlyStars && !(kind === 'allow' && isBelow);
  const text = origin.value.text.trim();
  const label = `${text} (${originOf(origin)})`;
  const written = () =>
    parseSpec(spec ?? '', { kind, origin, options, tool: tool.canonical, written: name });
  // No call is named like this: without its specifier the rule would do nothing.
  const ruleSpec =
    everyCall && tool.canonical !== 'Effect' ? ({ kind: 'any' } as const) : written();
  if ('why' in ruleSpec) return ruleSpec;
  const rule = { kind, text, label, origin, spec: ruleSpec, matchesTool: tool.matchesTool };
  if (everyCall && isBelow) {
    // fail-closed: who bans `Edit(src/**)` bans every way to change what is there, and so with `**`.
    const below = written();
    return 'why' in below ? below : { rule, below: { ...rule, spec: below } };
  }
  return tool.isUnknownTool === true
    ? { rule, note: `${name} is no tool that is known now` }
    : { rule };
}

/**
 * `Edit(**)` is what is below here, as `Edit(src/**)` is below `src`; `Edit(*)` is the tool. A restriction
 * is both.
 */
function isAboutPaths({ canonical }: { readonly canonical?: string | undefined }): boolean {
  const takes = canonical === undefined ? undefined : own(RULE_TOOLS, canonical)?.spec;
  return takes === 'read-path' || takes === 'write-path';
}

/** `Tool` or `Tool(spec)`; `Tool()` means the tool. */
function splitRule(raw: string): { name: string; spec?: string } | Malformed {
  const text = raw.trim();
  const remedy = 'Write Tool or Tool(specifier), for example Bash(npm test) or Read(./secrets/**).';
  // No command that holds these is read, and no person sees them in a name.
  if (hasInvisible(text)) {
    return { why: 'it holds invisible characters', remedy: 'Type it anew.' };
  }
  const open = text.indexOf('(');
  const name = (open === -1 ? text : text.slice(0, open)).trim();
  if (name === '' || /[\s()]/.test(name))
    return { why: 'it does not begin with a tool name', remedy };
  if (open === -1) return { name };
  if (!text.endsWith(')')) return { why: 'the closing parenthesis is missing', remedy };
  const spec = text.slice(open + 1, -1);
  const { closesEarly, left } = parenthesesIn(spec);
  if (closesEarly && /\)[\s,;|&]*[A-Za-z_]\w*\(/.test(spec)) {
    return { why: 'it holds several rules', remedy: 'Write each as a text of its own.' };
  }
  if (closesEarly || left !== 0) {
    return {
      why: 'it has a parenthesis without its other half',
      remedy: 'Remove it; for one that is part of a name, write a backslash in front of it.',
    };
  }
  return spec.trim() === '' ? { name } : { name, spec };
}

/** `closesEarly`: one ends what began in front of the text, as in `rm *) Bash(mv *`. */
function parenthesesIn(spec: string): { closesEarly: boolean; left: number } {
  let left = 0;
  let closesEarly = false;
  for (const [sign] of spec.matchAll(/\\.|'[^']*'|"[^"]*"|[()]/gs)) {
    if (sign === '(') left++;
    if (sign === ')') left--;
    if (left < 0) closesEarly = true;
  }
  return { closesEarly, left };
}

function noteOf(kind: RuleKind, origin: SourcedRule, note: string): ConfigProblem {
  return {
    severity: 'note',
    ...placeOf(origin),
    message: `the ${kind} rule "${origin.value.text}" bans nothing now: ${note}.`,
    remedy: 'It is kept for the day there is one.',
  };
}

function problemOf(
  kind: RuleKind,
  origin: SourcedRule,
  { why, remedy, exception, hasPaths }: Malformed & { readonly hasPaths: boolean },
): ConfigProblem {
  // An exception that is not made restricts more; without anything to except from it is a mistake.
  const isLost = kind === 'allow' || (exception === true && hasPaths);
  return {
    severity: isLost ? 'warning' : 'fatal',
    ...placeOf(origin),
    message: `the ${kind} rule "${origin.value.text}" ${isLost ? 'is ignored' : 'cannot be honoured'}: ${why}.`,
    remedy,
  };
}

export function placeOf({ source, file, line }: SourcedRule): Partial<ConfigProblem> {
  return { source: source === 'answer' ? undefined : source, file, line };
}

/** Says what is wrong with one rule text that stands outside the lists of rules. */
export function ruleChecker(cwd: string, home: string): (text: string) => string | undefined {
  return (text) => {
    const value = { text, root: cwd };
    const parsed = parseRule('ask', { value, source: 'cli', trusted: true }, { cwd, home });
    return 'why' in parsed ? `${parsed.why}. ${parsed.remedy}` : undefined;
  };
}

/**
 * Splits what `--allowedTools` and its like are given: rules separated by commas or blanks, where
 * parentheses hold a rule together.
 */
export function splitRuleList(values: readonly string[]): readonly string[] {
  return values.flatMap(splitOne);
}

function splitOne(value: string): readonly string[] {
  const rules: string[] = [];
  let depth = 0;
  let start = 0;
  const end = (at: number): void => {
    if (at > start) rules.push(value.slice(start, at));
    start = at + 1;
  };
  for (let at = 0; at < value.length; at++) {
    const char = value.charAt(at);
    // What follows it separates nothing.
    if (char === '\\') at++;
    else if (char === '(') depth++;
    else if (char === ')' && depth > 0) depth--;
    else if (depth === 0 && (char === ',' || char.trim() === '')) end(at);
  }
  end(value.length);
  return rules;
}
