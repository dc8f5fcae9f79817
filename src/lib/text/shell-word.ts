/**
 * One word of a command that a person may paste into a shell: whatever stands in it, the shell takes it
 * as it is. Only single quotes do that; in double quotes `$(…)` and backquotes still run.
 */
export function shellWord(word: string): string {
  return /^[\w.:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
