/** Whether the name of a variable, in capitals, holds a word that says that its value is a secret. */
export function hasSecretWord(name: string): boolean {
  if (name.endsWith('TOKEN') || ANYWHERE.some((part) => name.includes(part))) return true;
  const words = name.split('_');
  const last = words.pop() ?? '';
  if (LAST.has(last) || words.some((word) => BEFORE_OTHERS.has(word))) return true;
  const before = words.at(-1) ?? '';
  return LAST_TWO.has(`${before}_${last}`) || isKeyOf(before, last);
}

/** As a part of a longer word too. */
const ANYWHERE: readonly string[] = [
  ...['SECRET', 'PASSWORD', 'PASSWD', 'PASSPHRASE', 'PASSCODE', 'JWT', 'WEBHOOK'],
  ...['API_KEY', 'APIKEY', 'ACCESS_KEY', 'ACCESSKEY', 'PRIVATE_KEY', 'PRIVATEKEY'],
  ...['AUTH_CONFIG', 'AUTHCONFIG', 'AUTH_TOKEN', 'AUTHTOKEN'],
  ...['CONNECTION_STRING', 'CONNECTIONSTRING'],
];

/** Whole words at the end; elsewhere they speak of something else, as in `KEY_REPEAT`. */
const LAST: ReadonlySet<string> = new Set([
  ...['TOKENS', 'PASS', 'PW', 'PWD', 'PAT', 'AUTH', 'AUTHORIZATION', 'KEY', 'KEYS'],
  ...['CREDENTIAL', 'CREDENTIALS', 'CRED', 'CREDS', 'DSN', 'COOKIE', 'COOKIES'],
  ...['MNEMONIC', 'SEEDPHRASE'],
]);
const LAST_TWO: ReadonlySet<string> = new Set(['AUTH_HEADER', 'SEED_PHRASE']);

/** Whole words that others follow. */
const BEFORE_OTHERS: ReadonlySet<string> = new Set(['TOKEN', 'CREDENTIAL', 'CREDENTIALS']);

/** A key by its number or its form: `KEY_2`, `KEYV2`, `KEY_PEM`. */
function isKeyOf(before: string, last: string): boolean {
  if (last.startsWith('KEY')) return isKindOfKey(last.slice('KEY'.length));
  return before === 'KEY' && isKindOfKey(last);
}

function isKindOfKey(word: string): boolean {
  return KEY_FORMS.has(word) || /^V?\d+$/.test(word);
}

const KEY_FORMS: ReadonlySet<string> = new Set(['B64', 'BASE64', 'PEM', 'DATA']);
