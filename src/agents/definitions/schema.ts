import { BUDGET_UNITS } from '../../budget/units.js';
import { booleanOf, canonicalName, listOf, textOf } from '../../lib/frontmatter/fields.js';
import { isRecord } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { isAbsolute, normalise, toPosix } from '../../platform/fs/paths.js';
import { classifyHookEventName } from '../../protocol/hooks/hook-events.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { matcherFaults } from '../../settings/schema/matcher.js';
import { oneLine } from '../../skills/discovery/names.js';
import type { AgentBudget, AgentServer, AgentWorkspace, FieldContext } from './definition.js';
import { readBans, readTools } from './tools.js';

/** Reads the value of a field; undefined when it is empty or wrong, which is reported. */
type Reader<T> = (value: unknown, context: FieldContext) => T | undefined;

interface FieldSpec {
  readonly read: Reader<unknown>;
  /** `limit`: without it an agent may do more than intended. `harmless`: without it nothing is lost. */
  readonly role?: 'limit' | 'harmless';
}

const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const COLORS = ['red', 'blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan'];
/** Modes that are never more permissive than another. */
export const STRICT_MODES: readonly string[] = ['plan', 'dontAsk'];

/** The documented fields of a definition, and how each is read. */
export const FIELDS = {
  name: { read: readText },
  description: { read: readText, role: 'harmless' },
  prompt: { read: readText },
  tools: { read: readTools, role: 'limit' },
  disallowedTools: { read: readBans, role: 'limit' },
  model: { read: readText, role: 'harmless' },
  permissionMode: { read: readMode, role: 'limit' },
  maxTurns: { read: readTurns, role: 'limit' },
  skills: { read: readList, role: 'harmless' },
  mcpServers: { read: readServers },
  hooks: { read: readHooks, role: 'limit' },
  memory: { read: choiceOf(['user', 'project', 'local'] as const, 'error') },
  background: { read: readFlag },
  effort: { read: readEffort, role: 'harmless' },
  isolation: { read: choiceOf(['worktree', 'none'] as const, 'error'), role: 'limit' },
  color: { read: choiceOf(COLORS, 'warn'), role: 'harmless' },
  initialPrompt: { read: readText, role: 'harmless' },
  omitClaudeMd: { read: readFlag },
  portcullis: { read: readOwn, role: 'limit' },
} as const satisfies Readonly<Record<string, FieldSpec>>;

export type FieldName = keyof typeof FIELDS;
export type FieldValue<Name extends FieldName> = ReturnType<(typeof FIELDS)[Name]['read']>;

function readText(value: unknown, { field, error }: FieldContext): string | undefined {
  if (value === null) return undefined;
  const text = textOf(value);
  if (text === undefined) return error(`"${field}" is not a text`);
  return text.trim() || undefined;
}

function readFlag(value: unknown, { field, error }: FieldContext): boolean | undefined {
  return booleanOf(value) ?? error(`"${field}" is neither true nor false`);
}

function choiceOf<T extends string>(choices: readonly T[], severity: 'error' | 'warn') {
  return (value: unknown, context: FieldContext): T | undefined => {
    const shown = oneLine(textOf(value) ?? typeof value);
    return (
      choices.find((one) => one === value) ??
      context[severity](`"${context.field}" knows ${choices.join(', ')}, not "${shown}"`)
    );
  };
}

function readList(value: unknown, { field, error }: FieldContext): readonly string[] | undefined {
  const list = listOf(value);
  return list.ok ? list.value : error(`"${field}" ${list.error}`);
}

function readMode(value: unknown, context: FieldContext): PermissionMode | undefined {
  const written = readText(value, context);
  if (written === undefined) return context.error('it names no mode');
  if (written === 'auto')
    context.warn('the mode "auto" is not known here; it is taken for default');
  const mode = written === 'manual' || written === 'auto' ? 'default' : written;
  const known = PERMISSION_MODES.find((one) => one === mode);
  if (known === undefined) {
    const hint = didYouMean(mode, PERMISSION_MODES);
    return context.error(`"${oneLine(mode)}" is no permission mode${hint}`);
  }
  if (context.isExact || STRICT_MODES.includes(known)) return known;
  // fail-closed: in invalid YAML it is uncertain what was granted.
  return context.warn(`the mode ${known} does not count in a head that is not YAML`);
}

function readTurns(value: unknown, { error }: FieldContext): number | undefined {
  const turns = numberOf(value) ?? 0;
  if (Number.isInteger(turns) && turns > 0) return turns;
  return error('"maxTurns" is not a whole number above 0');
}

function readEffort(value: unknown, context: FieldContext): string | undefined {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return String(value);
  return choiceOf(EFFORTS, 'warn')(value, context);
}

/** fail-closed: a guard for an unknown event or tool would never run. */
function readHooks(
  value: unknown,
  { knownTools, error, warn }: FieldContext,
): Readonly<Record<string, unknown>> | undefined {
  if (value === null) return undefined;
  if (!isRecord(value)) return error('"hooks" is no map');
  for (const event of Object.keys(value)) {
    const odd = classifyHookEventName(event);
    if (odd === undefined) continue;
    const lost = `its hooks at "${oneLine(event)}" never run`;
    const hint =
      odd.kind === 'foreign' || odd.near === undefined ? '' : `; did you mean ${odd.near}?`;
    if (odd.kind === 'foreign') warn(`${lost}: an event of another program`, { inner: event });
    else error(`${lost}: there is no such event${hint}`, event);
  }
  for (const { stops, message, matcher } of matcherFaults(value, knownTools)) {
    const text = `its hooks: ${oneLine(message)}`;
    if (stops) error(text, matcher);
    else warn(text, { inner: matcher });
  }
  return value;
}

