import { fits } from '../schema/type-check.js';
import { type ConfigProblem, isOfProject, placeOf } from '../types.js';
import {
  contributionsOf,
  inForce,
  type Merged,
  type MergedKey,
  type SourceValue,
} from './merge.js';

type Told = Pick<ConfigProblem, 'severity' | 'message' | 'remedy' | 'topic'>;

/** Problems of the merged settings, for people. */
export function mergeProblems(merged: Merged): readonly ConfigProblem[] {
  return [
    ...unenforced(merged),
    ...contributionsOf(merged, 'portcullis.strict')
      .filter(({ source, value }) => value === false && source !== 'managed' && source !== 'user')
      .map((one) => at(one, STRICT_ELSEWHERE)),
    ...inForce(merged, 'portcullis.hookFailure')
      .filter(({ value }) => value === 'open')
      .map((one) => at(one, OPEN_FAILURE)),
    ...contributionsOf(merged, 'disableAllHooks')
      .filter(({ source, value, standing }) => {
        return isOfProject(source) && value === true && standing !== 'untrusted';
      })
      .map((one) => at(one, OFF_IN_PROJECT)),
    ...withoutEffect(merged),
  ];
}

const STRICT_ELSEWHERE: Told = {
  severity: 'warning',
  message: '`portcullis.strict` is ignored here.',
  remedy: 'It counts in the settings of the user or an administrator.',
};

/** Shown at every start, because it weakens guards. */
const OPEN_FAILURE: Told = {
  severity: 'warning',
  topic: 'hooks',
  message: 'a hook that fails refuses nothing, because `portcullis.hookFailure` is "open".',
  remedy: 'Set it to "closed" to refuse instead.',
};

const OFF_IN_PROJECT: Told = {
  severity: 'note',
  message: "`disableAllHooks` of a project switches off the project's own hooks only.",
  remedy: 'Set it in your own settings or on the command line to switch off yours.',
};

function at(
  { owner, path }: Pick<SourceValue, 'owner' | 'path'>,
  { severity, ...told }: Told,
): ConfigProblem {
  return { severity, ...placeOf(owner, path), ...told };
}

/** fail-closed: a restriction that this version cannot enforce prevents the start. */
function unenforced(merged: Merged): readonly ConfigProblem[] {
  return [...merged.values()].flatMap(({ key, facts }) => {
    const [first] = inForce(merged, key);
    if (facts.unenforced !== true || first === undefined || first.value === false) return [];
    const message = `\`${key}\` cannot be enforced by this version.`;
    const remedy = 'Remove it, or do without this version.';
    return [at(first, { severity: 'fatal', message, remedy })];
  });
}

/** Reports ineffective values once per file and key. */
function withoutEffect(merged: Merged): readonly ConfigProblem[] {
  const told = new Map<string, ConfigProblem>();
  for (const entry of merged.values()) {
    for (const one of entry.said) {
      const problem = problemOf(entry, one);
      const id = `${one.owner.source}\n${one.owner.file ?? ''}\n${problem?.message}`;
      if (problem !== undefined && !told.has(id)) told.set(id, problem);
    }
  }
  return [...told.values()];
}

function problemOf({ key, facts }: MergedKey, one: SourceValue): ConfigProblem | undefined {
  const { value, items, owner, governed, why = 'it may not stand here' } = one;
  // A list without valid items has no effect.
  if (items !== undefined && Array.isArray(value) && !value.some((item) => fits(items, item))) {
    return undefined;
  }
  const around = { owner, path: governed };
  switch (one.standing) {
    case 'in force':
    case 'shadowed':
      return undefined;
    case 'untrusted':
      return at(around, {
        severity: 'note',
        message: `\`${governed.join('.')}\` is not in force because this folder is not trusted.`,
        remedy: 'Start with --trust to accept what the folder grants.',
      });
    case 'managed only':
      return at(around, {
        severity: 'note',
        message: `\`${key}\` is not in force: an administrator lets only managed rules grant.`,
        remedy: 'Ask for a managed rule.',
      });
    case 'dropped':
      return at(one, {
        severity: 'warning',
        message: `\`${key}\` is ignored: ${why}.`,
        remedy: 'Set it on the command line or in your own settings.',
      });
    case 'not here':
      if (facts.scope === 'managed') {
        return at(around, {
          // fail-closed: a restriction in the wrong file would be relied on without effect.
          severity: facts.restricts === true && value !== false ? 'fatal' : 'warning',
          message: `\`${key}\` has no effect here: only an administrator can set it.`,
          remedy: 'Move it to managed-settings.json, or remove it.',
        });
      }
      return at(around, {
        severity: 'warning',
        message: `\`${key}\` is ignored: a project's files cannot set it.`,
        remedy: 'Set it in your own settings, or on the command line.',
      });
  }
}
