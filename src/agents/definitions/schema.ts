import { BUDGET_UNITS } from '../../budget/units.js';
import { canonicalName } from '../../lib/field-names.js';
import { booleanOf, listOf, textOf } from '../../lib/field-values.js';
import { nearest } from '../../lib/nearest.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { isAbsolute, normalise, toPosix } from '../../platform/fs/paths.js';
import { oddHookEvent } from '../../protocol/hook-events.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { matcherFaults } from '../../settings/schema/matcher.js';
import { oneLine } from '../../skills/discovery/names.js';
import type { AgentBudget, AgentFinding, AgentServer, AgentWorkspace } from './definition.js';
import { bansOf, toolsOf } from './tools.js';

/** Something about the value of a field. `inner`: the name or text in it that it is about, for its line. */
export interface ValueFinding extends Omit<AgentFinding, 'line'> {
  readonly inner?: string | undefined;
}

/** What a field says, and what is wrong with it. */
interface Read<T> {
  readonly value?: T | undefined;
  readonly findings?: readonly ValueFinding[];
}

export interface ReadContext {
  readonly knownTools: readonly string[];
  /** False: the head is not what YAML allows, and was read line by line. */
  readonly isExact: boolean;
}

interface FieldSpec<T> {
  read(value: unknown, context: ReadContext, field: string): Read<T>;
  /** `limit`: without it an agent may do more than was meant. `harmless`: nothing is taken away without it. */
  readonly role?: 'limit' | 'harmless';
}

const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const COLORS = ['red', 'blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan'];
/** Modes that allow no more than any other does. */
export const STRICT_MODES: readonly string[] = ['plan', 'dontAsk'];

const error = (message: string, inner?: string): ValueFinding => ({
  severity: 'error',
  message,
  inner,
});
const warning = (message: string): ValueFinding => ({ severity: 'warning', message });

/** The fields of a definition, as they are documented, and how each is read. */
export const FIELDS = {
  name: { read: readText },
  description: { read: readText, role: 'harmless' },
  prompt: { read: readText },
  tools: { read: readTools, role: 'limit' },
  disallowedTools: { read: readBans, role: 'limit' },
  model: { read: readText, role: 'harmless' },
  permissionMode: { read: readMode, role: 'limit' },
  maxTurns: { read: readTurns, role: 'limit' },
  skills: { read: readResult(listOf), role: 'harmless' },
  mcpServers: { read: readResult(serversOf) },
  hooks: { read: readHooks, role: 'limit' },
  memory: { read: readChoice(['user', 'project', 'local'] as const, error) },
  background: { read: readFlag },
  effort: { read: readEffort, role: 'harmless' },
  isolation: { read: readChoice(['worktree', 'none'] as const, error), role: 'limit' },
  color: { read: readChoice(COLORS, warning), role: 'harmless' },
  initialPrompt: { read: readText, role: 'harmless' },
  omitClaudeMd: { read: readFlag },
  portcullis: { read: readOwn, role: 'limit' },
} as const satisfies Readonly<Record<string, FieldSpec<unknown>>>;

export type FieldName = keyof typeof FIELDS;
export type FieldValue<Name extends FieldName> = ReturnType<(typeof FIELDS)[Name]['read']>['value'];

function readText(value: unknown, _context: unknown, field: string): Read<string> {
  if (value === null) return {};
  const text = textOf(value);
  if (text === undefined) return { findings: [error(`"${field}" is no text`)] };
  return { value: text.trim() === '' ? undefined : text.trim() };
}

function readFlag(value: unknown, _context: unknown, field: string): Read<boolean> {
  const flag = booleanOf(value);
  if (flag !== undefined) return { value: flag };
  return { findings: [error(`"${field}" is neither true nor false`)] };
}

function readChoice<T extends string>(
  choices: readonly T[],
  finding: (message: string) => ValueFinding,
) {
  return (value: unknown, _context: unknown, field: string): Read<T> => {
    const choice = choices.find((one) => one === value);
    if (choice !== undefined) return { value: choice };
    const shown = oneLine(textOf(value) ?? typeof value);
    return { findings: [finding(`"${field}" knows ${choices.join(', ')}, not "${shown}"`)] };
  };
}

function readResult<T>(read: (value: unknown) => Result<T, string>) {
  return (value: unknown, _context: unknown, field: string): Read<T> => {
    const found = read(value);
    if (found.ok) return { value: found.value };
    return { findings: [error(`"${field}" ${found.error}`)] };
  };
}

