import { SETTINGS } from '../../../build/generated/settings-table.js';
import { nearest } from '../../lib/nearest.js';
import { isRecord, own } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { HOOK_KINDS } from '../../protocol/hook-event-facts.js';
import { type HookEventName, hookEventFacts } from '../../protocol/hook-events.js';
import type { SettingNode } from '../../protocol/setting-node.js';
import type { ConfigProblem } from '../types.js';
import {
  asWarning,
  checkValue,
  DETACHED_FILE,
  type EventCheck,
  forEachName,
  formatPath,
  problem,
  unknownKey,
  type ValueContext,
} from './type-check.js';

type Handler = Readonly<Record<string, unknown>>;

/** A handler that can run: its own fields, and what it says about its limits. */
export interface ParsedHandler {
  readonly fields: Handler;
  readonly timeoutMs?: number;
  readonly onFailure?: 'block' | 'continue';
}

/** Parses one handler wherever it is declared, by the same checks as those of settings files. */
export function parseHandler(raw: unknown, event: HookEventName): Result<ParsedHandler, string> {
  if (!isRecord(raw)) return err('it is no object');
  const context: ValueContext = { file: DETACHED_FILE, path: [], restricts: true };
  // Only settings files are checked for misspelt keys; here an unknown key changes nothing.
  const unknownKey: ValueContext['unknownKey'] = (...key) => ({
    ...unknownHookKey(...key),
    severity: 'note',
  });
  const fault = [
    ...checkValue(HANDLER, raw, { ...context, unknownKey }),
    ...checkRunnable(raw, context, { event, facts: hookEventFacts(event) }),
  ].find(({ severity }) => severity === 'fatal');
  if (fault !== undefined) return err(fault.message.replace(/\.$/, ''));
  const { timeout, onFailure, ...fields } = structuredClone(raw);
  // A description of a wrong type is no reason to lose the hook.
  for (const name of ['name', 'description']) {
    if (typeof fields[name] !== 'string') delete fields[name];
  }
  return ok({
    fields,
    timeoutMs: typeof timeout === 'number' ? timeout * 1000 : undefined,
    onFailure: declaredOnFailure({ onFailure }),
  });
}

/** What a handler says about its own failure, however broken the rest of it is. */
export function declaredOnFailure(raw: unknown): 'block' | 'continue' | undefined {
  const said = isRecord(raw) ? raw.onFailure : undefined;
  return said === 'block' || said === 'continue' ? said : undefined;
}

/** A handler in the table of settings: an item of an item of an event's list. */
const HANDLER: SettingNode = handlerNode();

function handlerNode(): SettingNode {
  const hooks = own(SETTINGS, 'hooks');
  const groups = hooks?.type === 'map' ? hooks.of : undefined;
  const group = groups?.type === 'list' ? groups.of : undefined;
  const handlers = group?.type === 'object' ? own(group.keys, 'hooks') : undefined;
  // fail-closed: without its table nothing could be checked.
  if (handlers?.type !== 'list') throw new Error('there is no table of hooks');
  return handlers.of;
}

/** Faults of one hook that its shape does not show. */
export function checkHandler(
  handler: Handler,
  context: ValueContext,
  check: EventCheck,
): readonly ConfigProblem[] {
  return [
    ...checkRunnable(handler, context, check),
    ...checkCondition(handler, context, check),
    ...checkFailure(handler, context, check),
  ];
}

function checkRunnable(
  handler: Handler,
  context: ValueContext,
  check: EventCheck,
): readonly ConfigProblem[] {
  return [
    ...checkKind(handler, context, check),
    ...checkEmpty(handler, context),
    ...(handler.type === 'command' ? checkCommand(handler, context) : []),
    ...(handler.type === 'http' ? checkHttp(handler, context) : []),
  ];
}

function inside(context: ValueContext, ...names: readonly string[]): ValueContext {
  return { ...context, path: [...context.path, ...names] };
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
  const message = `\`${formatPath(at.path)}\` is "${kind}", and ${event} takes no such hooks.`;
  return [problem(at, message, `It takes ${facts.kinds.join(', ')}.`)];
}

