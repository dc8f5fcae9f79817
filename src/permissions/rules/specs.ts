import { own } from '../../lib/own.js';
import { visible } from '../../lib/text/visible.js';
import type { SourcedRule } from '../../settings/types.js';
import { commandSpec, WORD_END } from './command-pattern.js';
import { parseDomain } from './domain.js';
import { hasLostDots, parsePathPattern } from './path-pattern.js';
import {
  EFFECTS,
  type Malformed,
  type ParseRulesOptions,
  type RuleKind,
  type RuleSpec,
} from './rule.js';
import { PRIMARY_INPUTS, RULE_TOOLS, type RuleTool } from './tools.js';
import { commandTokens, type Token } from './wildcard.js';

interface SpecContext {
  readonly kind: RuleKind;
  readonly origin: SourcedRule;
  readonly options: ParseRulesOptions;
  /** The tool it is for; undefined for a pattern over names. */
  readonly tool: string | undefined;
  /** The name as written. */
  readonly written: string;
}

/** What stands in a rule's parentheses. */
export function parseSpec(spec: string, context: SpecContext): RuleSpec | Malformed {
  const { tool: name, kind, written } = context;
  if (name === undefined) {
    return { why: 'a tool-name pattern takes no parentheses', remedy: `Write ${written} alone.` };
  }
  const tool: RuleTool = own(RULE_TOOLS, name) ?? { spec: 'none' };
  const parameter = parameterSpec(spec, tool, { kind, name });
  if (parameter !== undefined) return parameter;
  switch (tool.spec) {
    case 'command':
      // A prefix of nothing: for a restriction, every command begins with that.
      if (kind !== 'allow' && spec.trim() === ':*') return { kind: 'any' };
      return commandSpec(spec, { kind, tool: name, home: context.options.home });
    case 'read-path':
    case 'write-path':
      return pathSpec(spec, tool.spec === 'read-path' ? 'read' : 'write', context);
    case 'domain': {
      const pattern = parseDomain(spec);
      return pattern === undefined
        ? { why: 'its specifier is not a domain', remedy: `Write ${name}(domain:example.com).` }
        : { kind: 'domain', pattern };
    }
    case 'field':
      return fieldSpec(spec, tool, kind);
    case 'effect':
      return effectSpec(spec, kind);
    default:
      return {
        why: `${name} takes no such specifier`,
        remedy: `Write ${name} alone${kind === 'allow' ? '' : ' or name one of its parameters, (parameter:value)'}.`,
      };
  }
}

