/**
 * Quotes one word of a command that a person may paste into a shell, so that the shell takes it literally. Only single quotes do that; in double quotes `$(…)` and backquotes still run.
 */
export function shellWord(word: string): string {
  return /^[\w.:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
