/** One known form of a secret. Every repetition is bounded, so that no text takes longer than its length. */
export interface SecretShape {
  readonly shape: RegExp;
  /** What takes its place; `$1` and so on are kept. */
  readonly with: string;
  /** Decides by the second group whether the match is a secret. */
  readonly accept?: (value: string) => boolean;
}

export const GONE = '[redacted]';

/**
 * Not in the middle of a longer word. What is written as an escape (`\n`, `%3D`) or a colour stands
 * between words all the same, though it ends with a letter.
 */
const ALONE =
  '(?:(?<![A-Za-z0-9_-])|(?<=\\\\[bfnrtv])|(?<=\\\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2})|(?<=\\[[0-9;]{0,12}m))';
/** Nor of an encoded image: for shapes of letters and digits alone. */
const ALONE_IN_IMAGES = `(?<![+/])${ALONE}`;
const END = '(?![A-Za-z0-9_])';

/** By which names in code and settings say that their value is one. */
const NAMES =
  '(?:passw(?:or)?d|passphrase|secret|token|(?:api|access|private|account|auth|signing|encryption|_)[_-]?key)';

/** Small and capital letters and digits in no order. Names of functions have them in words. */
function looksRandom(value: string): boolean {
  if (/^[a-f0-9]{32,}$/i.test(value)) return true;
  // One word in which letters and digits take turns: no name and no number does.
  if (/^[a-z0-9]{20,}$/.test(value) && (value.match(/[a-z](?=\d)/g) ?? []).length >= 4) return true;
  if (!/\d/.test(value) || !/[A-Z]/.test(value)) return false;
  const small = value.match(/[a-z]+/g) ?? [];
  const length = small.reduce((sum, run) => sum + run.length, 0);
  return small.length > 0 && length / small.length < 3;
}

/** What prose and program text do not have behind `bearer` and `basic`: no word, no name of a file. */
function looksOpaque(value: string): boolean {
  if (/^[a-f0-9]{24,}$/i.test(value)) return true;
  return (value.match(/[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z])/g) ?? []).length >= 4;
}

/** `YOUR_TOKEN` and `your-token-here` are placeholders. */
function isNoPlaceholder(value: string): boolean {
  return !/^(?:[A-Z]+(?:[_-][A-Z]+)*|[a-z]+(?:[._-][a-z]+)*)$/.test(value);
}

function shape(source: string, replacement = GONE, flags = 'g'): SecretShape {
  return { shape: new RegExp(source, flags), with: replacement };
}

