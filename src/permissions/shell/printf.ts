/** Whether a format of printf stores a number in the variable that an argument names: `%n`, in bash. */
export function assignsByFormat(format: string): boolean {
  return /%[-+ #0'*\d.$hlLjzt]*n/.test(format.replaceAll('%%', ''));
}