function readTools(value: unknown, { knownTools }: ReadContext): Read<readonly string[]> {
  const read = toolsOf(value, knownTools);
  if (!read.ok) return { findings: [error(`"tools" ${read.error}`)] };
  const { tools, warnings, isBare } = read.value;
  const message = 'it has no tools: none of those that "tools" names is known here';
  const bare = isBare === true ? [{ ...warning(message), told: true as const }] : [];
  return { value: tools, findings: [...bare, ...warnings.map(warning)] };
}

function readBans(value: unknown, { knownTools }: ReadContext): Read<readonly string[]> {
  const read = bansOf(value, knownTools);
  if (!read.ok) return { findings: [error(`"disallowedTools" ${read.error}`)] };
  return { value: read.value.bans, findings: read.value.warnings.map(warning) };
}

function readMode(value: unknown, context: ReadContext, field: string): Read<PermissionMode> {
  const { value: written, findings } = readText(value, context, field);
  if (written === undefined) return { findings: [...(findings ?? []), error('it names no mode')] };
  const auto =
    written === 'auto'
      ? [warning('the mode "auto" is not known here; it is taken for default')]
      : [];
  const mode = written === 'manual' || written === 'auto' ? 'default' : written;
  const known = PERMISSION_MODES.find((one) => one === mode);
  if (known === undefined) {
    const hint = didYouMean(mode, PERMISSION_MODES);
    return { findings: [error(`"${oneLine(mode)}" is no permission mode${hint}`)] };
  }
  if (context.isExact || STRICT_MODES.includes(known)) return { value: known, findings: auto };
  // fail-closed: in a head that is no YAML nobody can be sure what was granted.
  const lost = warning(`the mode ${known} does not count in a head that is not YAML`);
  return { findings: [...auto, lost] };
}

function readTurns(value: unknown): Read<number> {
  const turns = numberOf(value);
  if (turns !== undefined && Number.isInteger(turns) && turns > 0) return { value: turns };
  return { findings: [error('"maxTurns" is no whole number above 0')] };
}

function readEffort(value: unknown, context: ReadContext, field: string): Read<string> {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) {
    return { value: String(value) };
  }
  return readChoice(EFFORTS, warning)(value, context, field);
}

/** fail-closed: a guard at an event that there is not, or for a tool that there is not, would guard nothing. */
function readHooks(
  value: unknown,
  { knownTools }: ReadContext,
): Read<Readonly<Record<string, unknown>>> {
  if (value === null) return {};
  if (!isRecord(value)) return { findings: [error('"hooks" is no map')] };
  const matchers = matcherFaults(value, knownTools).map(
    ({ stops, message, matcher }): ValueFinding => ({
      severity: stops ? 'error' : 'warning',
      message: `its hooks: ${oneLine(message)}`,
      inner: matcher,
    }),
  );
  const events = Object.keys(value).flatMap((event): readonly ValueFinding[] => {
    const odd = oddHookEvent(event);
    if (odd === undefined) return [];
    const lost = `its hooks at "${oneLine(event)}" never run`;
    if (odd.kind === 'foreign') {
      return [{ ...warning(`${lost}: an event of another program`), inner: event }];
    }
    const hint = odd.near === undefined ? '' : `; did you mean ${odd.near}?`;
    return [error(`${lost}: there is no such event${hint}`, event)];
  });
  return { value, findings: [...events, ...matchers] };
}

/** What stands under `portcullis:` in a head. */
export interface OwnFields {
  readonly workspace?: AgentWorkspace;
  readonly budget?: AgentBudget;
  readonly asks?: 'bubble' | 'deny';
  readonly foregroundOnly?: boolean;
}

const OWN_FIELDS: Readonly<
  Record<string, { readonly key: keyof OwnFields; read(value: unknown): Result<unknown, string> }>
> = {
  workspace: { key: 'workspace', read: workspaceOf },
  budget: { key: 'budget', read: budgetOf },
  asks: {
    key: 'asks',
    read: (value) =>
      value === 'bubble' || value === 'deny' ? ok(value) : err('knows bubble and deny'),
  },
  'foreground-only': {
    key: 'foregroundOnly',
    read(value) {
      const flag = booleanOf(value);
      return flag === undefined ? err('is neither true nor false') : ok(flag);
    },
  },
};

/** The words below `portcullis`. */
export const OWN_NAMES: readonly string[] = Object.keys(OWN_FIELDS);

