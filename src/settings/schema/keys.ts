import { SETTINGS } from '../../../build/generated/settings-table.js';
import { isRecord, own } from '../../lib/own.js';
import { editDistance, nearest } from '../../lib/text/nearest.js';
import { HOOK_EVENTS } from '../../protocol/hooks/hook-events.js';
import {
  type SettingNode,
  type SettingTable,
  strictValues,
} from '../../protocol/settings/setting-node.js';
import { type ConfigProblem, placeOf, type SettingsFile } from '../types.js';
import { forEachName, isComment } from './type-check.js';

/** Checks unknown top-level keys; those that look like restrictions prevent the start. */
export function checkTopLevel(file: SettingsFile): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const strangers: string[] = [];
  const told = (name: string, severity: 'fatal' | 'warning', message: string, remedy: string) =>
    problems.push({ severity, ...placeOf(file, [name]), message, remedy });
  for (const [name, value] of Object.entries(file.content)) {
    if (Object.hasOwn(SETTINGS, name) || isComment(name)) continue;
    const meant = meaningOf(name, value);
    if (meant === undefined) strangers.push(name);
    else {
      const { restricts, why = 'is not a setting', remedy } = meant;
      told(name, restricts ? 'fatal' : 'warning', `\`${name}\` ${why}.`, remedy);
    }
  }
  const [first] = strangers;
  if (first !== undefined) {
    const names = strangers.map((name) => `\`${name}\``).join(', ');
    const verb = strangers.length === 1 ? 'is not a setting and has' : 'are not settings and have';
    const remedy = 'docs/reference/settings.md lists the settings.';
    told(first, 'warning', `${names} ${verb} no effect.`, remedy);
  }
  return problems;
}

interface Meaning {
  readonly restricts: boolean;
  readonly remedy: string;
  readonly why?: string;
}

function meaningOf(name: string, value: unknown): Meaning | undefined {
  const exact = wordOfOthers(name, value) ?? dotted(name, value) ?? misplaced(name, value);
  if (exact !== undefined) return exact;
  const near = misspelt(name);
  return near?.restricts === true ? near : (restrictionInside(value) ?? near);
}

/** Names of restrictions and grants in flags, code and other programs. */
const WORDS: Readonly<Record<string, Meaning>> = {
  ...forEachName(
    'disallowedtools deniedtools denytools blockedtools excludetools excludedtools bannedtools denyrules denylist blocklist blockedcommands disallowedcommands',
    { restricts: true, remedy: 'Write the rules into permissions.deny.' },
  ),
  ...forEachName('allowedtools allowtools allowlist autoapprove allowedcommands', {
    restricts: false,
    remedy: 'Write the rules into permissions.allow.',
  }),
  permissionmode: { restricts: true, remedy: 'Write it as permissions.defaultMode.' },
  maxturns: { restricts: true, remedy: 'It is a flag: --max-turns.' },
  maxbudgetusd: { restricts: true, remedy: 'It is a flag: --max-budget-usd.' },
  maxbudget: { restricts: true, remedy: 'It is a flag: --max-budget-usd.' },
  mcpservers: { restricts: false, remedy: 'Servers stand in .mcp.json.' },
};

function wordOfOthers(name: string, value: unknown): Meaning | undefined {
  const found = own(WORDS, folded(name));
  return found !== undefined && WIDE_MODES.has(value) ? { ...found, restricts: false } : found;
}

/** Modes more permissive than the default; losing them is harmless. */
const WIDE_MODES: ReadonlySet<unknown> = new Set(['acceptEdits', 'auto', 'bypassPermissions']);

/** Whether losing the value would allow more. */
function holdsBack({ facts = {} }: SettingNode, value: unknown): boolean {
  if (facts.restricts !== true || WIDE_MODES.has(value)) return false;
  const strict = strictValues(facts);
  const isPlain = typeof value === 'boolean' || typeof value === 'string';
  return strict.length === 0 || !isPlain || strict.some((one) => one === value);
}

