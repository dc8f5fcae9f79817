import { linearPattern } from '../util/linear-pattern.js';
import { nearest } from '../util/nearest.js';
import { TOOL_ALIASES } from '../util/tool-names.js';
import type { EventCheck } from './check-options.js';
import { inWords, milder, problem, type ValueContext } from './check-values.js';
import type { ConfigProblem } from './types.js';

const PLAIN_NAMES = /^[\w\-, |]+$/;

/** In whatever case a name stands, it means its tool. A name that is nearly a tool's means nothing. */
export function checkMatcher(
  written: string,
  context: ValueContext,
  { event, facts, knownTools }: EventCheck,
): readonly ConfigProblem[] {
  const matcher = written.trim();
  if (matcher === '' || matcher === '*') return [];
  if (facts.matches === 'nothing') {
    const message = `\`${inWords(context.way)}\` has no effect: ${event} is about nothing that a matcher could name.`;
    return [problem(milder(context), message, 'Remove it; the hook runs every time.')];
  }
  // Names of files stand as they are.
  if (facts.matcherField === 'file_path') return [];
  const forTools = facts.matches === 'tool';
  if (!PLAIN_NAMES.test(matcher)) return checkExpression(matcher, context, forTools);
  return forTools ? checkNames(matcher, context, knownTools) : [];
}

function checkExpression(
  matcher: string,
  context: ValueContext,
  forTools: boolean,
): readonly ConfigProblem[] {
  const [, tool] = /^(\w+)\(.*\)$/s.exec(matcher) ?? [];
  if (forTools && tool !== undefined && !matcher.includes('|')) {
    const message = `the matcher "${matcher}" is a rule; it is taken to mean every call of ${tool}.`;
    return [problem(milder(context), message, `Write "${tool}", and the rule into "if".`)];
  }
  // The very engine that the gate uses: what it cannot search for would guard nothing that was meant.
  const pattern = linearPattern(matcher, { ignoreCase: true });
  if (pattern.ok) return [];
  const message = `the matcher "${matcher}" is not a regular expression that can be used here: ${pattern.error}.`;
  return [problem(context, message, 'Write names joined by |, or correct the expression.')];
}

function checkNames(
  matcher: string,
  context: ValueContext,
  knownTools: readonly string[] | undefined,
): readonly ConfigProblem[] {
  const names = matcher
    .split(/[|,]/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.flatMap((name) => {
    if (/^mcp__/i.test(name)) return checkServer(name, context);
    return knownTools === undefined ? [] : checkTool(name, context, { matcher, knownTools });
  });
}

/** `mcp__server` alone is no tool's name; the gate takes it for all tools of the server. */
function checkServer(name: string, context: ValueContext): readonly ConfigProblem[] {
  if (/^mcp__.+?__./i.test(name)) return [];
  const message = `the matcher "${name}" names no tool; it is taken to mean every tool that begins so.`;
  return [problem(milder(context), message, `Write ${name.replace(/_*$/, '')}__.* to say so.`)];
}

function checkTool(
  name: string,
  context: ValueContext,
  { matcher, knownTools }: { readonly matcher: string; readonly knownTools: readonly string[] },
): readonly ConfigProblem[] {
  const names = [...knownTools, ...Object.keys(TOOL_ALIASES)];
  if (names.some((one) => one.toLowerCase() === name.toLowerCase())) return [];
  const near = nearest(name, names);
  if (near === undefined) {
    const message = `the matcher "${matcher}" names ${name}, and there is no such tool now.`;
    return [problem(milder(context), message, 'It matches nothing until there is.')];
  }
  const message = `the matcher "${matcher}" names ${name}, and there is no such tool.`;
  return [problem(context, message, `Did you mean ${near}?`)];
}
