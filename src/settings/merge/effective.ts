import type { Sourced } from '../../lib/sourced.js';
import { expandHome, resolve } from '../../platform/fs/paths.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { projectMayNotSet } from '../trust/env.js';
import type {
  EffectiveSettings,
  RuleLists,
  SettingValues,
  SourcedRule,
  Strictness,
} from '../types.js';
import { isOfProject } from '../types.js';
import {
  type Contribution,
  contributionsOf,
  firstInForce,
  hasSay,
  inForce,
  type Merged,
  type MergedKey,
  type SourceValue,
  settled,
} from './merge.js';

export interface EffectiveContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Rules across settings: a project may not raise the mode, set variables that steer programs or decide about
 * all hooks, and an administrator may reserve grants.
 */
export function applyCrossSettingRules(merged: Merged): Merged {
  const changed = new Map(merged);
  const edit = (key: string, change: (one: SourceValue) => SourceValue): void => {
    const entry = changed.get(key);
    if (entry !== undefined) changed.set(key, resettled(entry, entry.said.map(change)));
  };
  const managedOnly = inForce(merged, MANAGED_ONLY).some(({ value }) => value === true);
  for (const [key, entry] of merged) {
    const name = key.startsWith('env.') ? key.slice('env.'.length) : undefined;
    const reason = name === undefined ? undefined : projectMayNotSet(name);
    if (reason !== undefined) {
      const why = `a project's files cannot set ${name}: ${reason}`;
      // fail-closed: a repository may not set variables that steer this program or its children.
      edit(key, (one) =>
        isOfProject(one.owner.source) ? { ...one, standing: 'dropped', why } : one,
      );
    }
    if (managedOnly && GRANTS.test(key)) {
      edit(key, (one) => {
        const isKept = one.standing !== 'in force' || one.owner.source === 'managed';
        return isKept ? one : { ...one, standing: 'managed only' };
      });
    }
    if (ABOUT_ALL_HOOKS.test(key)) changed.set(key, preferUserValue(entry));
  }
  const mode = changed.get('permissions.defaultMode');
  if (mode !== undefined) changed.set(mode.key, capProjectMode(mode, changed));
  return changed;
}

const MANAGED_ONLY = 'allowManagedPermissionRulesOnly';
const ABOUT_ALL_HOOKS = /^(?:disableAllHooks|portcullis\.hookTimeouts\..*)$/s;
const GRANTS = /^(?:permissions|portcullis\.agents\..*)\.allow$/s;

/** How permissive a mode is. */
const REACH: Readonly<Record<PermissionMode, number>> = {
  plan: 0,
  dontAsk: 1,
  default: 2,
  acceptEdits: 3,
  bypassPermissions: 4,
};

/**
 * A project may lower the mode its user chose but not raise it. Without a user's choice a trusted project may
 * go up to accepting edits, which its allow rules could do as well.
 */
function capProjectMode(entry: MergedKey, merged: Merged): MergedKey {
  const noBypass = inForce(merged, 'permissions.disableBypassPermissionsMode').length > 0;
  const refusal = ({ value }: SourceValue): string | undefined => {
    const mode = modeOf(value);
    if (mode === undefined) return `the mode "${value}" is not available`;
    const isForbidden = mode === 'bypassPermissions' && noBypass;
    return isForbidden ? 'disableBypassPermissionsMode forbids it' : undefined;
  };
  // fail-closed: an unavailable choice still counts as one, so a project cannot choose instead.
  const hasVoidChoice = entry.said.some((one) => !isOfProject(one.owner.source) && refusal(one));
  let reach: number | undefined = hasVoidChoice ? REACH.default : undefined;
  // Weakest first: each stronger source is compared with the choices below it.
  const judged = [...entry.said].reverse().map((one): SourceValue => {
    const mode = modeOf(one.value);
    const why = refusal(one);
    if (mode === undefined || why !== undefined) return { ...one, standing: 'dropped', why };
    const most = reach ?? (one.owner.trusted ? REACH.acceptEdits : REACH.default);
    if (isOfProject(one.owner.source) && REACH[mode] > most) {
      // fail-closed: a repository can neither raise the user's mode nor bypass permissions.
      const why = `a project's files cannot raise the mode to "${mode}"`;
      return { ...one, standing: 'dropped', why };
    }
    reach = REACH[mode];
    return { ...one, standing: 'in force' };
  });
  return resettled(entry, judged.reverse());
}

function modeOf(value: unknown): PermissionMode | undefined {
  return value === 'manual' ? 'default' : PERMISSION_MODES.find((known) => known === value);
}

