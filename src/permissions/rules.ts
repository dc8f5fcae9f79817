import type { ConfigProblem, SourcedRule } from '../settings/types.js';
import { nearest } from '../util/nearest.js';
import { own } from '../util/own.js';
import { originOf } from '../util/sourced.js';
import { type DomainPattern, parseDomain } from './domain.js';
import { type PathPattern, type PatternBase, parsePathPattern } from './path-pattern.js';
import { RULE_ALIASES, RULE_TOOLS, type RuleTool } from './rule-tools.js';
import { commandTokens, matches, type Token } from './wildcard.js';

export type RuleKind = 'allow' | 'ask' | 'deny';

export type RuleSpec =
  /** Every call of the tool. */
  | { readonly kind: 'any' }
  | { readonly kind: 'command'; readonly pattern: CommandPattern }
  | {
      readonly kind: 'path';
      readonly access: 'read' | 'write';
      readonly pattern: PathPattern;
      /** `Read(…)` and `Edit(…)` speak for all tools of their kind; a grant for another name only for it. */
      readonly everyTool: boolean;
    }
  | { readonly kind: 'domain'; readonly pattern: DomainPattern }
  | { readonly kind: 'field'; readonly field: string; readonly value: readonly Token[] };

export interface CommandPattern {
  readonly text: string;
  /** Absent for an exact rule. */
  readonly tokens?: readonly Token[];
}

export interface Rule {
  readonly kind: RuleKind;
  readonly text: string;
  /** `Bash(rm *) (…/settings.json:4)`. */
  readonly label: string;
  readonly origin: SourcedRule;
  readonly spec: RuleSpec;
  /** By canonical name; aliases of the tool count as its name. */
  matchesTool(names: readonly string[]): boolean;
}

export interface RuleSet {
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly deny: readonly Rule[];
}

export const NO_RULES: RuleSet = { allow: [], ask: [], deny: [] };

export interface ParseRulesOptions extends Pick<PatternBase, 'cwd' | 'home'> {
  /** Tools of this session beyond the built-in table. */
  readonly knownTools?: readonly string[];
}

type Texts = Readonly<Record<RuleKind, readonly SourcedRule[]>>;

/**
 * Compiles rule texts. A restriction that cannot be understood is fatal, a grant that cannot be
 * understood is lost with a warning.
 */
export function parseRules(
  texts: Texts,
  options: ParseRulesOptions,
): { readonly rules: RuleSet; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const compile = (kind: RuleKind): readonly Rule[] =>
    texts[kind].flatMap((origin) => {
      const parsed = parseRule(kind, origin, options);
      if ('rule' in parsed) return [parsed.rule];
      problems.push(problemOf(kind, origin, parsed));
      return [];
    });
  return {
    rules: { allow: compile('allow'), ask: compile('ask'), deny: compile('deny') },
    problems,
  };
}

type Parsed = { readonly rule: Rule } | Malformed;
interface Malformed {
  readonly why: string;
  readonly remedy: string;
}

export function parseRule(kind: RuleKind, origin: SourcedRule, options: ParseRulesOptions): Parsed {
  const split = splitRule(origin.value.text);
  if ('why' in split) return split;
  const { name, spec } = split;
  const tool = resolveTool(name, kind, options.knownTools ?? []);
  if ('why' in tool) return tool;
  const text = origin.value.text.trim();
  const label = `${text} (${originOf(origin)})`;
  const finish = (ruleSpec: RuleSpec | Malformed): Parsed =>
    'why' in ruleSpec
      ? ruleSpec
      : { rule: { kind, text, label, origin, spec: ruleSpec, matchesTool: tool.matchesTool } };
  if (spec === undefined || /^\**$/.test(spec)) return finish({ kind: 'any' });
  if (tool.canonical === undefined) {
    return { why: 'a tool-name pattern takes no parentheses', remedy: `Write ${name} alone.` };
  }
  return finish(parseSpec(spec, { kind, origin, options, name: tool.canonical }));
}

