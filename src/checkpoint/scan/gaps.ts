import type { WalkGaps } from '../disk/walk.js';

const MOST_NAMED = 3;

/** Why a look does not show everything, for a person. */
export function gapTexts(gaps: WalkGaps): string[] {
  const { unreadable, noText, mounts, adopted, rules, rootModes } = gaps;
  return [
    ...about(unreadable, 'cannot be read'),
    ...about(noText, 'holds names that are no text (UTF-8), which are not followed'),
    ...about(mounts, 'is another file system, which is not followed'),
    ...about(
      adopted,
      'was left out until an ignore rule changed: what stood there before is not known',
    ),
    ...about(
      rules,
      'has changed, and is not followed itself: it says what is left out from now on',
    ),
    ...rootModes.map((modes) => `the mode of the directory itself changed from ${modes}`),
  ];
}

/** Said once: nobody can expect what we keep there ourselves to be brought back. */
export function excludedGaps(paths: readonly string[]): string[] {
  return about(paths, 'holds our own files, which are not followed');
}

function about(paths: readonly string[], what: string): string[] {
  const all = [...new Set(paths)];
  if (all.length === 0) return [];
  const named = all.slice(0, MOST_NAMED).map((path) => JSON.stringify(path === '' ? '.' : path));
  const rest = all.length - named.length;
  return [`${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}: ${what}`];
}
