import { isRecord, own } from '../../lib/own.js';
import { type SettingNode, type SettingTable, strictValues } from '../../protocol/setting-node.js';
import type { SettingsFile } from '../types.js';
import { fits } from './fits.js';

/** A host's settings above the user's: of these only what holds back counts. */
export function onlyRestrictions(file: SettingsFile, table: SettingTable): SettingsFile {
  const kept = restrictions({ type: 'object', keys: table, open: true }, file.content);
  return { ...file, content: isRecord(kept) ? kept : {} };
}

function restrictions(node: SettingNode, value: unknown): unknown {
  if (!fits(node, value)) return undefined;
  const inner = innerOf(node);
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
  // fail-closed: what could also grant or execute is not taken from a host's text. A list that
  // restricts is: that there is one holds back.
  const holdsBack = Array.isArray(value) || (value === true && needsTrust !== true);
  return holdsBack ? value : undefined;
}

function innerOf(node: SettingNode): ((name: string) => SettingNode | undefined) | undefined {
  if (node.facts?.needsTrust === true) return undefined;
  if (node.type === 'object') return (name) => own(node.keys, name);
  return node.type === 'map' ? () => node.of : undefined;
}