function checkEmpty(handler: Handler, context: ValueContext): readonly ConfigProblem[] {
  const empty = ['command', 'url', 'prompt', 'server', 'tool'].find((name) => {
    const value = handler[name];
    return typeof value === 'string' && value.trim() === '';
  });
  if (empty === undefined) return [];
  const at = inside(context, empty);
  return [problem(at, `\`${formatPath(at.path)}\` is empty.`)];
}

function checkCondition(
  { if: rule }: Handler,
  context: ValueContext,
  { facts, checkRule }: EventCheck,
): readonly ConfigProblem[] {
  if (typeof rule !== 'string' || rule.trim() === '') return [];
  const at = inside(context, 'if');
  if (facts.matches !== 'tool') {
    const message = `\`${formatPath(at.path)}\` is for tool calls; at this event the hook would never run.`;
    return [problem(at, message, 'Remove it.')];
  }
  const why = checkRule?.(rule);
  if (why === undefined) return [];
  const message = `\`${formatPath(at.path)}\` must be one permission rule; "${rule}" is none: ${why}`;
  return [problem(at, message, 'Correct it, or remove it to run the hook for every call.')];
}

function checkFailure(
  { onFailure, async, asyncRewake }: Handler,
  context: ValueContext,
  { event, facts }: EventCheck,
): readonly ConfigProblem[] {
  if (onFailure === undefined) return [];
  const beside = async === true || asyncRewake === true;
  const why = beside
    ? 'a hook that runs beside the session decides nothing'
    : facts.failureNeverBlocks === true
      ? `the failure of a ${event} hook never holds anything up`
      : undefined;
  if (why === undefined) return [];
  const at = inside(context, 'onFailure');
  return [
    problem(asWarning(at), `\`${formatPath(at.path)}\` has no effect: ${why}.`, 'Remove it.'),
  ];
}

function checkCommand(handler: Handler, context: ValueContext): readonly ConfigProblem[] {
  const against = ['async', 'asyncRewake', 'once'].find((name) => handler[name] === true);
  const at = inside(context, 'persistent');
  const problems: ConfigProblem[] = [];
  if (handler.persistent === true && against !== undefined) {
    const message = `\`${formatPath(at.path)}\` and \`${against}\` exclude each other.`;
    problems.push(problem(at, message, 'Remove one of the two.'));
  }
  if (handler.args !== undefined && handler.shell !== undefined) {
    const shell = inside(context, 'shell');
    const message = `\`${formatPath(shell.path)}\` has no effect: with \`args\` no shell is used.`;
    problems.push(problem(asWarning(shell), message, 'Remove one of the two.'));
  }
  return problems;
}

function checkHttp(handler: Handler, context: ValueContext): readonly ConfigProblem[] {
  const { url, headers, allowedEnvVars } = handler;
  const at = inside(context, 'url');
  const why = typeof url === 'string' && url.trim() !== '' ? urlFault(url) : undefined;
  const listed: readonly unknown[] = Array.isArray(allowedEnvVars) ? allowedEnvVars : [];
  return [
    ...(why === undefined
      ? []
      : [problem(at, `\`${formatPath(at.path)}\` cannot be called: ${why}.`)]),
    ...Object.entries(isRecord(headers) ? headers : {}).flatMap(([name, value]) => {
      const header = inside(context, 'headers', name);
      return typeof value === 'string' ? checkHeader(name, value, { header, listed }) : [];
    }),
  ];
}

/** The address itself is not shown: it may hold a secret. */
export function urlFault(text: string): string | undefined {
  if (parseUrl(text) === undefined) return 'it is no URL';
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return `${protocol} is neither http nor https`;
  if (username === '' && password === '') return undefined;
  return 'it holds a user name or password; send them in a header';
}

export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
export const HEADER_VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

