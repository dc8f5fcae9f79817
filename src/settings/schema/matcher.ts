import { isRecord, own } from '../../lib/own.js';
import { linearPattern } from '../../lib/patterns/linear-pattern.js';
import { type MatcherPart, matcherParts } from '../../lib/patterns/matcher-parts.js';
import { NAME_LETTERS, sampleMatches } from '../../lib/patterns/pattern-words.js';
import { nearest } from '../../lib/text/nearest.js';
import { TOOL_ALIASES } from '../../lib/tool-names.js';
import { HOOK_EVENTS } from '../../protocol/hooks/hook-events.js';
import type { ConfigProblem } from '../types.js';
import {
  asWarning,
  DETACHED_FILE,
  type EventCheck,
  formatPath,
  problem,
  type ValueContext,
} from './type-check.js';

/** Checks a matcher: case does not matter, and a near miss of a tool's name is an error. */
export function checkMatcher(
  written: string,
  context: ValueContext,
  { event, facts, knownTools }: EventCheck,
): readonly ConfigProblem[] {
  const matcher = written.trim();
  if (matcher === '' || matcher === '*') return [];
  if (facts.matches === 'nothing') {
    const message = `\`${formatPath(context.path)}\` has no effect: ${event} is about nothing that a matcher could name.`;
    return [problem(asWarning(context), message, 'Remove it; the hook runs every time.')];
  }
  // Matchers on file names need no check.
  if (facts.matcherField === 'file_path') return [];
  const parts = matcherParts(matcher);
  if (parts.length === 0) {
    const message = `the matcher "${matcher}" names nothing; it is taken to mean everything.`;
    return [problem(asWarning(context), message, 'Write "*" to say so.')];
  }
  const tools = facts.matches === 'tool' ? knownTools : undefined;
  const names = tools === undefined ? undefined : [...tools, ...Object.keys(TOOL_ALIASES)];
  const at: Place = { matcher, context, names, forTools: facts.matches === 'tool' };
  return parts.flatMap((part) => checkPart(part, at));
}

interface Place {
  readonly matcher: string;
  readonly context: ValueContext;
  /** All tool names including older ones; absent when unknown. */
  readonly names: readonly string[] | undefined;
  readonly forTools: boolean;
}

function checkPart(part: MatcherPart, at: Place): readonly ConfigProblem[] {
  if (part.kind === 'expression') return checkExpression(part.text, at);
  if (!at.forTools) return [];
  if (part.kind === 'name') return checkName(part.text, at);
  const { text, tool } = part;
  const pattern = linearPattern(text, { ignoreCase: true });
  const isTool = at.names?.some((one) => one.toLowerCase() === tool.toLowerCase());
  // `Notebook(Edit)` is an expression, and `Note(?=book)` one that is not supported.
  if (pattern.ok && at.names?.some((one) => pattern.value.test(one))) return [];
  if (!pattern.ok && isTool === false) return checkExpression(text, at);
  const message = `the matcher "${text}" is a rule; it is taken to mean every call of ${tool}.`;
  const remedy = `Write "${tool}", and the rule into "if".`;
  return [problem(asWarning(at.context), message, remedy), ...checkName(tool, at)];
}

function checkName(name: string, { matcher, context, names }: Place): readonly ConfigProblem[] {
  if (/^mcp__/i.test(name)) {
    if (/^mcp__.+?__./i.test(name)) return [];
    // The hook matcher reads a bare `mcp__server` as a prefix of all its tools.
    const message = `the matcher "${name}" names no tool; it is taken to mean every tool that begins so.`;
    const remedy = `Write ${name.replace(/_*$/, '')}__.* to say so.`;
    return [problem(asWarning(context), message, remedy)];
  }
  const isKnown = names?.some((one) => one.toLowerCase() === name.toLowerCase());
  if (names === undefined || isKnown === true) return [];
  // fail-closed: tool names never contain blanks.
  if (/\s/.test(name)) return [matchesNothing(name, context, 'Join several names by |.')];
  const near = nearest(name, names);
  const message = `the matcher "${matcher}" names ${name}, and there is no such tool`;
  if (near !== undefined) return [problem(context, `${message}.`, `Did you mean ${near}?`)];
  const remedy = 'It matches nothing until there is.';
  return [problem(asWarning(context), `${message} now.`, remedy)];
}

function checkExpression(
  text: string,
  { matcher, context, names }: Place,
): readonly ConfigProblem[] {
  // Uses the matcher's engine, because an expression it rejects would guard nothing.
  const pattern = linearPattern(text, { ignoreCase: true });
  if (!pattern.ok) {
    const message = `the matcher "${matcher}" is not a regular expression that can be used here: ${pattern.error}.`;
    return [problem(context, message, 'Write names joined by |, or correct the expression.')];
  }
  const fits = (name: string): boolean => pattern.value.test(name);
  if (names === undefined || [...names, 'mcp__x__y'].some(fits)) return [];
  const words = sampleMatches(text, NAME_LETTERS);
  const near = words.map((word) => nearest(word, names)).find((one) => one !== undefined);
  if (near !== undefined) return [matchesNothing(text, context, `Did you mean ${near}?`)];
  // fail-closed: tool names contain no quotes, slashes or look-alike letters, so the matcher guards nothing.
  if (!words.flatMap(inServerTools).some(fits)) {
    return [matchesNothing(text, context, 'Write names joined by |, without quotes.')];
  }
  if (/mcp|__/i.test(text)) return [];
  const message = `the matcher "${text}" matches no tool that there is now.`;
  return [problem(asWarning(context), message, 'It may match tools of MCP servers.')];
}

/** Possible names of MCP tools that contain a word. */
function inServerTools(word: string): readonly string[] {
  const whole = /^mcp__.+?__./i.test(word) ? [word] : [];
  return [...whole, `mcp__x__${word}`, `mcp__${word}__x`, `mcp__x__x${word}x`, `mcp__x${word}`];
}

function matchesNothing(text: string, context: ValueContext, remedy: string): ConfigProblem {
  return problem(context, `the matcher "${text}" matches no tool.`, remedy);
}

/** A fault of a matcher in the front matter of a skill or agent. */
interface MatcherFault {
  readonly matcher: string;
  /** The guard would never match what was meant. */
  readonly stops: boolean;
  readonly message: string;
}

/** Checks the matchers of a `hooks` object against the known tools, as in settings. */
export function matcherFaults(
  hooks: unknown,
  knownTools: readonly string[],
): readonly MatcherFault[] {
  if (!isRecord(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, groups]) => {
    const facts = own(HOOK_EVENTS, event);
    if (facts === undefined) return [];
    const restricts = facts.role !== 'observe';
    return (Array.isArray(groups) ? groups : [groups]).flatMap((group: unknown, index) => {
      const matcher = isRecord(group) ? group.matcher : undefined;
      if (typeof matcher !== 'string') return [];
      const path = ['hooks', event, index, 'matcher'];
      const problems = checkMatcher(
        matcher,
        { file: DETACHED_FILE, path, restricts },
        { event, facts, knownTools },
      );
      return problems.map(({ severity, message, remedy }) => ({
        matcher,
        // An unreadable matcher applies to every call.
        stops: severity === 'fatal' && isReadable(matcher),
        message: `${message} ${remedy}`,
      }));
    });
  });
}

function isReadable(matcher: string): boolean {
  return matcherParts(matcher).every(
    ({ kind, text }) => kind !== 'expression' || linearPattern(text, { ignoreCase: true }).ok,
  );
}
