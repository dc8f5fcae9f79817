import {
  GONE,
  LIKELY_HINTS,
  likelyShapes,
  type SecretShape,
  SURE_HINTS,
  sureShapes,
} from './secret-shapes.js';

/**
 * Takes known shapes of secrets out of text on its way to logs, receipts and the journal. A net, not
 * a proof: what has no known shape stays.
 */
export function redact(text: string): string {
  return through(redactSure(text), LIKELY_HINTS, likelyShapes);
}

/**
 * The same for transcripts, which sessions resume: removes only certain secrets. Program
 * text that speaks of passwords and tokens stays as it is.
 */
export function redactSure(text: string): string {
  const clean = through(withoutLearned(text), SURE_HINTS, sureShapes);
  return clean.includes('PRIVATE KEY') ? withoutKeyTails(clean) : clean;
}

/** Every string in a value of JSON, at any depth, and every key that is a secret itself. */
export function redactDeep(value: unknown): unknown {
  return deep(value, redact, (key) => SECRET_KEY.test(key));
}

/**
 * Every string that is surely a secret or holds one. The value itself when there is none. Encoded
 * images stay, and a thought that had to be changed loses its signature, which was for other words.
 */
export function redactSureDeep(value: unknown): unknown {
  return deep(value, redactSure, () => false, true);
}

/**
 * Adds the values of our own keys and passwords, which need not look like secrets. This process redacts
 * them everywhere from now on.
 */
export function learnSecrets(values: readonly string[]): void {
  const before = known.size;
  for (const value of values) {
    if (!isTelling(value)) continue;
    let written = value;
    for (let level = 0; level <= MOST_ESCAPED; level++) {
      known.add(written);
      written = JSON.stringify(written).slice(1, -1);
    }
    const encoded = encodeURIComponent(value);
    if (encoded !== value) known.add(encoded);
    for (const core of encodedCores(value)) known.add(core);
  }
  if (known.size === before) return;
  // Longest first: one may be the beginning of another.
  const words = [...known].sort((a, b) => b.length - a.length).map(escapeForPattern);
  learned = new RegExp(words.join('|'), 'g');
}

/** What is the same of a value in every longer text that is base64: for each of three places to start at. */
function encodedCores(value: string): readonly string[] {
  if (!/^[\x20-\x7e]{16,4096}$/.test(value)) return [];
  return [0, 1, 2].map((before) => {
    const encoded = btoa(`${'\0'.repeat(before)}${value}`).replace(/=+$/, '');
    const mixed = (before + value.length) % 3 === 0 ? 0 : 1;
    return encoded.slice(before === 0 ? 0 : before + 1, encoded.length - mixed);
  });
}

/** Shorter values occur in ordinary text by chance. */
const SHORTEST = 10;
/** How often what holds a value may be text in JSON: a file of JSON in an output, in a line of a transcript. */
const MOST_ESCAPED = 3;
const known = new Set<string>();
let learned: RegExp | undefined;

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Paths, plain words and numbers are no secrets in any variable. */
function isTelling(value: string): boolean {
  if (value.length < SHORTEST || value.includes(GONE) || GONE.includes(value)) return false;
  return !/^([/~.][\w./@ -]*|[a-z]+|[A-Z]+|\d+|[\w.-]+:\d+|https?:\/\/[^\s@]*)$/.test(value);
}

function withoutLearned(text: string): string {
  return learned === undefined ? text : text.replace(learned, GONE);
}

function through(text: string, hints: readonly RegExp[], shapes: readonly SecretShape[]): string {
  // Most texts match no hint. All replacements take 1.3 ms for a kilobyte, the hints 0.01 ms.
  if (!hints.some((hint) => hint.test(text))) return text;
  let clean = text;
  for (const { shape, with: replacement, accept } of shapes) {
    clean =
      accept === undefined
        ? clean.replace(shape, replacement)
        : clean.replace(shape, (whole, name: string, value: string) =>
            accept(value) ? `${name}${GONE}` : whole,
          );
  }
  return clean;
}