/** fail-closed: the user's value takes precedence over a repository's for all hooks. */
function preferUserValue(entry: MergedKey): MergedKey {
  const winner = entry.said.find((one) => hasSay(one) && !isOfProject(one.owner.source));
  return winner === undefined ? entry : { ...entry, said: settled(entry.said, winner) };
}

/** Puts the next value in force when a stronger one was removed. */
function resettled(entry: MergedKey, said: readonly SourceValue[]): MergedKey {
  if (entry.isList) return { ...entry, said };
  const kept = said.some((one) => one.standing === 'in force' && entry.facts.strictest);
  if (kept) return { ...entry, said };
  return { ...entry, said: settled(said, said.find(hasSay)) };
}

/** The typed view of the effective settings. */
export function effectiveSettings(
  merged: Merged,
  { cwd, env }: EffectiveContext,
): Omit<EffectiveSettings, 'files' | 'places'> {
  const keys = [...merged.keys()].map((key) => /^portcullis\.agents\.(.*)\.\w+$/s.exec(key)?.[1]);
  const patterns = [...new Set(keys.filter((one) => one !== undefined))];
  const agents = patterns.map((pattern) => ({
    pattern,
    ...ruleLists(merged, `portcullis.agents.${pattern}`),
  }));
  const directories = inForce(merged, 'permissions.additionalDirectories').flatMap((from) => {
    if (typeof from.value !== 'string') return [];
    const base = isOfProject(from.source) ? from.owner.root : cwd;
    return [bare(from, resolve(base, expandHome(from.value, env.HOME ?? '')))];
  });
  const variables: Record<string, Sourced<string>> = Object.create(null);
  for (const key of merged.keys()) {
    const from = key.startsWith('env.') ? firstInForce(merged, key) : undefined;
    if (from !== undefined) variables[key.slice('env.'.length)] = bare(from, String(from.value));
  }
  return {
    permissions: {
      ...ruleLists(merged, 'permissions'),
      additionalDirectories: directories,
      agents: agents.length === 0 ? undefined : agents,
      defaultMode: one(merged, 'permissions.defaultMode', modeOf),
      bypassDisabled: isSet(merged, 'permissions.disableBypassPermissionsMode', 'disable'),
      managedRulesOnly: isSet(merged, MANAGED_ONLY, true),
      denyInsteadOfPrompting: isSet(merged, 'permissions.denyInsteadOfPrompting', true),
      askReadOnly: isSet(merged, 'portcullis.askReadOnly', true),
    },
    env: variables,
    model: one(merged, 'model', (value) => (typeof value === 'string' ? value : undefined)),
    values: valuesOf(merged),
    strictness: strictnessOf(merged),
  };
}

function ruleLists(merged: Merged, prefix: string): RuleLists {
  const rules = (list: string): readonly SourcedRule[] =>
    inForce(merged, `${prefix}.${list}`).flatMap((from) =>
      typeof from.value === 'string'
        ? [bare(from, { text: from.value, root: from.owner.root })]
        : [],
    );
  return { allow: rules('allow'), ask: rules('ask'), deny: rules('deny') };
}

/** fail-closed: a user cannot weaken an administrator's restrictions. */
function strictnessOf(merged: Merged): Strictness {
  const said = contributionsOf(merged, 'portcullis.strict');
  const decides =
    said.find(({ source }) => source === 'managed') ?? said.find(({ source }) => source === 'user');
  return decides?.value === false ? { off: bare(decides, false) } : {};
}

function valuesOf(merged: Merged): SettingValues {
  return {
    get(key) {
      const from = firstInForce(merged, key);
      return from === undefined ? undefined : bare(from, from.value);
    },
    said: (key) =>
      contributionsOf(merged, key)
        .filter(hasSay)
        .map((from) => bare(from, from.value)),
    has: (key, counts = () => true) =>
      merged.get(key)?.said.some((one) => hasSay(one) && counts(one.owner.source)) === true,
    list(key) {
      const seen = new Set<string>();
      return inForce(merged, key).flatMap((from) => {
        const text = JSON.stringify(from.value);
        if (seen.has(text)) return [];
        seen.add(text);
        return [bare(from, from.value)];
      });
    },
  };
}

function one<T>(
  merged: Merged,
  key: string,
  read: (value: unknown) => T | undefined,
): Sourced<T> | undefined {
  const from = firstInForce(merged, key);
  const value = from === undefined ? undefined : read(from.value);
  return from === undefined || value === undefined ? undefined : bare(from, value);
}

function isSet(merged: Merged, key: string, wanted: unknown): Sourced<true> | undefined {
  const from = inForce(merged, key).find(({ value }) => value === wanted);
  return from === undefined ? undefined : bare(from, true);
}

function bare<T>({ source, trusted, file, line }: Contribution, value: T): Sourced<T> {
  return { value, source, trusted, file, line };
}
