import { SETTINGS } from '../../../build/generated/settings-table.js';
import { isRecord, own } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { nearest } from '../../lib/text/nearest.js';
import { HOOK_KINDS } from '../../protocol/hooks/hook-event-facts.js';
import { type HookEventName, hookEventFacts } from '../../protocol/hooks/hook-events.js';
import type { SettingNode } from '../../protocol/settings/setting-node.js';
import type { ConfigProblem } from '../types.js';
import {
  checkValue,
  DETACHED_FILE,
  type EventCheck,
  type Fault,
  faultProblem,
  forEachName,
  unknownKey,
  type ValueContext,
} from './type-check.js';

type Handler = Readonly<Record<string, unknown>>;

/** A valid handler with its limits. */
export interface ParsedHandler {
  readonly fields: Handler;
  readonly timeoutMs?: number;
  readonly onFailure?: 'block' | 'continue';
}

/** Validates a handler from any source by the rules of settings files. */
export function parseHandler(raw: unknown, event: HookEventName): Result<ParsedHandler, string> {
  if (!isRecord(raw)) return err('it is not an object');
  const context: ValueContext = { file: DETACHED_FILE, path: [], restricts: true };
  // Unknown keys are an error only in settings files, where they may be misspelt.
  const passOver: ValueContext['unknownKey'] = (...key) => ({
    ...unknownHookKey(...key),
    severity: 'note',
  });
  const fault = [
    ...checkValue(HOOK_NODES.handler, raw, { ...context, unknownKey: passOver }),
    ...runFaults(raw, { event, facts: hookEventFacts(event) }).map(faultProblem(context)),
  ].find(({ severity }) => severity === 'fatal');
  if (fault !== undefined) return err(fault.message.replace(/\.$/, ''));
  const { timeout, onFailure, ...fields } = structuredClone(raw);
  // A mistyped description does not invalidate the hook.
  for (const name of ['name', 'description']) {
    if (typeof fields[name] !== 'string') delete fields[name];
  }
  return ok({
    fields,
    timeoutMs: typeof timeout === 'number' ? timeout * 1000 : undefined,
    onFailure: declaredOnFailure({ onFailure }),
  });
}

/** A handler's declared failure behaviour, even when the rest is invalid. */
export function declaredOnFailure(raw: unknown): 'block' | 'continue' | undefined {
  const said = isRecord(raw) ? raw.onFailure : undefined;
  return said === 'block' || said === 'continue' ? said : undefined;
}

/** The shapes of an event's groups, of a group and of a handler. */
export const HOOK_NODES = hookNodes();

function hookNodes(): Readonly<Record<'groups' | 'group' | 'handler', SettingNode>> {
  const hooks = own(SETTINGS, 'hooks');
  const groups = hooks?.type === 'map' ? hooks.of : undefined;
  const group = groups?.type === 'list' ? groups.of : undefined;
  const handlers = group?.type === 'object' ? own(group.keys, 'hooks') : undefined;
  // fail-closed: without the table nothing could be checked.
  if (groups === undefined || group === undefined || handlers?.type !== 'list') {
    throw new Error('there is no table of hooks');
  }
  return { groups, group, handler: handlers.of };
}

/** Faults of a handler beyond its type. */
export function handlerFaults(handler: Handler, check: EventCheck): readonly Fault[] {
  const { if: rule, onFailure, async, asyncRewake } = handler;
  const { event, facts, checkRule } = check;
  const faults = [...runFaults(handler, check)];
  if (typeof rule === 'string' && rule.trim() !== '') {
    const why = facts.matches === 'tool' ? checkRule?.(rule) : undefined;
    if (facts.matches !== 'tool') {
      const says = 'is for tool calls; at this event the hook would never run';
      faults.push({ at: ['if'], says, remedy: 'Remove it.' });
    } else if (why !== undefined) {
      const says = `must be one permission rule; "${rule}" is none: ${why}`;
      const remedy = 'Correct it, or remove it to run the hook for every call.';
      faults.push({ at: ['if'], says, remedy, unended: true });
    }
  }
  const isBeside = async === true || asyncRewake === true;
  if (onFailure !== undefined && (isBeside || facts.failureNeverBlocks === true)) {
    const why = isBeside
      ? 'a hook that runs beside the session decides nothing'
      : `the failure of a ${event} hook never holds anything up`;
    const says = `has no effect: ${why}`;
    faults.push({ at: ['onFailure'], says, remedy: 'Remove it.', severity: 'warning' });
  }
  return faults;
}

/** Faults that keep a handler from running. */
function runFaults(handler: Handler, { event, facts }: EventCheck): readonly Fault[] {
  const faults: Fault[] = [];
  const kind = HOOK_KINDS.find((one) => one === handler.type);
  if (kind !== undefined && !facts.kinds.includes(kind)) {
    // fail-closed: a handler that could only hang or fail prevents the start, even when it only observes.
    const says = `is "${kind}", and ${event} takes no such hooks`;
    const remedy = `It takes ${facts.kinds.join(', ')}.`;
    faults.push({ at: ['type'], says, remedy, severity: 'fatal' });
  }
  const empty = ['command', 'url', 'prompt', 'server', 'tool'].find((name) => {
    const value = handler[name];
    return typeof value === 'string' && value.trim() === '';
  });
  if (empty !== undefined) faults.push({ at: [empty], says: 'is empty' });
  if (kind === 'command') faults.push(...commandFaults(handler));
  if (kind === 'http') faults.push(...httpFaults(handler));
  return faults;
}