/** Names of fields whose whole value is a secret. */
const SECRET_KEY =
  /^(passw(or)?d|passphrase|secret|token|api[_-]?key|(access|auth|refresh)[_-]?token|client[_-]?secret|private[_-]?key|authorization)$/i;

function deep(
  value: unknown,
  clean: (text: string) => string,
  isSecretKey: (key: string) => boolean,
  keepsBlocks = false,
): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list = value.map((one) => deep(one, clean, isSecretKey, keepsBlocks));
    return list.some((one, index) => one !== value[index]) ? list : value;
  }
  // An encoded image or document is not a text.
  const isEncoded = keepsBlocks && 'type' in value && value.type === 'base64';
  const cleanMember = (key: string, inner: unknown): unknown =>
    typeof inner === 'string' && isSecretKey(key)
      ? GONE
      : deep(inner, clean, isSecretKey, keepsBlocks);
  const copy: Record<string, unknown> = Object.create(null);
  let isChanged = false;
  for (const [key, inner] of Object.entries(value)) {
    const one = isEncoded && key === 'data' ? inner : cleanMember(key, inner);
    const name = clean(key);
    isChanged ||= one !== inner || name !== key;
    copy[name] = one;
  }
  if (!isChanged) return value;
  if (keepsBlocks && copy.type === 'thinking') delete copy.signature;
  return copy;
}

const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** The number that a listing puts before a line. */
const NUMBER = '\\s{0,12}(?:\\d{1,7}[\\t→|:]\\s{0,4})?';
const LAST_LINE = new RegExp(`${NUMBER}[A-Za-z0-9+/]{1,128}={0,2}\\s{0,2}$`);
/** A word of prose is shorter. */
const KEY_LINE = new RegExp(`${NUMBER}[A-Za-z0-9+/]{32,128}={0,2}\\s{0,2}$`);
const NUMBER_AT_END = new RegExp(`${NUMBER}$`);
const MOST_LINES = 400;
/** Longer ones are no lines of a key. */
const LONGEST = 160;
/** Between two lines: of text, or of text inside a string. */
const BETWEEN = ['\n', '\\n'];

/** Takes out the end of a private key whose beginning was cut off, as `tail` and a limit of lines do. */
export function withoutKeyTails(text: string): string {
  let clean = '';
  let done = 0;
  for (const { index, 0: end } of text.matchAll(KEY_END)) {
    const from = tailStart(text, done, index);
    if (from === undefined) continue;
    clean += `${text.slice(done, from)}${GONE}`;
    done = index + end.length;
  }
  return done === 0 ? text : clean + text.slice(done);
}

/** Where the lines of the key before `end` begin, not before `floor`; undefined when there is none. */
function tailStart(text: string, floor: number, end: number): number | undefined {
  let start = end - numberLength(text, floor, end);
  let found: number | undefined;
  for (let lines = 0; lines < MOST_LINES && start > floor; lines++) {
    const between = BETWEEN.find((one) => text.endsWith(one, start));
    if (between === undefined) break;
    const lineEnd = start - between.length;
    const lineStart = startOfLine(text, floor, lineEnd);
    const line = (lines === 0 ? LAST_LINE : KEY_LINE).exec(text.slice(lineStart, lineEnd));
    if (line === null) break;
    found = lineStart + line.index;
    // Other text precedes it in its line: the key begins here.
    if (line.index > 0) break;
    start = lineStart;
  }
  return found;
}

function numberLength(text: string, floor: number, end: number): number {
  const line = text.slice(startOfLine(text, floor, end), end);
  return NUMBER_AT_END.exec(line)?.[0].length ?? 0;
}

/** Or a place in the line from which on all of a key's line fits. */
function startOfLine(text: string, floor: number, end: number): number {
  const near = Math.max(floor, end - LONGEST);
  const part = text.slice(near, end);
  const ends = BETWEEN.map((one) => part.lastIndexOf(one) + one.length);
  const [behindLine = 0, behindEscape = 0] = ends;
  return (
    near + Math.max(part.includes('\n') ? behindLine : 0, part.includes('\\n') ? behindEscape : 0)
  );
}
