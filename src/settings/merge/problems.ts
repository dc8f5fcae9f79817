import { fits } from '../schema/fits.js';
import { type ConfigProblem, placeOf } from '../types.js';
import type { Merged, MergedKey, Said } from './merge.js';

/** What files say and is not in force, told once for each file and key. */
export function standingProblems(merged: Merged): readonly ConfigProblem[] {
  const told = new Map<string, ConfigProblem>();
  for (const entry of merged.values()) {
    for (const one of entry.said) {
      const problem = isNothing(one) ? undefined : problemOf(entry, one);
      if (problem === undefined) continue;
      const id = `${one.owner.source}\n${one.owner.file ?? ''}\n${problem.message}`;
      if (!told.has(id)) told.set(id, problem);
    }
  }
  return [...told.values()];
}

/** A list in which no item has a say asks for nothing. */
function isNothing({ value, items }: Said): boolean {
  return items !== undefined && Array.isArray(value) && !value.some((item) => fits(items, item));
}

function problemOf(entry: MergedKey, one: Said): ConfigProblem | undefined {
  switch (one.standing) {
    case 'in force':
    case 'shadowed':
      return undefined;
    case 'untrusted':
      return {
        severity: 'note',
        ...placeOf(one.owner, one.governed),
        message: `\`${one.governed.join('.')}\` is not in force because this folder is not trusted.`,
        remedy: 'Start with --trust to accept what the folder grants.',
      };
    case 'managed only':
      return {
        severity: 'note',
        ...placeOf(one.owner, one.governed),
        message: `\`${entry.key}\` is not in force: an administrator lets only managed rules grant.`,
        remedy: 'Ask for a managed rule.',
      };
    case 'dropped':
      return {
        severity: 'warning',
        ...placeOf(one.owner, one.way),
        message: `\`${entry.key}\` is ignored: ${one.why ?? 'it may not stand here'}.`,
        remedy: 'Set it on the command line or in your own settings.',
      };
    case 'not here':
      return misplaced(entry, one);
  }
}

/** fail-closed: a restriction in a file that may not set it would be relied on and never hold. */
function misplaced(entry: MergedKey, one: Said): ConfigProblem {
  const restricts = entry.facts.restricts === true && one.value !== false;
  const managed = entry.facts.scope === 'managed';
  return {
    severity: restricts && managed ? 'fatal' : 'warning',
    ...placeOf(one.owner, one.governed),
    message: managed
      ? `\`${entry.key}\` has no effect here: only an administrator can set it.`
      : `\`${entry.key}\` is ignored: a project's files cannot set it.`,
    remedy: managed
      ? 'Move it to managed-settings.json, or remove it.'
      : 'Set it in your own settings, or on the command line.',
  };
}