/** Finds a key that is written as its way from the top: `"permissions.deny"`. */
function dotted(name: string, value: unknown): Meaning | undefined {
  const parts = name.split('.');
  if (parts.length < 2) return undefined;
  let node: SettingNode = { type: 'object', keys: SETTINGS };
  let restricts = false;
  const way: string[] = [];
  for (const part of parts) {
    if (node.type !== 'object') break;
    const [key, inner]: readonly [string?, SettingNode?] = keyOf(part, node.keys) ?? [];
    if (key === undefined || inner === undefined) {
      // fail-closed: a name that does not exist among restrictions was meant as one.
      return way.length === 0
        ? undefined
        : { restricts, remedy: `Write it into ${way.join('.')}.` };
    }
    way.push(key);
    restricts = inner.facts?.restricts ?? restricts;
    node = inner;
  }
  const remedy = `Write ${way.map((key) => `{"${key}": `).join('')}…${'}'.repeat(way.length)}.`;
  return { restricts: restricts && !WIDE_MODES.has(value), why: 'is not read as a path', remedy };
}

function keyOf(name: string, keys: SettingTable): readonly [string, SettingNode] | undefined {
  return Object.entries(keys).find(([key]) => folded(key) === folded(name));
}

/** Words too common to reveal what was meant. */
const COMMON = new Set(['enabled', 'agents', 'network', 'disabled', 'files']);

/** Finds keys that belong one level deeper. */
function misplaced(name: string, value: unknown): Meaning | undefined {
  const wanted = folded(name);
  const event = Object.keys(HOOK_EVENTS).find((one) => folded(one) === wanted);
  if (event !== undefined) return { restricts: true, remedy: `Write it as hooks.${event}.` };
  const find = (node: SettingNode | undefined, path: string): readonly Meaning[] =>
    node?.type !== 'object'
      ? []
      : Object.entries(node.keys).flatMap(([key, inner]) => {
          const at = `${path}.${key}`;
          if (folded(key) !== wanted) return find(inner, at);
          return [{ restricts: holdsBack(inner, value), remedy: `Write it as ${at}.` }];
        });
  if (COMMON.has(wanted)) return undefined;
  return ['permissions', 'sandbox', 'portcullis'].flatMap((key) =>
    find(own(SETTINGS, key), key),
  )[0];
}

/** The edit distance up to which a key counts as misspelt. */
const NEAR_MISS = 2;

function misspelt(name: string): Meaning | undefined {
  const near = nearest(name, Object.keys(SETTINGS));
  if (near === undefined) return undefined;
  const isMiss = editDistance(name.toLowerCase(), near.toLowerCase()) <= NEAR_MISS;
  // fail-closed: a misspelt restriction would be relied on without effect.
  const restricts = isMiss && own(SETTINGS, near)?.facts?.restricts === true;
  return { restricts, remedy: `Did you mean ${near}?` };
}

/** How far below an unknown key restrictions are looked for. */
const DEEPEST = 4;

/** Finds rules or hooks below an unknown key. */
function restrictionInside(value: unknown, depth = 0): Meaning | undefined {
  if (!isRecord(value) || depth > DEEPEST) return undefined;
  const inner = Object.keys(value).find(
    (name) =>
      Object.hasOwn(HOOK_EVENTS, name) ||
      ((name === 'deny' || name === 'ask') && Array.isArray(value[name])),
  );
  if (inner === undefined) {
    const below = Object.values(value).map((one) => restrictionInside(one, depth + 1));
    return below.find((one) => one !== undefined);
  }
  const parent = Object.hasOwn(HOOK_EVENTS, inner) ? 'hooks' : 'permissions';
  const why = `is not a setting, but holds \`${inner}\``;
  return { restricts: true, why, remedy: `Write it as ${parent}.${inner}.` };
}

function folded(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}
