import { isRecord } from '../lib/own.js';
import { err, ok, type Result } from '../lib/result.js';
import {
  type AnswerScope,
  PERMISSION_MODES,
  type PermissionRuleValue,
  type PermissionUpdate,
  UPDATE_DESTINATIONS,
} from './permissions.js';

/**
 * Reads the `updatedPermissions` of an answer. All or nothing: an entry that cannot be understood may
 * have been a restriction, so its answer is no valid yes.
 */
export function readPermissionUpdates(value: unknown): Result<readonly PermissionUpdate[], string> {
  if (value === undefined || value === null) return ok([]);
  if (!Array.isArray(value)) return err('updatedPermissions is not a list');
  const updates: PermissionUpdate[] = [];
  for (const [index, entry] of value.entries()) {
    const update = readUpdate(entry);
    if (!update.ok) return err(`updatedPermissions[${index}]: ${update.error}`);
    updates.push(update.value);
  }
  return ok(updates);
}

/** Reads the `scope` of an answer, ours: how far it reaches beyond its call. */
export function readAnswerScope(value: unknown): Result<AnswerScope | undefined, string> {
  if (value === undefined || value === null) return ok(undefined);
  if (!isRecord(value)) return err('scope is not an object');
  const what = (['call', 'exact', 'prefix', 'tool'] as const).find((one) => one === value.what);
  const until = (['once', 'turn', 'session', 'project', 'user'] as const).find(
    (one) => one === value.until,
  );
  if (what === undefined) return err(`unknown scope.what ${JSON.stringify(value.what)}`);
  if (until === undefined) return err(`unknown scope.until ${JSON.stringify(value.until)}`);
  const expires = value.expiresAt ?? undefined;
  if (expires === undefined) return ok({ what, until });
  const expiresAt = typeof expires === 'string' ? Date.parse(expires) : expires;
  // fail-closed: an end that cannot be read would be no end.
  return typeof expiresAt === 'number' && Number.isFinite(expiresAt)
    ? ok({ what, until, expiresAt })
    : err(`scope.expiresAt is no time: ${JSON.stringify(expires)}`);
}

/** `Bash(git push *)`, as settings files write it. */
export function ruleTextOf({ toolName, ruleContent }: PermissionRuleValue): string {
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
}

function readUpdate(entry: unknown): Result<PermissionUpdate, string> {
  if (!isRecord(entry)) return err('it is not an object');
  // Some clients leave the destination out for what is meant for this session.
  const given = entry.destination ?? 'session';
  const destination = UPDATE_DESTINATIONS.find((known) => known === given);
  if (destination === undefined) return err(`unknown destination ${JSON.stringify(given)}`);
  switch (entry.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules': {
      const rules = readRules(entry.rules);
      if (!rules.ok) return rules;
      const behavior = (['allow', 'ask', 'deny'] as const).find((one) => one === entry.behavior);
      if (behavior === undefined) {
        return err(`unknown behavior ${JSON.stringify(entry.behavior)}`);
      }
      return ok({ type: entry.type, rules: rules.value, behavior, destination });
    }
    case 'setMode': {
      const named = entry.mode === 'manual' ? 'default' : entry.mode;
      const mode = PERMISSION_MODES.find((known) => known === named);
      return mode === undefined
        ? err(`unknown mode ${JSON.stringify(entry.mode)}`)
        : ok({ type: 'setMode', mode, destination });
    }
    case 'addDirectories':
    case 'removeDirectories': {
      const { directories } = entry;
      const isList =
        Array.isArray(directories) &&
        directories.every((one): one is string => typeof one === 'string' && one !== '');
      return isList
        ? ok({ type: entry.type, directories, destination })
        : err('directories is not a list of paths');
    }
    default:
      return err(`unknown type ${JSON.stringify(entry.type)}`);
  }
}

function readRules(value: unknown): Result<readonly PermissionRuleValue[], string> {
  if (!Array.isArray(value)) return err('rules is not a list');
  const rules: PermissionRuleValue[] = [];
  for (const rule of value) {
    if (!isRecord(rule) || typeof rule.toolName !== 'string' || rule.toolName === '') {
      return err('a rule has no toolName');
    }
    const { toolName, ruleContent } = rule;
    // Python clients write null for "none".
    if (ruleContent === undefined || ruleContent === null) rules.push({ toolName });
    else if (typeof ruleContent === 'string') rules.push({ toolName, ruleContent });
    else return err('a ruleContent is not a text');
  }
  return ok(rules);
}
