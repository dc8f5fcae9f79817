import { fits } from '../schema/type-check.js';
import { type ConfigProblem, isOfProject, placeOf } from '../types.js';
import {
  contributionsOf,
  inForce,
  type Merged,
  type MergedKey,
  type SourceValue,
} from './merge.js';

/** What a person should know about the settings of all files together. */
export function mergeProblems(merged: Merged): readonly ConfigProblem[] {
  return [
    ...unenforced(merged),
    ...strictElsewhere(merged),
    ...openFailure(merged),
    ...offInProject(merged),
    ...withoutEffect(merged),
  ];
}

/**
 * fail-closed: a restriction that this version cannot enforce stops the start. Where the setting
 * itself says that it may be missing, it is told.
 */
function unenforced(merged: Merged): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const { key, facts } of merged.values()) {
    const [first] = inForce(merged, key);
    if (facts.unenforced !== true || first === undefined || first.value === false) continue;
    problems.push({
      severity: 'fatal',
      ...placeOf(first.owner, first.path),
      message: `\`${key}\` cannot be enforced by this version.`,
      remedy: 'Remove it, or do without this version.',
    });
  }
  return problems;
}

function strictElsewhere(merged: Merged): readonly ConfigProblem[] {
  return contributionsOf(merged, 'portcullis.strict')
    .filter(({ source, value }) => value === false && source !== 'managed' && source !== 'user')
    .map(({ owner, path }) => ({
      severity: 'warning',
      ...placeOf(owner, path),
      message: '`portcullis.strict` is ignored here.',
      remedy: 'It counts in the settings of the user or an administrator.',
    }));
}

/** Said at every start: guards are weaker than they look. */
function openFailure(merged: Merged): readonly ConfigProblem[] {
  const [failure] = inForce(merged, 'portcullis.hookFailure');
  if (failure?.value !== 'open') return [];
  return [
    {
      severity: 'warning',
      topic: 'hooks',
      ...placeOf(failure.owner, failure.path),
      message: 'a hook that fails refuses nothing, because `portcullis.hookFailure` is "open".',
      remedy: 'Set it to "closed" to refuse instead.',
    },
  ];
}

function offInProject(merged: Merged): readonly ConfigProblem[] {
  return contributionsOf(merged, 'disableAllHooks')
    .filter(({ source, value, standing }) => {
      return isOfProject(source) && value === true && standing !== 'untrusted';
    })
    .map(({ owner, path }) => ({
      severity: 'note',
      ...placeOf(owner, path),
      message: "`disableAllHooks` of a project switches off the project's own hooks only.",
      remedy: 'Set it in your own settings or on the command line to switch off yours.',
    }));
}

/** Values that are not in force, reported once for each file and key. */
function withoutEffect(merged: Merged): readonly ConfigProblem[] {
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
function isNothing({ value, items }: SourceValue): boolean {
  return items !== undefined && Array.isArray(value) && !value.some((item) => fits(items, item));
}

function problemOf(entry: MergedKey, one: SourceValue): ConfigProblem | undefined {
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
        ...placeOf(one.owner, one.path),
        message: `\`${entry.key}\` is ignored: ${one.why ?? 'it may not stand here'}.`,
        remedy: 'Set it on the command line or in your own settings.',
      };
    case 'not here':
      return misplaced(entry, one);
  }
}

/** fail-closed: a restriction in a file that may not set it would be relied on and never hold. */
function misplaced(entry: MergedKey, one: SourceValue): ConfigProblem {
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
