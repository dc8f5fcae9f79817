import { type ConfigProblem, placeOf } from '../types.js';
import { contributionsOf, inForce, type Merged } from './merge.js';

/**
 * fail-closed: a restriction that this version cannot enforce stops the start. Where the setting
 * itself says that it may be missing, it is told.
 */
export function unavailableProblems(merged: Merged): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const { key, facts } of merged.values()) {
    const [first] = inForce(merged, key);
    if (facts.unenforced !== true || first === undefined || first.value === false) continue;
    problems.push({
      severity: 'fatal',
      ...placeOf(first.owner, first.way),
      message: `\`${key}\` cannot be enforced by this version.`,
      remedy: 'Remove it, or do without this version.',
    });
  }
  return [...problems, ...strictElsewhere(merged)];
}

function strictElsewhere(merged: Merged): readonly ConfigProblem[] {
  return contributionsOf(merged, 'portcullis.strict')
    .filter(({ source, value }) => value === false && source !== 'managed' && source !== 'user')
    .map(({ owner, way }) => ({
      severity: 'warning',
      ...placeOf(owner, way),
      message: '`portcullis.strict` is ignored here.',
      remedy: 'It counts in the settings of the user or an administrator.',
    }));
}