/** The fields below `portcullis:` in the front matter. */
export interface OwnFields {
  readonly workspace?: AgentWorkspace;
  readonly budget?: AgentBudget;
  readonly asks?: 'bubble' | 'deny';
  readonly foregroundOnly?: boolean;
}

type Wrong = (message: string) => undefined;

export const OWN_NAMES: readonly string[] = ['workspace', 'budget', 'asks', 'foreground-only'];

/** fail-closed: all of these fields restrict, so an unknown one is an error. */
function readOwn(value: unknown, { error }: FieldContext): OwnFields | undefined {
  if (!isRecord(value)) return error('"portcullis" is no map');
  let found: OwnFields = {};
  const names = new Set<string>();
  for (const [written, inner] of Object.entries(value)) {
    const name = OWN_NAMES.find((one) => canonicalName(one) === canonicalName(written));
    if (name === undefined) {
      error(`"portcullis.${written}" is not known${didYouMean(written, OWN_NAMES)}`, written);
      continue;
    }
    const wrong: Wrong = (message) => error(`"portcullis.${name}" ${message}`, written);
    if (names.has(name)) wrong('is set twice');
    names.add(name);
    found = { ...found, ...ownField(name, inner, wrong) };
  }
  return found;
}

function ownField(name: string, value: unknown, wrong: Wrong): OwnFields {
  if (name === 'workspace') return { workspace: readWorkspace(value, wrong) };
  if (name === 'budget') return { budget: readBudget(value, wrong) };
  if (name === 'asks') {
    const isKnown = value === 'bubble' || value === 'deny';
    return { asks: isKnown ? value : wrong('knows bubble and deny') };
  }
  return { foregroundOnly: booleanOf(value) ?? wrong('is neither true nor false') };
}

const WORKSPACES = 'knows inherit, worktree, scratch and { directory: path }';

function readWorkspace(value: unknown, wrong: Wrong): AgentWorkspace | undefined {
  if (value === 'inherit' || value === 'worktree' || value === 'scratch') return { kind: value };
  const [entry, ...more] = isRecord(value) ? Object.entries(value) : [];
  const isNamed =
    more.length === 0 && (entry?.[0] === 'directory' || entry?.[0] === 'sub-directory');
  const isShort = typeof value === 'string' && value.startsWith('./');
  if (!isShort && !isNamed) return wrong(WORKSPACES);
  const path = isShort ? value : entry?.[1];
  if (typeof path !== 'string') return wrong('names no directory');
  const inner = toPosix(normalise(path.trim())).replace(/\/+$/, '');
  // fail-closed: the directory becomes the only writable root, so it must lie below the parent's.
  if (isAbsolute(path) || /^[~\\]|^[A-Za-z]:/.test(path) || /^\.\.(?:\/|$)/.test(inner)) {
    return wrong(`must lie below the directory of the parent, which "${path}" does not`);
  }
  if (inner === '' || inner === '.') return wrong('names no sub-directory');
  return { kind: 'directory', path: inner };
}

function readBudget(value: unknown, wrong: Wrong): AgentBudget | undefined {
  if (!isRecord(value)) return wrong('is no map');
  const budget: Record<string, number> = {};
  for (const [written, amount] of Object.entries(value)) {
    const name = BUDGET_UNITS.find((one) => canonicalName(one) === canonicalName(written));
    if (name === undefined) return wrong(`has no "${written}"${didYouMean(written, BUDGET_UNITS)}`);
    if (Object.hasOwn(budget, name)) return wrong(`has "${name}" twice`);
    const number = numberOf(amount);
    const isWhole = name !== 'usd' && name !== 'seconds';
    const least = name === 'fanOut' ? 0 : isWhole ? 1 : Number.MIN_VALUE;
    if (number === undefined || number < least || (isWhole && !Number.isInteger(number))) {
      return wrong(`wants ${isWhole ? 'a whole number' : 'an amount'} above 0 for "${name}"`);
    }
    budget[name] = number;
  }
  return budget;
}

/** Parses a number, also from a string. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^\d+(?:\.\d+)?$/.test(value.trim())) return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

const MOST_SERVERS = 200;

/** Names of the session's servers, and the agent's own servers as `{name: config}`. */
function readServers(value: unknown, { error }: FieldContext): readonly AgentServer[] | undefined {
  if (value === null || value === undefined) return [];
  const items = typeof value === 'string' ? value.split(',') : [value].flat();
  // fail-closed: an excessive list is refused instead of processed.
  if (items.length > MOST_SERVERS)
    return error(`"mcpServers" names more than ${MOST_SERVERS} servers`);
  const servers: AgentServer[] = [];
  for (const item of items) {
    const name = textOf(item)?.trim();
    if (name !== undefined && name !== '') servers.push({ name });
    else if (isRecord(item)) {
      for (const [inner, config] of Object.entries(item)) {
        if (!isRecord(config)) return error(`"mcpServers" has no configuration for "${inner}"`);
        servers.push({ name: inner, config });
      }
    } else return error('"mcpServers" holds something that is neither a name nor {name: config}');
  }
  const names = servers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? servers : error(`"mcpServers" names "${twice}" twice`);
}

export function didYouMean(name: string, names: readonly string[]): string {
  const close = nearest(name, names);
  return close === undefined ? '' : `; did you mean ${close}?`;
}
