/** Whether a character is of a named class, as `[[:alpha:]]` means it: those of ASCII alone, as in git. */
export type CharacterClass = (char: string) => boolean;

const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /^[0-9A-Za-z]$/],
  ['alpha', /^[A-Za-z]$/],
  ['blank', /^[ \t]$/],
  ['cntrl', /^[\x00-\x1f\x7f]$/],
  ['digit', /^[0-9]$/],
  ['graph', /^[\x21-\x7e]$/],
  ['lower', /^[a-z]$/],
  ['print', /^[\x20-\x7e]$/],
  ['punct', /^[!-/:-@[-`{-~]$/],
  ['space', /^[\t-\r ]$/],
  ['upper', /^[A-Z]$/],
  ['xdigit', /^[0-9A-Fa-f]$/],
]);

/** Whether the class is only half of the letters, which names that were made small do not tell apart. */
export function isOfOneCase(name: string): boolean {
  return name === 'lower' || name === 'upper';
}

/** Undefined: there is no class of that name. */
export function characterClass(
  name: string,
  { ignoreCase = false }: { readonly ignoreCase?: boolean } = {},
): CharacterClass | undefined {
  const pattern = CLASSES.get(ignoreCase && isOfOneCase(name) ? 'alpha' : name);
  return pattern === undefined ? undefined : (char) => pattern.test(char);
}
