import { isRecord } from '../../lib/own.js';
import { settingsDrafts } from './settings.js';
import type { Draft } from './types.js';

/** Whether nothing but its own text decides what happens. */
export function isBare({ runs, kind }: Draft): boolean {
  return runs === undefined && kind !== 'hook';
}

/** Reads what a file of JSON declares. */
export type JsonDrafts = (value: unknown) => readonly Draft[];

/** Of a settings file, whatever it holds. */
export function settingsOf(value: unknown): readonly Draft[] {
  return isRecord(value) ? settingsDrafts(value) : [];
}

/** fail-closed: what is not looked at may be anything, so trust in it is not kept. */
export function tooMany(name: string): Draft {
  const text = 'more files than are looked at';
  return { kind: 'unreadable', name, text, way: [name], value: text, pinned: false };
}