function commandFaults(handler: Handler): readonly Fault[] {
  const remedy = 'Remove one of the two.';
  const faults: Fault[] = [];
  const against = ['async', 'asyncRewake', 'once'].find((name) => handler[name] === true);
  if (handler.persistent === true && against !== undefined) {
    faults.push({ at: ['persistent'], says: `and \`${against}\` exclude each other`, remedy });
  }
  if (handler.args !== undefined && handler.shell !== undefined) {
    const says = 'has no effect: with `args` no shell is used';
    faults.push({ at: ['shell'], says, remedy, severity: 'warning' });
  }
  return faults;
}

export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
export const HEADER_VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

function httpFaults({ url, headers, allowedEnvVars }: Handler): readonly Fault[] {
  const faults: Fault[] = [];
  const why = typeof url === 'string' && url.trim() !== '' ? urlFault(url) : undefined;
  if (why !== undefined) faults.push({ at: ['url'], says: `cannot be called: ${why}` });
  const listed: readonly unknown[] = Array.isArray(allowedEnvVars) ? allowedEnvVars : [];
  for (const [name, value] of Object.entries(isRecord(headers) ? headers : {})) {
    if (typeof value !== 'string') continue;
    const at = ['headers', name];
    if (!HEADER_NAME.test(name)) faults.push({ at, says: 'cannot be the name of a header' });
    const used = [...value.matchAll(HEADER_VARIABLE)].map((found) => found[1] ?? found[2] ?? '');
    for (const variable of new Set(used)) {
      if (listed.includes(variable)) continue;
      const says = `uses $${variable}, which is sent as nothing: \`allowedEnvVars\` does not list it`;
      const remedy = `Add "${variable}" to allowedEnvVars.`;
      faults.push({ at, says, remedy, severity: 'warning' });
    }
  }
  return faults;
}

/** The message omits the URL, which may contain a secret. */
export function urlFault(text: string): string | undefined {
  if (parseUrl(text) === undefined) return 'it is no URL';
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return `${protocol} is neither http nor https`;
  if (username === '' && password === '') return undefined;
  return 'it holds a user name or password; send them in a header';
}

/** Descriptive fields without effect. */
const DESCRIPTIVE: ReadonlySet<string> = new Set(
  'author authors category continueonerror description enabled homepage id keywords license name priority repository tags title version $schema'.split(
    ' ',
  ),
);

export function isDescriptive(name: string): boolean {
  return DESCRIPTIVE.has(name.toLowerCase());
}

/** Keys from other programs that have no effect here, and their equivalents. */
const EXPECTATIONS: Readonly<Record<string, Omit<Fault, 'at'>>> = {
  ...forEachName(
    'filepattern filepatterns filematcher filetypes file files path paths pathpattern glob globs pattern patterns condition conditions when unless where filter filters tools toolname toolnames toolpattern commands include includes exclude excludes except extensions branches projects',
    {
      says: 'limits nothing here: the hook is asked about all that its matcher fits',
      remedy: 'Write tools into "matcher", paths and commands into "if" ("if": "Edit(src/**)").',
      severity: 'warning',
    },
  ),
  ...forEachName('blocking failclosed failonerror failopen required mandatory onerror', {
    says: 'does not change here what a failure means',
    remedy: 'Write "onFailure": "block" or "onFailure": "continue" on the hook.',
    severity: 'warning',
  }),
  ...forEachName('env environment cwd workingdirectory workdir directory', {
    says: "has no effect here: the hook runs in the session's directory and environment",
    remedy: 'Set it in the command itself.',
    severity: 'warning',
  }),
};

/**
 * An unknown key of a group or hook: a near miss prevents the start, a presumed filter warns, anything else
 * is noted.
 */
export function unknownHookKey(
  node: Extract<SettingNode, { type: 'object' }>,
  name: string,
  context: ValueContext,
): ConfigProblem {
  const folded = name.toLowerCase().replaceAll(/[_-]/g, '');
  const told = faultProblem(context);
  const expected = own(EXPECTATIONS, folded);
  if (expected !== undefined) return told({ at: [], ...expected });
  // fail-closed: these names are too far from `matcher` for the spelling check, and their filter would be
  // lost.
  if (/^match(es)?$/.test(folded) && own(node.keys, 'matcher') !== undefined) {
    return told({ at: [], says: 'is not a setting', remedy: 'Did you mean matcher?' });
  }
  if (nearest(name, Object.keys(node.keys)) !== undefined) return unknownKey(node, name, context);
  const remedy = 'Remove it, or leave it for people.';
  return told({ at: [], says: 'is not known here and has no effect', remedy, severity: 'note' });
}

/** Known fields whose meaning differs here. */
export function metadataFaults(
  { continueOnError }: Handler,
  role: 'gate' | 'block' | 'observe',
): readonly Fault[] {
  if (typeof continueOnError !== 'boolean' || role !== 'gate') return [];
  const word = continueOnError ? 'continue' : 'block';
  return [
    {
      at: ['continueOnError'],
      says: 'has no effect: a guard that fails refuses',
      remedy: `Write "onFailure": "${word}" on the hook to say what its failure means.`,
      severity: 'warning',
    },
  ];
}
