/**
 * Names in order, without regard to case; where only the case differs, by their letters. Sorts texts
 * and no objects: for thousands of names that is several times faster.
 */
export function sortedNames(names: readonly string[]): readonly string[] {
  const keys = names.map((name) => `${name.toLowerCase()}\0${name}`);
  return keys.sort().map((key) => key.slice(key.indexOf('\0') + 1));
}
