import type { WalkGaps } from '../env/tree-walk.js';

const MOST_NAMED = 3;

/** Why a look does not show everything, for a person. */
export function gapTexts({ unreadable, noText, mounts, adopted }: WalkGaps): string[] {
  return [
    ...about(unreadable, 'cannot be read'),
    ...about(noText, 'holds names that are no text (UTF-8), which are not followed'),
    ...about(mounts, 'is another file system, which is not followed'),
    ...about(
      adopted,
      'was left out until an ignore rule changed: what stood there before is not known',
    ),
  ];
}

function about(paths: readonly string[], what: string): string[] {
  const all = [...new Set(paths)];
  if (all.length === 0) return [];
  const named = all.slice(0, MOST_NAMED).map((path) => JSON.stringify(path === '' ? '.' : path));
  const rest = all.length - named.length;
  return [`${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}: ${what}`];
}