/** Forms that are secrets in any text. */
export const sureShapes: readonly SecretShape[] = [
  // Without its end when the text was cut.
  shape(
    '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[\\s\\S]){0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?',
  ),
  // Names of styles have small letters alone.
  shape(
    `${ALONE}sk-(?:(?:ant|proj|or|svcacct|admin)-[A-Za-z0-9_-]{8,400}|(?![a-z_-]{1,400}(?![A-Za-z0-9_-]))[A-Za-z0-9_-]{12,400})`,
  ),
  shape(`${ALONE}[sr]k_(?:live|test)_[A-Za-z0-9]{8,200}`),
  // The key that belongs to an id often follows it.
  shape(
    `${ALONE}(?:AKIA|ASIA)[A-Z0-9]{12,20}${END}(?:([^A-Za-z0-9+/]{1,8}(?:[A-Za-z_]{0,24}secret[A-Za-z_]{0,24}[^A-Za-z0-9+/]{1,6})?)(?![a-f0-9]{40})[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=]))?`,
  ),
  shape(`${ALONE}(?:gh[pousr]_[A-Za-z0-9]{16,255}|github_pat_\\w{16,255}|glpat-[\\w-]{16,255})`),
  shape(`${ALONE}(?:xox[abeprs]-[\\w-]{8,255}|xapp-[\\w-]{16,255})`),
  shape(`${ALONE}(?:npm_[A-Za-z0-9]{30,255}|pypi-[\\w-]{40,255}|dop_v1_[a-f0-9]{40,80})`),
  shape(`${ALONE_IN_IMAGES}AIza[\\w-]{30,60}`),
  shape(`${ALONE}(?:ya29\\.[\\w-]{20,400}|AGE-SECRET-KEY-1[A-Z0-9]{50,70})`),
  shape(
    '(\\bhooks\\.slack\\.com/services/)[A-Z0-9]{6,16}/[A-Z0-9]{6,16}/[A-Za-z0-9]{16,40}',
    `$1${GONE}`,
  ),
  shape(`${ALONE}(?:hf_[A-Za-z0-9]{30,80}|SG\\.[\\w-]{16,40}\\.[\\w-]{30,60})`),
  shape(`${ALONE}eyJ[\\w-]{8,4000}\\.[\\w-]{8,8000}\\.[\\w-]{0,1000}`),
  {
    ...shape(
      `(\\bauthorization\\\\?["']?\\s{0,4}[:=]\\s{0,4}\\\\?["']?(?:bearer|basic|token)(?:\\s{1,4}|%20))([A-Za-z0-9._~+/=-]{8,2000})`,
      GONE,
      'gi',
    ),
    accept: isNoPlaceholder,
  },
  {
    ...shape('(\\b(?:bearer|basic)(?:\\s{1,4}|%20))([A-Za-z0-9._~+/=-]{16,2000})', GONE, 'gi'),
    accept: looksOpaque,
  },
  // Up to the last `@`: many people do not write `%40`. Placeholders are no passwords.
  shape(
    `(\\b[a-z][a-z0-9+.-]{0,20}:\\/\\/[^\\s:/@"'\\\\]{0,100}):(?!\\$\\{|\\$\\(|\\$[A-Z_]|<|\\{|%s|\\*{3}|pass(?:word|wd)?@|pwd@|\\d{1,5}[,?#])[^\\s/"'\\\\]{1,200}@`,
    `$1:${GONE}@`,
    'gi',
  ),
  // A name that says so, and a value that no person and no program text would have.
  {
    ...shape(
      `(${NAMES}[\\w-]{0,20}\\\\?["']?\\s{0,4}[:=]\\s{0,4}\\\\?["']?)([A-Za-z0-9+/_~-]{20,500}={0,2})`,
      `$1${GONE}`,
      'gi',
    ),
    accept: looksRandom,
  },
];

/** Forms that code contains as well: for logs, never for transcripts. */
export const likelyShapes: readonly SecretShape[] = [
  shape('\\b(bearer|basic)(\\s{1,4}|%20)[A-Za-z0-9._~+/=-]{8,2000}', `$1$2${GONE}`, 'gi'),
  shape(
    '\\b([A-Z0-9_-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key)(?:["\']?\\s{0,8}[:=]\\s{0,8}["\']?))([^\\s"\'&;|$]{4,1000})',
    `$1${GONE}`,
    'gi',
  ),
  shape(
    '(--(?:password|token|secret|api-key)\\s{1,8})(["\']?)[^\\s"\'$]{4,1000}\\2',
    `$1${GONE}`,
    'gi',
  ),
];

/**
 * Two looks that most texts pass: none of the sure shapes can be in them. They are also given JSON, where what
 * is a blank in a text may be an escape.
 */
export const SURE_HINTS: readonly RegExp[] = [
  // By first letter: each that a text has is a look less at the others.
  /s(?:k-[A-Za-z0-9_-]{12}|k_(?:live|test)_)|rk_(?:live|test)_|A(?:KIA[A-Z0-9]{12}|SIA[A-Z0-9]{12}|Iza[\w-]{30}|GE-SECRET)|g(?:h[pousr]_[A-Za-z0-9]{16}|ithub_pat_|lpat-)|x(?:ox[abeprs]-|app-)|npm_[A-Za-z0-9]{30}|pypi-|dop_v1_|ya29\.|h(?:ooks\.slack|f_[A-Za-z0-9]{30})|SG\.[\w-]{16}|eyJ[\w-]{8}|PRIVATE KEY/,
  /(?:bearer|basic|token)(?:\s|%20|\\[fnrt]|\\u000b)|:\/\/[^\s/:@]{0,100}:[^\s/]{1,200}@|(?:passw|passphrase|secret|token|key)[\w-]{0,22}\\{0,7}["']?(?:\s|\\[fnrt]|\\u000b){0,4}[:=](?:\s|\\[fnrt]|\\u000b){0,4}\\{0,7}["']?[A-Za-z0-9+/_~-]{20}/i,
];

/** The same for the likely ones. */
export const LIKELY_HINTS: readonly RegExp[] = [
  /bearer|basic(?:\s|%20)|passw|passphrase|secret|token|api[_-]?key/i,
];
