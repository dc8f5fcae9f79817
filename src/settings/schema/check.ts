import { SETTINGS } from '../../../build/generated/settings-table.js';
import { isRecord, own } from '../../lib/own.js';
import {
  type SettingNode,
  type SettingTable,
  strictValues,
} from '../../protocol/settings/setting-node.js';
import type { JsonPath } from '../files/json.js';
import { innerNode, SETTINGS_ROOT } from '../merge/merge.js';
import { type ConfigProblem, placeOf, type SettingsFile } from '../types.js';
import { checkHooks, checkHookTimeouts } from './hooks.js';
import { checkTopLevel } from './keys.js';
import { type CheckOptions, checkValue, fits, formatPath } from './type-check.js';

const HOOK_SETTINGS: ReadonlySet<string> = new Set([
  'disableAllHooks',
  'allowManagedHooksOnly',
  'allowedHttpHookUrls',
  'httpHookAllowedEnvVars',
]);

/** The checks that concern a single file. */
export function checkFiles(
  files: readonly SettingsFile[],
  options: CheckOptions = {},
): {
  readonly files: readonly SettingsFile[];
  readonly problems: readonly ConfigProblem[];
} {
  const problems = files.flatMap((file) => [
    ...checkTopLevel(file),
    ...checkDuplicates(file),
    ...checkHookTimeouts(file).map(aboutHooks),
    ...Object.entries(file.content).flatMap(([name, value]) => {
      const node = own(SETTINGS, name);
      if (node === undefined) return [];
      if (name === 'hooks') return checkHooks(file, options).map(aboutHooks);
      const found = checkValue(node, value, { file, path: [name], restricts: false });
      return HOOK_SETTINGS.has(name) ? found.map(aboutHooks) : found;
    }),
  ]);
  const kept = files.map(normalizeLegacyValues).map((file) => {
    if (file.source !== 'sdk') return file;
    const held = onlyRestrictions(file);
    problems.push(...unheardRestrictions(file, held));
    return held;
  });
  return { files: kept, problems };
}

/** Hooks of a host's settings would run its code, and a mode may also grant: both are dropped, and reported. */
function unheardRestrictions(file: SettingsFile, held: SettingsFile): readonly ConfigProblem[] {
  const { permissions } = file.content;
  const isLowMode = isRecord(permissions) && LOW_MODES.has(permissions.defaultMode);
  const lost: JsonPath[] = [
    ...(file.content.hooks !== undefined && held.content.hooks === undefined ? [['hooks']] : []),
    ...(isLowMode ? [['permissions', 'defaultMode']] : []),
  ];
  return lost.map((path) => ({
    severity: 'warning',
    ...placeOf(file, path),
    message: `\`${formatPath(path)}\` has no effect in the settings of a host.`,
    remedy: 'Register hooks with initialize, and choose the mode with --permission-mode.',
  }));
}

const LOW_MODES: ReadonlySet<unknown> = new Set(['plan', 'dontAsk']);

function aboutHooks(problem: ConfigProblem): ConfigProblem {
  return { topic: 'hooks', ...problem };
}

/** Only the last of two equal keys counts, so the first may hold a lost restriction. */
function checkDuplicates(file: SettingsFile): readonly ConfigProblem[] {
  return file.duplicates.map(({ path, line }) => ({
    // fail-closed: the lost part may have contained a denial.
    severity: restrictsAt(path) ? 'fatal' : 'warning',
    ...placeOf(file, path),
    line,
    message: `\`${formatPath(path)}\` occurs twice, and only the last one counts.`,
    remedy: 'Join the two.',
  }));
}

function restrictsAt(path: JsonPath): boolean {
  let restricts = false;
  let keys: SettingTable = SETTINGS;
  for (const step of path) {
    const node = own(keys, String(step));
    restricts = node?.facts?.restricts ?? restricts;
    keys = node?.type === 'object' ? node.keys : {};
  }
  return restricts;
}

const FAILURE_WORDS: Readonly<Record<string, string>> = { block: 'closed', continue: 'open' };

/** Replaces synonyms by the documented value, so that sources can be compared. */
function normalizeLegacyValues(file: SettingsFile): SettingsFile {
  const { portcullis } = file.content;
  if (!isRecord(portcullis) || typeof portcullis.hookFailure !== 'string') return file;
  const word = own(FAILURE_WORDS, portcullis.hookFailure);
  if (word === undefined) return file;
  return {
    ...file,
    content: { ...file.content, portcullis: { ...portcullis, hookFailure: word } },
  };
}

/** Of a host's settings only restrictions count. */
function onlyRestrictions(file: SettingsFile): SettingsFile {
  const kept = restrictions(SETTINGS_ROOT, file.content);
  return { ...file, content: isRecord(kept) ? kept : {} };
}

function restrictions(node: SettingNode, value: unknown): unknown {
  if (!fits(node, value)) return undefined;
  const inner = node.facts?.needsTrust === true ? undefined : innerNode(node);
  if (inner !== undefined && isRecord(value)) {
    const kept = Object.entries(value).flatMap(([name, one]) => {
      const child = inner(name);
      const left = child === undefined ? undefined : restrictions(child, one);
      return left === undefined ? [] : [[name, left] as const];
    });
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
  const { restricts, needsTrust } = node.facts ?? {};
  const strict = strictValues(node.facts ?? {});
  if (strict.length > 0) return strict.some((one) => one === value) ? value : undefined;
  if (restricts !== true) return undefined;
  // fail-closed: a value that could also grant or execute is not accepted from a host. A restricting list is,
  // because its presence restricts.
  const holdsBack = Array.isArray(value) || (value === true && needsTrust !== true);
  return holdsBack ? value : undefined;
}
