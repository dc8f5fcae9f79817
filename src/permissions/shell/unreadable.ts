export const LONGEST_COMMAND = 64 * 1024;

/** Why a text is not even looked at as shell code; undefined when it may be. */
export function unreadable(code: string): string | undefined {
  if (code.length > LONGEST_COMMAND) return `it is longer than ${LONGEST_COMMAND} characters`;
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(code)) return 'it holds control characters';
  // People who are asked would see something else than what runs.
  if (/[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/.test(code)) {
    return 'it holds invisible or direction-changing characters';
  }
  // Half a character becomes another one on its way to the shell.
  if (/\p{Surrogate}/u.test(code)) return 'it holds half a character';
  return undefined;
}