/** `Tool` or `Tool(spec)`; `Tool()` means the tool. */
function splitRule(raw: string): { name: string; spec?: string } | Malformed {
  const text = raw.trim();
  const remedy = 'Write Tool or Tool(specifier), for example Bash(npm test) or Read(./secrets/**).';
  const open = text.indexOf('(');
  const name = (open === -1 ? text : text.slice(0, open)).trim();
  if (name === '' || /[\s()]/.test(name))
    return { why: 'it does not begin with a tool name', remedy };
  if (open === -1) return { name };
  if (!text.endsWith(')')) return { why: 'the closing parenthesis is missing', remedy };
  const spec = text.slice(open + 1, -1);
  return spec.trim() === '' ? { name } : { name, spec };
}

interface ResolvedTool {
  /** Absent for a pattern over names. */
  readonly canonical?: string;
  matchesTool(names: readonly string[]): boolean;
}

function resolveTool(
  name: string,
  kind: RuleKind,
  knownTools: readonly string[],
): ResolvedTool | Malformed {
  if (name.startsWith('mcp__')) return mcpName(name, kind);
  const known = [...Object.keys(RULE_TOOLS), ...Object.keys(RULE_ALIASES), ...knownTools];
  if (name.includes('*')) return namePattern(name, kind, known);
  const exact = known.find((one) => one === name);
  // A restriction means its tool in whatever case; a grant names it exactly.
  const meant =
    exact ?? (kind === 'allow' ? undefined : known.find((one) => sameLetters(one, name)));
  if (meant === undefined) {
    const near = nearest(name, known);
    const remedy = near === undefined ? 'Name an existing tool.' : `Did you mean ${near}?`;
    return { why: `there is no tool ${name}`, remedy };
  }
  const canonical = own(RULE_ALIASES, meant) ?? meant;
  return { canonical, matchesTool: (names) => names.includes(canonical) || names.includes(meant) };
}

/** `mcp__server` and `mcp__server__*` are the whole server. */
function mcpName(name: string, kind: RuleKind): ResolvedTool | Malformed {
  const rest = name.slice('mcp__'.length);
  const end = rest.indexOf('__');
  const server = end === -1 ? rest : rest.slice(0, end);
  const isGrant = kind === 'allow';
  if (isGrant && (server === '' || server.includes('*'))) {
    return {
      why: 'a grant must name the MCP server',
      remedy: 'Write mcp__server or mcp__server__tool.',
    };
  }
  const pattern = end === -1 && !server.includes('*') ? `mcp__${server}__*` : name;
  const tokens = commandTokens(isGrant ? pattern : pattern.toLowerCase());
  return {
    matchesTool: (names) => names.some((one) => matches(tokens, isGrant ? one : one.toLowerCase())),
    ...(name.includes('*') || end === -1 ? {} : { canonical: name }),
  };
}

function namePattern(
  name: string,
  kind: RuleKind,
  known: readonly string[],
): ResolvedTool | Malformed {
  if (kind === 'allow') {
    return {
      why: 'a grant cannot use * in a tool name',
      remedy: 'Name each tool that is allowed.',
    };
  }
  const tokens = commandTokens(name.toLowerCase());
  const fits = (one: string): boolean => matches(tokens, one.toLowerCase());
  // fail-closed: a restriction that can never match anything is a mistake somebody relies on.
  if (!known.some(fits)) return { why: `${name} matches no tool`, remedy: 'Correct the pattern.' };
  return { matchesTool: (names) => names.some(fits) };
}

interface SpecContext {
  readonly kind: RuleKind;
  readonly origin: SourcedRule;
  readonly options: ParseRulesOptions;
  readonly name: string;
}

