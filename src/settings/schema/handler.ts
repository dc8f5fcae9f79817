import { isRecord } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { HOOK_KINDS } from '../../protocol/hook-events.js';
import type { ConfigProblem } from '../types.js';
import type { EventCheck } from './check-options.js';
import { inWords, milder, problem, type ValueContext } from './type-check.js';

type Handler = Readonly<Record<string, unknown>>;

/** Faults of one hook that its shape does not show. */
export function checkHandler(
  handler: Handler,
  context: ValueContext,
  check: EventCheck,
): readonly ConfigProblem[] {
  return [
    ...checkKind(handler, context, check),
    ...checkEmpty(handler, context),
    ...checkCondition(handler, context, check),
    ...checkFailure(handler, context, check),
    ...(handler.type === 'command' ? checkCommand(handler, context) : []),
    ...(handler.type === 'http' ? checkHttp(handler, context) : []),
  ];
}

function inside(context: ValueContext, ...names: readonly string[]): ValueContext {
  return { ...context, way: [...context.way, ...names] };
}

/** fail-closed: one that could only hang or fail stops the start, even where it would only watch. */
function checkKind(
  { type }: Handler,
  context: ValueContext,
  { event, facts }: EventCheck,
): readonly ConfigProblem[] {
  const kind = HOOK_KINDS.find((one) => one === type);
  if (kind === undefined || facts.kinds.includes(kind)) return [];
  const at = { ...inside(context, 'type'), restricts: context.file.trusted };
  const message = `\`${inWords(at.way)}\` is "${kind}", and ${event} takes no such hooks.`;
  return [problem(at, message, `It takes ${facts.kinds.join(', ')}.`)];
}

function checkEmpty(handler: Handler, context: ValueContext): readonly ConfigProblem[] {
  const empty = ['command', 'url', 'prompt', 'server', 'tool'].find((name) => {
    const value = handler[name];
    return typeof value === 'string' && value.trim() === '';
  });
  if (empty === undefined) return [];
  const at = inside(context, empty);
  return [problem(at, `\`${inWords(at.way)}\` is empty.`)];
}

function checkCondition(
  { if: rule }: Handler,
  context: ValueContext,
  { facts, checkRule }: EventCheck,
): readonly ConfigProblem[] {
  if (typeof rule !== 'string' || rule.trim() === '') return [];
  const at = inside(context, 'if');
  if (facts.matches !== 'tool') {
    const message = `\`${inWords(at.way)}\` is for tool calls; at this event the hook would never run.`;
    return [problem(at, message, 'Remove it.')];
  }
  const why = checkRule?.(rule);
  if (why === undefined) return [];
  const message = `\`${inWords(at.way)}\` must be one permission rule; "${rule}" is none: ${why}`;
  return [problem(at, message, 'Correct it, or remove it to run the hook for every call.')];
}

/** At these a failure lets the agent end, whatever is written: otherwise it might never end. */
const MAY_ALWAYS_END: readonly string[] = ['Stop', 'SubagentStop', 'TaskCompleted', 'TeammateIdle'];

function checkFailure(
  { onFailure, async, asyncRewake }: Handler,
  context: ValueContext,
  { event }: EventCheck,
): readonly ConfigProblem[] {
  if (onFailure === undefined) return [];
  const beside = async === true || asyncRewake === true;
  const why = beside
    ? 'a hook that runs beside the session decides nothing'
    : MAY_ALWAYS_END.includes(event)
      ? `the failure of a ${event} hook never holds anything up`
      : undefined;
  if (why === undefined) return [];
  const at = inside(context, 'onFailure');
  return [problem(milder(at), `\`${inWords(at.way)}\` has no effect: ${why}.`, 'Remove it.')];
}

function checkCommand(handler: Handler, context: ValueContext): readonly ConfigProblem[] {
  const against = ['async', 'asyncRewake', 'once'].find((name) => handler[name] === true);
  const at = inside(context, 'persistent');
  const problems: ConfigProblem[] = [];
  if (handler.persistent === true && against !== undefined) {
    const message = `\`${inWords(at.way)}\` and \`${against}\` exclude each other.`;
    problems.push(problem(at, message, 'Remove one of the two.'));
  }
  if (handler.args !== undefined && handler.shell !== undefined) {
    const shell = inside(context, 'shell');
    const message = `\`${inWords(shell.way)}\` has no effect: with \`args\` no shell is used.`;
    problems.push(problem(milder(shell), message, 'Remove one of the two.'));
  }
  return problems;
}

function checkHttp(handler: Handler, context: ValueContext): readonly ConfigProblem[] {
  const { url, headers, allowedEnvVars } = handler;
  const at = inside(context, 'url');
  const why = typeof url === 'string' && url.trim() !== '' ? urlFault(url) : undefined;
  const listed: readonly unknown[] = Array.isArray(allowedEnvVars) ? allowedEnvVars : [];
  return [
    ...(why === undefined ? [] : [problem(at, `\`${inWords(at.way)}\` cannot be called: ${why}.`)]),
    ...Object.entries(isRecord(headers) ? headers : {}).flatMap(([name, value]) => {
      const header = inside(context, 'headers', name);
      return typeof value === 'string' ? checkHeader(name, value, { header, listed }) : [];
    }),
  ];
}

/** The address itself is not shown: it may hold a secret. */
function urlFault(text: string): string | undefined {
  if (parseUrl(text) === undefined) return 'it is no URL';
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return `${protocol} is neither http nor https`;
  if (username === '' && password === '') return undefined;
  return 'it holds a user name or password; send them in a header';
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

function checkHeader(
  name: string,
  value: string,
  { header, listed }: { readonly header: ValueContext; readonly listed: readonly unknown[] },
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (!HEADER_NAME.test(name)) {
    problems.push(problem(header, `\`${inWords(header.way)}\` cannot be the name of a header.`));
  }
  const used = [...value.matchAll(VARIABLE)].map((found) => found[1] ?? found[2] ?? '');
  for (const variable of new Set(used)) {
    if (listed.includes(variable)) continue;
    const message = `\`${inWords(header.way)}\` uses $${variable}, which is sent as nothing: \`allowedEnvVars\` does not list it.`;
    problems.push(problem(milder(header), message, `Add "${variable}" to allowedEnvVars.`));
  }
  return problems;
}
