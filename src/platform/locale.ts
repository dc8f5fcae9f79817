/** Variables that decide how a shell takes bytes for characters, and which names a range like `[a-z]` fits. */
const LOCALE = /^(LC_ALL|LC_CTYPE|LC_COLLATE|LANG|LOCPATH)$/;

export function isLocaleVariable(name: string): boolean {
  return LOCALE.test(name);
}

/** Locales in which a shell reads a text as it was judged. An empty value leaves it to the other variables. */
export function isPlainLocale(name: string, value: string): boolean {
  // Names of files by which any locale may mean something else.
  if (name === 'LOCPATH') return false;
  return /^(|C|POSIX|([\w@]+\.)?utf-?8(@\w+)?)$/i.test(value);
}

const ONE_BYTE =
  /^([a-z]{2,3}_[A-Z]{2}(@\w+)?|[\w@]+\.(iso-?8859-?\d+|koi8-?[rtu]|(cp|windows-?)125\d|us-?ascii)(@\w+)?)$/i;
/** Without a character set these have one in which a backslash may be half a character. */
const SEVERAL_BYTES = /^(zh|ja|ko)_[A-Z]{2}(@\w+)?$/i;

/**
 * Whether a shell may be started in this locale: bytes of ASCII mean themselves in it. In GBK, Big5 or
 * Shift-JIS the second byte of a character may be a backslash or a backquote.
 */
export function isSafeLocale(name: string, value: string): boolean {
  if (name === 'LOCPATH') return true;
  return isPlainLocale(name, value) || (ONE_BYTE.test(value) && !SEVERAL_BYTES.test(value));
}
