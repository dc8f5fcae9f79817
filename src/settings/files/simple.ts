import { isRecord } from '../../lib/own.js';
import { PERMISSION_MODES } from '../../protocol/permissions.js';
import type { SettingsFile } from '../types.js';

/**
 * Whether a file holds nothing but the everyday keys, all well-formed. Such a file needs neither the
 * checks nor the whole table, which a start would have to load. In doubt the answer is no.
 */
export function isSimple({ content, duplicates, source }: SettingsFile): boolean {
  return duplicates.length === 0 && source !== 'sdk' && allFit(content, TOP);
}

type Test = (value: unknown) => boolean;

const text: Test = (value) => typeof value === 'string';
const texts: Test = (value) => Array.isArray(value) && value.every(text);
const variable: Test = (value) =>
  text(value) || typeof value === 'number' || typeof value === 'boolean';
const MODES: readonly unknown[] = ['manual', ...PERMISSION_MODES];

const PERMISSIONS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['allow', texts],
  ['ask', texts],
  ['deny', texts],
  ['additionalDirectories', texts],
  ['defaultMode', (value) => MODES.includes(value)],
  ['disableBypassPermissionsMode', (value) => value === 'disable'],
]);

const TOP: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['$schema', text],
  ['model', text],
  ['env', (value) => isRecord(value) && Object.values(value).every(variable)],
  ['permissions', (value) => isRecord(value) && allFit(value, PERMISSIONS)],
]);

function allFit(
  value: Readonly<Record<string, unknown>>,
  tests: ReadonlyMap<string, Test>,
): boolean {
  return Object.entries(value).every(([key, inner]) => tests.get(key)?.(inner) === true);
}