function checkHeader(
  name: string,
  value: string,
  { header, listed }: { readonly header: ValueContext; readonly listed: readonly unknown[] },
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (!HEADER_NAME.test(name)) {
    problems.push(
      problem(header, `\`${formatPath(header.path)}\` cannot be the name of a header.`),
    );
  }
  const used = [...value.matchAll(HEADER_VARIABLE)].map((found) => found[1] ?? found[2] ?? '');
  for (const variable of new Set(used)) {
    if (listed.includes(variable)) continue;
    const message = `\`${formatPath(header.path)}\` uses $${variable}, which is sent as nothing: \`allowedEnvVars\` does not list it.`;
    problems.push(problem(asWarning(header), message, `Add "${variable}" to allowedEnvVars.`));
  }
  return problems;
}

/** Fields that describe a hook file; they change nothing. */
const DESCRIPTIVE: ReadonlySet<string> = new Set(
  'author authors category continueonerror description enabled homepage id keywords license name priority repository tags title version $schema'.split(
    ' ',
  ),
);

export function isDescriptive(name: string): boolean {
  return DESCRIPTIVE.has(name.toLowerCase());
}

/** What people expect of a key that nothing reads here, and what to write in its place. */
interface Expectation {
  readonly message: string;
  readonly remedy: string;
}

const LIMITS: Expectation = {
  message: 'limits nothing here: the hook is asked about all that its matcher fits.',
  remedy: 'Write tools into "matcher", paths and commands into "if" ("if": "Edit(src/**)").',
};
const FAILURES: Expectation = {
  message: 'does not change here what a failure means.',
  remedy: 'Write "onFailure": "block" or "onFailure": "continue" on the hook.',
};
const SURROUNDINGS: Expectation = {
  message: "has no effect here: the hook runs in the session's directory and environment.",
  remedy: 'Set it in the command itself.',
};

const EXPECTATIONS: Readonly<Record<string, Expectation>> = {
  ...forEachName(
    'filepattern filepatterns filematcher filetypes file files path paths pathpattern glob globs pattern patterns condition conditions when unless where filter filters tools toolname toolnames toolpattern commands include includes exclude excludes except extensions branches projects',
    LIMITS,
  ),
  ...forEachName('blocking failclosed failonerror failopen required mandatory onerror', FAILURES),
  ...forEachName('env environment cwd workingdirectory workdir directory', SURROUNDINGS),
};

/** Short for a key that is too far away to be found by its letters. */
const SHORT_FORMS: Readonly<Record<string, string>> = { match: 'matcher', matches: 'matcher' };

/**
 * A key of a group or hook that nothing reads. One that is nearly a known key stops the start; one
 * that people take for a limit warns; any other describes, and is noted.
 */
export function unknownHookKey(
  node: Extract<SettingNode, { type: 'object' }>,
  name: string,
  context: ValueContext,
): ConfigProblem {
  const folded = name.toLowerCase().replaceAll(/[_-]/g, '');
  const where = formatPath(context.path);
  const expected = own(EXPECTATIONS, folded);
  if (expected !== undefined) {
    return problem(asWarning(context), `\`${where}\` ${expected.message}`, expected.remedy);
  }
  const meant = own(SHORT_FORMS, folded);
  if (meant !== undefined && own(node.keys, meant) !== undefined) {
    // fail-closed: what the hook is for would be lost.
    return problem(context, `\`${where}\` is not a setting.`, `Did you mean ${meant}?`);
  }
  if (nearest(name, Object.keys(node.keys)) !== undefined) return unknownKey(node, name, context);
  const message = `\`${where}\` is not known here and has no effect.`;
  return {
    ...problem(asWarning(context), message, 'Remove it, or leave it for people.'),
    severity: 'note',
  };
}

/** A field that is known and does not mean here what it means elsewhere. */
export function checkMetadata(
  { continueOnError }: Readonly<Record<string, unknown>>,
  context: ValueContext,
  role: 'gate' | 'block' | 'observe',
): readonly ConfigProblem[] {
  if (typeof continueOnError !== 'boolean' || role !== 'gate') return [];
  const at = asWarning({ ...context, path: [...context.path, 'continueOnError'] });
  const word = continueOnError ? 'continue' : 'block';
  return [
    problem(
      at,
      `\`${formatPath(at.path)}\` has no effect: a guard that fails refuses.`,
      `Write "onFailure": "${word}" on the hook to say what its failure means.`,
    ),
  ];
}
