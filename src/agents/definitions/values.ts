import { nearest } from '../../lib/nearest.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { isAbsolute, normalise, toPosix } from '../../platform/fs/paths.js';
import { booleanOf, textOf } from '../../skills/head/values.js';
import type { AgentBudget, AgentServer, AgentWorkspace } from './definition.js';

type Value<T> = Result<T, string>;

/** What stands under `portcullis:` in a head. */
export interface OwnFields {
  readonly workspace?: AgentWorkspace;
  readonly budget?: AgentBudget;
  readonly asks?: 'bubble' | 'deny';
  readonly foregroundOnly?: boolean;
}

export interface OwnError {
  /** The name below `portcullis`, for its line. */
  readonly key?: string;
  readonly message: string;
}

/** The words below `portcullis`. */
export const OWN_NAMES: readonly string[] = ['workspace', 'budget', 'asks', 'foreground-only'];

/** fail-closed: everything in it holds back, so nothing in it is passed over. */
export function ownFields(value: unknown): Result<OwnFields, OwnError> {
  if (!isRecord(value)) return err({ message: '"portcullis" is no map' });
  const found: Record<string, unknown> = {};
  for (const [written, inner] of Object.entries(value)) {
    const name = OWN_NAMES.find((one) => plain(one) === plain(written));
    const at = (message: string) => err({ key: written, message });
    if (name === undefined) {
      return at(`"portcullis.${written}" is not known${meant(written, OWN_NAMES)}`);
    }
    const key = name === 'foreground-only' ? 'foregroundOnly' : name;
    if (Object.hasOwn(found, key)) return at(`"portcullis.${name}" stands twice`);
    const read = READ_OWN[key as keyof typeof READ_OWN](inner);
    if (!read.ok) return at(`"portcullis.${name}" ${read.error}`);
    found[key] = read.value;
  }
  return ok(found);
}

const READ_OWN = {
  workspace: workspaceOf,
  budget: budgetOf,
  asks: (value: unknown): Value<'bubble' | 'deny'> =>
    value === 'bubble' || value === 'deny' ? ok(value) : err('knows bubble and deny'),
  foregroundOnly(value: unknown): Value<boolean> {
    const flag = booleanOf(value);
    return flag === undefined ? err('is neither true nor false') : ok(flag);
  },
} as const;

const WORKSPACES = 'knows inherit, worktree, scratch and { directory: path }';

function workspaceOf(value: unknown): Value<AgentWorkspace> {
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

function directoryOf(path: string): Value<AgentWorkspace> {
  const inner = toPosix(normalise(path.trim())).replace(/\/+$/, '');
  // fail-closed: it is the only root that is written to, so it must lie below the parent's.
  if (isAbsolute(path) || /^[~\\]|^[A-Za-z]:/.test(path) || /^\.\.(?:\/|$)/.test(inner)) {
    return err(`must lie below the directory of the parent, which "${path}" does not`);
  }
  if (inner === '' || inner === '.') return err('names no sub-directory');
  return ok({ kind: 'directory', path: inner });
}

const BUDGET_NAMES: readonly string[] = ['turns', 'tokens', 'usd', 'seconds', 'fanOut'];

function budgetOf(value: unknown): Value<AgentBudget> {
  if (!isRecord(value)) return err('is no map');
  const budget: Record<string, number> = {};
  for (const [written, amount] of Object.entries(value)) {
    const name = BUDGET_NAMES.find((one) => plain(one) === plain(written));
    if (name === undefined) return err(`has no "${written}"${meant(written, BUDGET_NAMES)}`);
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
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^\d+(?:\.\d+)?$/.test(value.trim())) return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Names of the session's servers, and servers of its own as `{name: config}`. */
export function serversOf(value: unknown): Value<readonly AgentServer[]> {
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

/** Without hyphens, underscores and case. */
export function plain(name: string): string {
  return name.replace(/[-_\s]/g, '').toLowerCase();
}

/** `; did you mean x?`, or nothing. */
export function meant(name: string, names: readonly string[]): string {
  const close = nearest(name, names);
  return close === undefined ? '' : `; did you mean ${close}?`;
}