/** `Tool(parameter:value)`, in restrictions only. Not for what the tool is mainly about. */
function parameterSpec(
  spec: string,
  tool: RuleTool,
  { kind, name }: { kind: RuleKind; name: string },
): RuleSpec | Malformed | undefined {
  const found = /^([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(.+)$/s.exec(spec.trim());
  if (found === null) return undefined;
  const [, field = '', value = ''] = found;
  // `Bash(command:*)` is the prefix form of the shell's own `command`.
  if (isPrimary(field, tool) && !(tool.spec === 'command' && value === '*')) {
    return {
      why: `${field} is what ${name} rules are about by themselves`,
      remedy: `Write ${name}(${tool.spec === 'domain' ? 'domain:example.com' : value}).`,
    };
  }
  if (kind === 'allow' || (isProgram(field, tool) && value === '*')) return undefined;
  if (isProgram(field, tool) && !/^[\d*]+$/.test(value)) {
    return {
      why: `${field} is a command and a parameter of ${name}`,
      remedy: `Write ${name}(${field} *) for the command or ${name}(${field}:60000) for the parameter.`,
    };
  }
  const isParameter = tool.parameters?.includes(field) ?? tool.spec === 'none';
  return isParameter ? { kind: 'field', field, value: folded(value, kind) } : undefined;
}

/** `Bash(timeout:*)` is about the command of that name, as every rule of this form. */
function isProgram(field: string, { spec }: RuleTool): boolean {
  return spec === 'command' && field === 'timeout';
}

function isPrimary(field: string, tool: RuleTool): boolean {
  if (PRIMARY_INPUTS.has(field) || field === tool.field) return true;
  // What a skill is called is the input `skill`; people look for it under `name`.
  return field === 'name' && tool.followedBy !== undefined;
}

function fieldSpec(spec: string, tool: RuleTool, kind: RuleKind): RuleSpec | Malformed {
  const { field = '', followedBy } = tool;
  // Names are kept in one form of Unicode.
  const named = spec.normalize('NFC');
  if (followedBy === undefined)
    return (
      typeNameProblem(named.trim()) ?? { kind: 'field', field, value: folded(named.trim(), kind) }
    );
  // Names are matched with what follows them and one blank at the end, as commands are.
  // They are kept without the slash that people type in front of them.
  const text = named.trim().replace(/^\/(?=.)/s, '');
  const problem = skillNameProblem(text, kind);
  if (problem !== undefined) return problem;
  const family = /^(.+):\*$/s.exec(text)?.[1];
  if (family !== undefined) {
    // A restriction goes by the mere beginning of a name; a grant ends with it or with its colon.
    const end = kind === 'allow' ? [NAME_END] : [];
    const value: Token[] = [...folded(family, kind), ...end, { kind: 'star' }];
    return { kind: 'field', field, value, followedBy };
  }
  const open = /^(.+?)\s+\*$/s.exec(text)?.[1];
  // A restriction on a name holds with whatever arguments.
  const any = open ?? (kind === 'allow' ? undefined : text);
  const value: readonly Token[] =
    any === undefined
      ? [...folded(text, kind), { kind: 'char', char: ' ' }]
      : [...folded(any, kind), ...WORD_END];
  return { kind: 'field', field, value, followedBy };
}

/** Why a rule can never be about a type of agent. fail-closed: a restriction without effect stops the start. */
function typeNameProblem(name: string): Malformed | undefined {
  const bare = name.replace(/["'`]/g, '');
  if (visible(name) !== name) return { why: 'it holds hidden characters', remedy: 'Type it anew.' };
  const signs = signsProblem(name, 'type of agent');
  if (signs !== undefined) return signs;
  if (name.includes(','))
    return {
      why: 'no type of agent has a comma in its name',
      remedy: 'Write a rule for each type.',
    };
  if (/\s/.test(name))
    return { why: 'no type of agent has a blank in its name', remedy: 'Write Agent(type).' };
  if (bare !== name)
    return { why: 'types stand in rules without quotes', remedy: `Write Agent(${bare}).` };
  if (/[/#\\<>()]/.test(name))
    return {
      why: 'no type of agent has <, >, #, a slash, a backslash or a parenthesis in its name',
      remedy: 'Write Agent(type); rules for an agent by its path stand under portcullis.agents.',
    };
  return undefined;
}

/**
 * Why a rule can never be about a skill, whatever it is called: `deploy`, `plugin:deploy` or
 * `sub/dir:deploy`. fail-closed: a restriction without effect stops the start.
 */
function skillNameProblem(text: string, kind: RuleKind): Malformed | undefined {
  const name = text.replace(/(?:\s+\*|:\*)$/, '');
  const [word = '', rest] = /^(\S+?):?\s+(.+)$/s.exec(name)?.slice(1) ?? [];
  if (rest !== undefined) return argumentsProblem({ text, word, rest, kind });
  const refused = (why: string, remedy: string): Malformed => ({ why, remedy });
  const isFamily = text.endsWith(':*');
  const bare = lastPart(name);
  const instead = `Write Skill(${bare === '' ? 'name' : bare}).`;
  if (visible(name) !== name) return refused('it holds hidden characters', 'Type it anew.');
  if (name.includes(',')) {
    return refused('no skill has a comma in its name', 'Write a rule for each skill.');
  }
  if (/^["'`]|["'`]$/.test(name)) return refused('names stand in rules without quotes', instead);
  // In front of a colon stands a directory, which may be called anything.
  const isDirectory = isFamily && name.includes('/');
  const signs = isDirectory ? undefined : signsProblem(name.replace(/^.*:/s, ''), 'skill');
  if (signs !== undefined) return signs;
  if (/[<>()\\]/.test(name)) {
    return refused('no skill has <, >, a parenthesis or a backslash in its name', instead);
  }
  if (name === '' || (!isFamily && name.endsWith(':'))) {
    return refused('it ends before the name of the skill', instead);
  }
  // Only a directory in front of a colon has slashes in it.
  const isPath = !isFamily && /\/[^:*]*$/.test(name);
  const leadsOn = name.split('/').some((part) => part === '' || part === '.' || part === '..');
  return isPath || leadsOn ? refused('a skill is not named by its path', instead) : undefined;
}

/** What is left of a name without quotes, and without the way to it. */
function lastPart(name: string): string {
  const parts = name.split(/["'`<>()\\/]+/).filter((part) => !/^[.:]*$/.test(part));
  return (parts.at(-1) ?? '').replace(/:+$/, '');
}

/** Rules about a skill are about its name; what it is started with is an input of its own. */
function argumentsProblem(rule: {
  readonly text: string;
  readonly word: string;
  readonly rest: string;
  readonly kind: RuleKind;
}): Malformed | undefined {
  const { text, word, rest, kind } = rule;
  if (kind === 'allow') {
    // A grant for arguments that begin so, or for a skill in a directory with a blank in its name.
    if (/\s\*$|:[^\s:/]+$/.test(text)) return undefined;
    const remedy = `Write Skill(${word} *) for any arguments.`;
    return { why: 'no skill has a blank in its name', remedy };
  }
  const given = `${rest}${/\s\*$/.test(text) ? '*' : ''}`;
  return {
    why: 'no skill has a blank in its name, and arguments are named apart',
    remedy: `Write Skill(${word}) for every call of it, or Skill(args:${given}) for arguments of any skill. For a blank in the name of a directory write *.`,
  };
}

/** fail-closed: nothing is let through for what it is said to do; such rules only restrict. */
function effectSpec(spec: string, kind: RuleKind): RuleSpec | Malformed {
  const known = EFFECTS.map((name) => `Effect(${name})`).join(', ');
  if (kind === 'allow') {
    return { why: 'effects cannot be allowed', remedy: `Move it to ask or deny: ${known}.` };
  }
  const wanted = spec
    .trim()
    .toLowerCase()
    .replace(/[\s:]+/g, ':');
  const effect = EFFECTS.find((name) => name === wanted);
  return effect === undefined
    ? { why: 'there is no such effect', remedy: `Write one of ${known}.` }
    : { kind: 'effect', effect };
}

/** Restrictions ignore the case of names. */
function folded(value: string, kind: RuleKind): readonly Token[] {
  const text = value.trim();
  return commandTokens(kind === 'allow' ? text : text.toLowerCase());
}

const NAME_END: Token = { kind: 'set', has: (char) => char === ' ' || char === ':' };

function pathSpec(
  spec: string,
  access: 'read' | 'write',
  { kind, origin, options, tool }: SpecContext,
): RuleSpec | Malformed {
  const text = spec.trim();
  const problem = pathProblem(text) ?? (kind === 'allow' ? undefined : severalProblem(text));
  if (problem !== undefined) return problem;
  const base = { ...options, root: origin.value.root };
  const isGrant = kind === 'allow';
  const use = isGrant ? 'grant' : 'restrict';
  const everyTool = !isGrant || tool === 'Read' || tool === 'Edit';
  // People write absolute paths with one slash, and names may begin or end with a blank: a restriction
  // holds for either reading.
  const other = /^\/(?!\/)/.test(text) ? `/${text}` : spec;
  return {
    kind: 'path',
    access,
    everyTool,
    pattern: parsePathPattern(text, base, { use }),
    ...(!isGrant && other !== text && { also: parsePathPattern(other, base, { use }) }),
  };
}

/** Why a path rule cannot mean what it says; undefined when it can. */
function pathProblem(spec: string): Malformed | undefined {
  if (spec.startsWith('!')) {
    return {
      why: 'rules have no exceptions, and whatever another rule covers stays covered',
      remedy: 'Remove it, and list what is meant.',
      exception: true,
    };
  }
  if (/^~[^/]/.test(spec)) {
    return {
      why: "another user's home is not known",
      remedy: 'Write the absolute path, //home/name/….',
    };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(spec)) {
    return { why: 'a web address is not a path', remedy: 'Write the path, or WebFetch(domain:…).' };
  }
  if (/^\$\{?\w+\}?(\/|$)|^%\w+%/.test(spec)) {
    return {
      why: 'variables are not replaced in rules',
      remedy: 'Write ~/… for the home directory, or the absolute path, //….',
    };
  }
  if (/^(["']).*\1$/s.test(spec)) {
    return { why: 'quotes would be part of the name', remedy: 'Remove the quotes.' };
  }
  const [, label, labelled = ''] = /^([a-z][\w-]+)\s*:\s*(.*)$/is.exec(spec) ?? [];
  if (label !== undefined) {
    return {
      why: `${label} would be part of the name`,
      remedy: `Write ${labelled}; for a file that is called so, ./${spec}.`,
    };
  }
  if (hasLostDots(spec)) {
    return {
      why: 'nothing says which directory .. behind ** leads out of',
      remedy: 'Write the path without dots.',
    };
  }
  return /[\0\n\r]/.test(spec)
    ? { why: 'it holds a line break or a NUL character', remedy: 'Write a rule for each path.' }
    : undefined;
}

/**
 * Why a name in a rule can never match: with these signs other patterns say more than `*` does, and no
 * such name holds one. fail-closed: a restriction without effect stops the start.
 */
function signsProblem(name: string, what: string): Malformed | undefined {
  const sign = SIGNS.exec(name)?.[0];
  if (sign === undefined) return undefined;
  return {
    why: `no ${what} has ${sign} in its name, and * alone is a pattern`,
    remedy: 'Write a rule for each name, or * in the place of what differs.',
  };
}

/** No name of a skill, an agent's type or a tool holds one. */
const SIGNS = /[?[\]{}|^$]|^!/;

/**
 * Why a path that is written as several, or in the form of another tool, does not cover what it says: the signs are
 * letters like others. fail-closed: a file may be called so, but who writes a restriction so means something else.
 */
function severalProblem(path: string): Malformed | undefined {
  // What stands behind a backslash or in a set is meant to be a letter.
  const rest = path.replace(/\\.|\[[!^]?\]?[^\]/]*\]/gs, '');
  if (rest.includes('[')) {
    return {
      why: 'the set that [ begins has no end',
      remedy: 'Write the ] that ends it; for a file that is called so, \\[.',
    };
  }
  const braces = /\{[^{}]*(?:,|\.\.)[^{}]*\}/.exec(rest)?.[0];
  const separator =
    /\|/.exec(rest) ?? (path.includes('\\') ? null : /,|\s(?=[.~*]|\/\w)/.exec(path));
  const several = braces ?? separator?.[0];
  if (several !== undefined) {
    const sign = several.trim() === '' ? 'a blank' : several;
    return {
      why: `${sign} does not stand ${braces === undefined ? 'between' : 'for'} several paths`,
      remedy: `Write a rule for each path; for a file that is called so, \\${several.charAt(0)}.`,
    };
  }
  if (/\\(?=[\w.])/.test(path)) {
    return { why: '\\ does not separate names', remedy: 'Write / between names.' };
  }
  const odd = /^@(?=[./~])|^:|:\*$/.exec(path)?.[0];
  if (odd === undefined) return undefined;
  return { why: `${odd} would be part of the name`, remedy: 'Write the path without it.' };
}
