import { isRecord } from '../../lib/own.js';
import { sha256 } from '../../platform/hash.js';
import type { Declaration } from './types.js';

/** A digest of a set of declarations, independent of order. */
export function digest(declarations: readonly Pick<Declaration, 'digest'>[]): string {
  const each = [...new Set(declarations.map((declaration) => declaration.digest))].sort();
  return sha256(`portcullis trust 1\n${each.join('\n')}`);
}

/** Equal text for equal values: sorted keys, no blanks, lists and objects distinct. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'null';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(sorted)];
  if (!isRecord(value)) return value;
  const entries = Object.keys(value)
    .sort()
    .map((key) => [key, sorted(value[key])]);
  return ['map', ...entries];
}
