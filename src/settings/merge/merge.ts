import { SETTINGS } from '../../../build/generated/settings-table.js';
import { isRecord, own } from '../../lib/own.js';
import type { Sourced } from '../../lib/sourced.js';
import {
  type KeyFacts,
  type SettingNode,
  strictValues,
} from '../../protocol/settings/setting-node.js';
import type { JsonPath } from '../files/json.js';
import { fits } from '../schema/type-check.js';
import { isOfAdministrator, isOfProject, placeOf, type SettingsFile } from '../types.js';

/**
 * The status of a value. `shadowed`: a stronger source or the strict value wins. `untrusted`: it would grant
 * or execute in an untrusted folder. `not here`: this kind of file may not set it. `managed only`: an
 * administrator reserves grants. `dropped`: see `why`.
 */
export type ValueStatus =
  | 'in force'
  | 'shadowed'
  | 'untrusted'
  | 'not here'
  | 'managed only'
  | 'dropped';

/** A file's value for a key, or its list, whose items add up with those of other files. */
export interface SourceValue {
  readonly value: unknown;
  /** Set for lists; items of another type do not count. */
  readonly items?: SettingNode;
  readonly standing: ValueStatus;
  readonly why?: string;
  readonly owner: SettingsFile;
  readonly path: JsonPath;
  /** The path of the key that determines trust or scope, such as `hooks` or `permissions.allow`. */
  readonly governed: JsonPath;
}

/** A single value, or a single item of a list, of one file. */
export interface Contribution extends Sourced<unknown>, Omit<SourceValue, 'items'> {}

/** A key with its values in all files, strongest first. */
export interface MergedKey {
  /** A dotted path: `permissions.deny`, `hooks.PreToolUse`, `env.PATH`. */
  readonly key: string;
  /** Lists add up; of single values one is in force. */
  readonly isList: boolean;
  readonly facts: KeyFacts;
  readonly said: readonly SourceValue[];
}

export type Merged = ReadonlyMap<string, MergedKey>;

/** Merges files, strongest first. Values of a wrong type do not count. */
export function mergeFiles(files: readonly SettingsFile[]): Merged {
  const found = new Map<string, FoundKey>();
  for (const file of files)
    collect(SETTINGS_ROOT, file.content, { file, path: [], facts: {}, governed: [], found });
  return new Map([...found].map(([key, one]) => [key, settle(one)]));
}

/** The shape of a settings file. */
export const SETTINGS_ROOT = { type: 'object', keys: SETTINGS, open: true } as const;

export function contributionsOf(merged: Merged, key: string): readonly Contribution[] {
  return merged.get(key)?.said.flatMap(eachOf) ?? [];
}

/** The effective values of a list or single value. */
export function inForce(merged: Merged, key: string): readonly Contribution[] {
  return (merged.get(key)?.said ?? []).filter(isInForce).flatMap(eachOf);
}

/** The strongest effective value. */
export function firstInForce(merged: Merged, key: string): Contribution | undefined {
  return inForce(merged, key)[0];
}

function isInForce({ standing }: SourceValue): boolean {
  return standing === 'in force';
}

function eachOf(said: SourceValue): readonly Contribution[] {
  const { items, value, ...rest } = said;
  const { owner, path } = rest;
  if (items === undefined || !Array.isArray(value)) {
    return [{ ...rest, value, trusted: owner.trusted, ...placeOf(owner, path) }];
  }
  return value.flatMap((item: unknown, index) => {
    if (!fits(items, item)) return [];
    const at = [...path, index];
    return [{ ...rest, value: item, trusted: owner.trusted, ...placeOf(owner, at), path: at }];
  });
}

interface FoundKey extends MergedKey {
  readonly said: SourceValue[];
}

interface Walk {
  readonly file: SettingsFile;
  readonly path: JsonPath;
  /** The node's facts, with trust and scope inherited. */
  readonly facts: KeyFacts;
  readonly governed: JsonPath;
  readonly found: Map<string, FoundKey>;
}

function collect(node: SettingNode, value: unknown, walk: Walk): void {
  if (!fits(node, value)) return;
  const { file: owner, path, found } = walk;
  const { needsTrust, scope, status } = walk.facts;
  const governs = node.facts?.needsTrust !== undefined || node.facts?.scope !== undefined;
  const governed = governs ? path : walk.governed;
  const facts: KeyFacts = { needsTrust, scope, status, ...node.facts };
  const inner = facts.whole === true ? undefined : innerNode(node);
  if (inner !== undefined && isRecord(value)) {
    for (const [name, one] of Object.entries(value)) {
      const child = inner(name);
      const at = { ...walk, facts, governed, path: [...path, name] };
      if (child !== undefined) collect(child, one, at);
    }
    return;
  }
  const isList = Array.isArray(value) && facts.whole !== true;
  const key = path.join('.');
  const entry = found.get(key) ?? { key, isList, facts, said: [] };
  found.set(key, entry);
  const said: SourceValue = {
    value,
    standing: standingOf(facts, owner, value),
    owner,
    path,
    governed,
  };
  entry.said.push(isList ? { ...said, items: node.type === 'list' ? node.of : ANYTHING } : said);
}

const ANYTHING: SettingNode = { type: 'any' };

/** The child nodes by name; undefined for a value that is not merged by key. */
export function innerNode(
  node: SettingNode,
): ((name: string) => SettingNode | undefined) | undefined {
  if (node.type === 'object') return (name) => own(node.keys, name);
  // A table of arbitrary values counts as a single value.
  if (node.type === 'map' && node.of.type !== 'any') return () => node.of;
  return undefined;
}

function standingOf(facts: KeyFacts, file: SettingsFile, value: unknown): ValueStatus {
  if (facts.scope === 'managed' && !isOfAdministrator(file.source)) return 'not here';
  const holdsBack = strictValues(facts).some((one) => one === value);
  // A value that wins from any source can only restrict, so a project may set it too.
  const isOpenToAll = holdsBack && facts.strictest === true;
  if (facts.scope === 'user' && isOfProject(file.source) && !isOpenToAll) return 'not here';
  // fail-closed: values that grant or execute need trust; the strict value does not.
  const waits = facts.needsTrust === true && !file.trusted;
  return waits && !holdsBack ? 'untrusted' : 'in force';
}

function settle(entry: MergedKey): MergedKey {
  const { isList, facts, said } = entry;
  if (isList) return entry;
  const candidates = said.filter(isInForce);
  const strict = facts.strictest === true ? strictValues(facts) : [];
  const winner =
    strict.flatMap((wanted) => candidates.find(({ value }) => value === wanted) ?? [])[0] ??
    candidates[0];
  return { ...entry, said: settled(said, winner) };
}

/** Whether the value counts, though a stronger one may shadow it. */
export function hasSay({ standing }: Pick<SourceValue, 'standing'>): boolean {
  return standing === 'in force' || standing === 'shadowed';
}

/** Puts one value in force and shadows the others that count. */
export function settled(
  said: readonly SourceValue[],
  winner: SourceValue | undefined,
): readonly SourceValue[] {
  return said.map((one) =>
    hasSay(one) ? { ...one, standing: one === winner ? 'in force' : 'shadowed' } : one,
  );
}