/** fail-closed: everything in it holds back, so nothing in it is passed over. */
function readOwn(value: unknown): Read<OwnFields> {
  if (!isRecord(value)) return { findings: [error('"portcullis" is no map')] };
  const found: Record<string, unknown> = {};
  for (const [written, inner] of Object.entries(value)) {
    const wrong = (message: string) => ({ findings: [error(message, written)] });
    const name = OWN_NAMES.find((one) => canonicalName(one) === canonicalName(written)) ?? '';
    const spec = OWN_FIELDS[name];
    if (spec === undefined) {
      return wrong(`"portcullis.${written}" is not known${didYouMean(written, OWN_NAMES)}`);
    }
    if (Object.hasOwn(found, spec.key)) return wrong(`"portcullis.${name}" stands twice`);
    const read = spec.read(inner);
    if (!read.ok) return wrong(`"portcullis.${name}" ${read.error}`);
    found[spec.key] = read.value;
  }
  return { value: found };
}

const WORKSPACES = 'knows inherit, worktree, scratch and { directory: path }';

function workspaceOf(value: unknown): Result<AgentWorkspace, string> {
  if (value === 'inherit' || value === 'worktree' || value === 'scratch') {
    return ok({ kind: value });
  }
  if (typeof value === 'string' && value.startsWith('./')) return directoryOf(value);
  if (!isRecord(value)) return err(WORKSPACES);
  const [entry, ...more] = Object.entries(value);
  if (entry === undefined || more.length > 0) return err(WORKSPACES);
  const [name, path] = entry;
  if (name !== 'directory' && name !== 'sub-directory') return err(WORKSPACES);
  return typeof path === 'string' ? directoryOf(path) : err('names no directory');
}

function directoryOf(path: string): Result<AgentWorkspace, string> {
  const inner = toPosix(normalise(path.trim())).replace(/\/+$/, '');
  // fail-closed: it is the only root that is written to, so it must lie below the parent's.
  if (isAbsolute(path) || /^[~\\]|^[A-Za-z]:/.test(path) || /^\.\.(?:\/|$)/.test(inner)) {
    return err(`must lie below the directory of the parent, which "${path}" does not`);
  }
  if (inner === '' || inner === '.') return err('names no sub-directory');
  return ok({ kind: 'directory', path: inner });
}

function budgetOf(value: unknown): Result<AgentBudget, string> {
  if (!isRecord(value)) return err('is no map');
  const budget: Record<string, number> = {};
  for (const [written, amount] of Object.entries(value)) {
    const name = BUDGET_UNITS.find((one) => canonicalName(one) === canonicalName(written));
    if (name === undefined) return err(`has no "${written}"${didYouMean(written, BUDGET_UNITS)}`);
    if (Object.hasOwn(budget, name)) return err(`has "${name}" twice`);
    const number = numberOf(amount);
    const isWhole = name !== 'usd' && name !== 'seconds';
    const least = name === 'fanOut' ? 0 : isWhole ? 1 : Number.MIN_VALUE;
    if (number === undefined || number < least || (isWhole && !Number.isInteger(number))) {
      return err(`wants ${isWhole ? 'a whole number' : 'an amount'} above 0 for "${name}"`);
    }
    budget[name] = number;
  }
  return ok(budget);
}

/** A number, or a text that is one. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^\d+(?:\.\d+)?$/.test(value.trim())) return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Names of the session's servers, and servers of its own as `{name: config}`. */
function serversOf(value: unknown): Result<readonly AgentServer[], string> {
  if (value === null || value === undefined) return ok([]);
  const items = Array.isArray(value)
    ? value
    : isRecord(value)
      ? Object.entries(value).map(([name, config]) => ({ [name]: config }))
      : typeof value === 'string'
        ? value.split(',')
        : undefined;
  if (items === undefined) return err('is neither a list nor a map');
  // fail-closed: a list that nobody wrote by hand is not gone through.
  if (items.length > MOST_SERVERS) return err(`names more than ${MOST_SERVERS} servers`);
  const servers: AgentServer[] = [];
  for (const item of items) {
    const name = textOf(item)?.trim();
    if (name !== undefined && name !== '') {
      servers.push({ name });
      continue;
    }
    if (!isRecord(item)) return err('holds something that is neither a name nor {name: config}');
    for (const [inner, config] of Object.entries(item)) {
      if (!isRecord(config)) return err(`has no configuration for "${inner}"`);
      servers.push({ name: inner, config });
    }
  }
  const names = new Set<string>();
  const twice = servers.find(({ name }) => names.size === names.add(name).size)?.name;
  return twice === undefined ? ok(servers) : err(`names "${twice}" twice`);
}

const MOST_SERVERS = 200;

/** `; did you mean x?`, or nothing. */
export function didYouMean(name: string, names: readonly string[]): string {
  const close = nearest(name, names);
  return close === undefined ? '' : `; did you mean ${close}?`;
}
