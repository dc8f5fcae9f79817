const NO_MATCH = -1;

/**
 * How well a path fits what was typed; below zero: not at all. Text in the name counts more than text in the
 * directories, whole text more than single letters, letters at the beginning of words more than others. Both are in
 * lower case; a directory ends with a slash.
 */
export function fuzzyScore(path: string, typed: string): number {
  if (typed === '') return depthOf(path) * -1 + 100;
  const name = path.lastIndexOf('/', path.length - 2) + 1;
  const shorter = 200 - Math.min(199, path.length);
  const inName = path.indexOf(typed, name);
  if (inName >= 0) {
    const isWhole = path.length - inName === typed.length || path[inName + typed.length] === '.';
    return (
      4_000 + (inName === name ? 1_000 : wordBonus(path, inName)) + (isWhole ? 500 : 0) + shorter
    );
  }
  const inPath = path.indexOf(typed);
  if (inPath >= 0) return 3_000 + wordBonus(path, inPath) + shorter;
  const letters = lettersScore(path, typed, name);
  if (letters >= 0) return 2_000 + letters + shorter;
  const anywhere = lettersScore(path, typed, 0);
  return anywhere < 0 ? NO_MATCH : 1_000 + anywhere + shorter;
}

/** The letters one after the other, with others between them. */
function lettersScore(path: string, typed: string, from: number): number {
  let score = 0;
  let last = from - 1;
  for (let index = 0; index < typed.length; index++) {
    const at = path.indexOf(typed[index] ?? '', last + 1);
    if (at < 0) return NO_MATCH;
    score += at === last + 1 ? 20 : wordBonus(path, at) / 10;
    last = at;
  }
  return Math.min(999, score);
}

function wordBonus(path: string, at: number): number {
  return at === 0 || '/-_. '.includes(path[at - 1] ?? '') ? 300 : 0;
}

function depthOf(path: string): number {
  let depth = 0;
  for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1))
    depth++;
  return depth;
}