function parseSpec(spec: string, context: SpecContext): RuleSpec | Malformed {
  const tool: RuleTool = own(RULE_TOOLS, context.name) ?? { spec: 'none' };
  const parameter = parameterSpec(spec, tool, context.kind);
  if (parameter !== undefined) return parameter;
  switch (tool.spec) {
    case 'command':
      return { kind: 'command', pattern: parseCommandPattern(spec) };
    case 'read-path':
    case 'write-path':
      return pathSpec(spec, tool.spec === 'read-path' ? 'read' : 'write', context);
    case 'domain': {
      const pattern = parseDomain(spec);
      return pattern === undefined
        ? {
            why: 'its specifier is not a domain',
            remedy: `Write ${context.name}(domain:example.com).`,
          }
        : { kind: 'domain', pattern };
    }
    case 'field':
      return { kind: 'field', field: tool.field ?? '', value: fieldTokens(spec, context.kind) };
    default:
      return {
        why: `${context.name} takes no such specifier`,
        remedy: `Write ${context.name} alone${context.kind === 'allow' ? '' : ' or name one of its parameters, (parameter:value)'}.`,
      };
  }
}

/** `Tool(parameter:value)`, in restrictions only. Not for what the tool is mainly about. */
function parameterSpec(spec: string, tool: RuleTool, kind: RuleKind): RuleSpec | undefined {
  const found = /^([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(.+)$/s.exec(spec);
  if (kind === 'allow' || found === null) return undefined;
  const [, field = '', value = ''] = found;
  const isParameter =
    tool.parameters?.includes(field) ?? (tool.spec === 'none' || tool.spec === 'field');
  return isParameter ? { kind: 'field', field, value: fieldTokens(value, kind) } : undefined;
}

/** Restrictions ignore the case of names. */
function fieldTokens(value: string, kind: RuleKind): readonly Token[] {
  const text = value.trim();
  return commandTokens(kind === 'allow' ? text : text.toLowerCase());
}

export function parseCommandPattern(spec: string): CommandPattern {
  const text = spec.trim();
  if (text.endsWith(':*')) {
    const prefix = text.slice(0, -2).trimEnd();
    return { text, tokens: [...commandTokens(prefix), ...WORD_END] };
  }
  if (text.endsWith(' *')) {
    return { text, tokens: [...commandTokens(text.slice(0, -2).trimEnd()), ...WORD_END] };
  }
  const tokens = commandTokens(text);
  return tokens.some((token) => token.kind === 'star')
    ? { text, tokens }
    : { text: tokens.map((token) => (token.kind === 'char' ? token.char : '')).join('') };
}

/** Commands are matched with one blank after their last word, so this is "end of word, then anything". */
const WORD_END: readonly Token[] = [{ kind: 'char', char: ' ' }, { kind: 'star' }];

function pathSpec(
  spec: string,
  access: 'read' | 'write',
  { kind, origin, options, name }: SpecContext,
): RuleSpec | Malformed {
  const text = spec.trim();
  if (text.startsWith('!')) {
    return {
      why: 'a path rule cannot begin with !',
      remedy: 'Remove the !, and list what is meant.',
    };
  }
  if (/^~[^/]/.test(text)) {
    return {
      why: "another user's home is not known",
      remedy: 'Write the absolute path, //home/name/….',
    };
  }
  const base = { ...options, root: origin.value.root };
  const isGrant = kind === 'allow';
  const pattern = parsePathPattern(text, base, { use: isGrant ? 'grant' : 'restrict' });
  const everyTool = !isGrant || name === 'Read' || name === 'Edit';
  return { kind: 'path', access, pattern, everyTool };
}

function sameLetters(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function problemOf(kind: RuleKind, origin: SourcedRule, { why, remedy }: Malformed): ConfigProblem {
  const isGrant = kind === 'allow';
  return {
    severity: isGrant ? 'warning' : 'fatal',
    ...(origin.file === undefined ? {} : { file: origin.file }),
    ...(origin.line === undefined ? {} : { line: origin.line }),
    message: `the ${kind} rule "${origin.value.text}" ${isGrant ? 'is ignored' : 'cannot be honoured'}: ${why}.`,
    remedy,
  };
}
