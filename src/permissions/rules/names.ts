import { visible } from '../../lib/text/visible.js';
import { createNames, TOOL_ALIASES } from '../../lib/tool-names.js';
import type { Malformed, RuleKind } from './rule.js';
import { RULE_TOOLS } from './tools.js';
import { commandTokens, matches } from './wildcard.js';

/** The tool or tools that the name in front of a rule's parentheses means. */
interface RuleName {
  /** Absent for a pattern over names. */
  readonly canonical?: string;
  /** Set when no tool that is known now is meant. */
  readonly isUnknownTool?: true;
  matchesTool(names: readonly string[]): boolean;
}

interface NameContext {
  readonly kind: RuleKind;
  /** Whether something stands in parentheses. */
  readonly scoped: boolean;
  /** Tools of this session beyond the table of built-in ones. */
  readonly knownTools: readonly string[];
}

export function resolveRuleName(name: string, context: NameContext): RuleName | Malformed {
  if (/^mcp__/i.test(name)) return mcpName(name, context);
  // fail-closed: it would wait for a tool that cannot be.
  if (NO_NAME.test(name)) return impossibleName(name, context);
  if (name.includes('*')) return namePattern(name, context);
  const { kind, knownTools } = context;
  const known = [...TABLE, ...knownTools];
  const exact = known.includes(name) || Object.hasOwn(TOOL_ALIASES, name);
  // A restriction means its tool in whatever case; a grant names it exactly.
  const canonical =
    exact || kind !== 'allow'
      ? (TABLE_NAMES.resolve(name) ?? namesOf(knownTools).resolve(name))
      : undefined;
  if (canonical !== undefined) {
    return { canonical, matchesTool: (names) => names.includes(canonical) || names.includes(name) };
  }
  return unknownName(name, context);
}

function impossibleName(name: string, { knownTools }: NameContext): Malformed {
  const near = namesOf([...TABLE, ...knownTools]).nearest(name.replace(NOT_LETTERS, ''));
  return {
    why: `no tool can be called ${name}, and * alone is a pattern`,
    remedy: near === undefined ? 'Write a rule for each tool.' : `Did you mean ${near}?`,
  };
}

const NOT_LETTERS = /[^\w-]+/g;

/** Models call tools by letters, digits, dashes and underscores. */
const NO_NAME = /[^\w*-]/;

const TABLE = Object.keys(RULE_TOOLS);
const TABLE_NAMES = namesOf(TABLE);

function namesOf(names: readonly string[]) {
  return createNames(names.map((name) => ({ name, value: name })));
}

/** A plain ban of an unknown tool is kept for servers that connect later; a near-miss is a mistake. */
function unknownName(
  name: string,
  { kind, scoped, knownTools }: NameContext,
): RuleName | Malformed {
  const near = namesOf([...TABLE, ...knownTools, ...Object.keys(TOOL_ALIASES)]).nearest(name);
  if (kind !== 'allow' && near === undefined && /^[a-z][a-z0-9-]*$/.test(name)) {
    return {
      why: `there is no tool ${name}, and no tool has such a name`,
      remedy: `For the command, write Bash(${name} *).`,
    };
  }
  if (kind !== 'allow' && !scoped && near === undefined) {
    const wanted = name.toLowerCase();
    return {
      isUnknownTool: true,
      matchesTool: (names) => names.some((one) => one.toLowerCase() === wanted),
    };
  }
  const remedy = near === undefined ? 'Name an existing tool.' : `Did you mean ${near}?`;
  return { why: `there is no tool ${name}`, remedy };
}

/** `mcp__server` and `mcp__server__*` are the whole server. */
function mcpName(name: string, { kind }: NameContext): RuleName | Malformed {
  const rest = name.slice('mcp__'.length);
  const end = rest.indexOf('__');
  const server = end === -1 ? rest : rest.slice(0, end);
  const isGrant = kind === 'allow';
  if (isGrant && (server === '' || server.includes('*') || !name.startsWith('mcp__'))) {
    return {
      why: 'a grant must name the MCP server',
      remedy: 'Write mcp__server or mcp__server__tool.',
    };
  }
  const problem = mcpNameProblem(name, isGrant);
  if (problem !== undefined) return problem;
  // A restriction may spell the tool as its server does: in names, other characters are underscores.
  const meant = isGrant ? name : name.replace(/[^A-Za-z0-9_*-]/gu, '_');
  const pattern = end === -1 && !server.includes('*') ? `${meant}__*` : meant;
  const tokens = commandTokens(isGrant ? pattern : pattern.toLowerCase());
  const matchesTool = (names: readonly string[]): boolean =>
    names.some((one) => matches(tokens, isGrant ? one : one.toLowerCase()));
  return name.includes('*') || end === -1 ? { matchesTool } : { canonical: name, matchesTool };
}

/** Why no tool of any server can be meant. fail-closed: a restriction without effect stops the start. */
function mcpNameProblem(name: string, isGrant: boolean): Malformed | undefined {
  const rest = name.slice('mcp__'.length);
  const isPlain = /^[A-Za-z0-9_*-]*$/.test(rest);
  if (!isPlain && visible(name) !== name)
    return { why: 'it holds hidden characters', remedy: 'Type it anew.' };
  if (/[,;\s]mcp__/i.test(rest))
    return { why: 'it names more than one tool', remedy: 'Write a rule for each.' };
  if (!isPlain && isGrant) {
    const why = 'in names of tools other characters than A-Z, a-z, 0-9, _ and - are underscores';
    return { why, remedy: `Write ${name.replace(/[^A-Za-z0-9_*-]/gu, '_')}.` };
  }
  // A server may have underscores in front of its name, but is not called nothing.
  const end = rest.indexOf('__', 1);
  const isWhole = end === -1 && rest !== '' && !rest.startsWith('__');
  if (isWhole || (end === -1 ? rest.includes('*') : end + 2 < rest.length)) return undefined;
  const server = rest.slice(0, Math.max(end, 0));
  return server === ''
    ? {
        why: 'it names no MCP server',
        remedy: 'Write mcp__* for all servers, mcp__server or mcp__server__tool.',
      }
    : {
        why: 'it ends before the name of the tool',
        remedy: `Write mcp__${server} for the whole server, or mcp__${server}__tool.`,
      };
}

function namePattern(name: string, { kind, knownTools }: NameContext): RuleName | Malformed {
  if (kind === 'allow') {
    return {
      why: 'a grant cannot use * in a tool name',
      remedy: 'Name each tool that is allowed.',
    };
  }
  const tokens = commandTokens(name.toLowerCase());
  const fits = (one: string): boolean => matches(tokens, one.toLowerCase());
  const isKnown = [...TABLE, ...knownTools].some(fits);
  return {
    ...(isKnown ? {} : { isUnknownTool: true as const }),
    matchesTool: (names) => names.some(fits),
  };
}
