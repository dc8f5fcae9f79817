import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { type JsonReading, readJsonAt } from '../../settings/files/json.js';
import { restraintAnywhere, restraintIn, saysNo } from './restraint.js';
import { unescaped, withoutEscapes } from './text.js';

/** An object that cannot be read counts as a verdict only beside these. `\u` may hide any of them. */
const MENTION = /"(?:decision|permissionDecision|hookSpecificOutput|continue)"|\\u/;

/**
 * Whether a text contains a verdict: behind a line of a log, between other words, in a list. The hook meant
 * it, and a refusal must not be lost because something else was printed too.
 */
export function holdsVerdict(text: string): boolean {
  const plain = withoutEscapes(text);
  return searched(text) || (plain !== text && searched(plain));
}

function searched(text: string): boolean {
  const { objects, isUnread } = objectsIn(text);
  const mayHide = MENTION.test(text);
  // fail-closed: what cannot be read, or takes too long to search, may hold a no.
  if (isUnread && mayHide) return true;
  return objects.some(({ value, hasDuplicates }) =>
    hasDuplicates ? mayHide : isVerdict(value) || holdsRestraint(value),
  );
}

/** A key of a verdict, in whatever quotes, escaped or not; a bare one where a key belongs. */
const BROKEN_KEY =
  /(?:["'`“”‘’]\s*(?:decision|continue)|[{,]\s*(?:decision|continue)|permission_?decision|hook_?specific_?output)(?:\s*\\*["'`“”‘’])?\s*[:=]/i;

/** `permissionDecision: deny` on a line of its own, as YAML has it; `decision: block` may be prose. */
const YAML_LINE = /^[ \t-]*["'`]?(permission[A-Za-z_-]{6,12})["'`]?[ \t]*[:=][ \t]*["'`]?(\w+)/gim;

/** Whether a line of a text says no in YAML or the like, where an object was to be printed. */
export function holdsPlainVerdict(text: string): boolean {
  return [...withoutEscapes(text).matchAll(YAML_LINE)].some(
    ([, key = '', word]) => restraintAnywhere({ [key]: word }) !== 'none',
  );
}

/**
 * Whether a text holds the start of an object that is no JSON (a comma too many, single quotes, a line
 * break inside a string, half of it), and a verdict's key in what is no valid object.
 */
export function holdsBrokenVerdict(text: string): boolean {
  const plain = unescaped(withoutEscapes(text));
  if (!plain.includes('{') || !BROKEN_KEY.test(plain)) return false;
  const { objects, brokenAt } = objectsIn(plain);
  if (brokenAt === undefined) return false;
  let from = brokenAt;
  const pieces: string[] = [];
  for (const { start, end } of objects) {
    if (start >= from) pieces.push(plain.slice(from, start));
    from = Math.max(from, end);
  }
  pieces.push(plain.slice(from));
  // What stood between them parts them, so that no key is made of two halves.
  return BROKEN_KEY.test(pieces.join('{}'));
}

/** Whether a text holds a verdict, or something like one. */
export function mayHoldVerdict(text: string): boolean {
  return holdsVerdict(text) || holdsBrokenVerdict(text) || holdsPlainVerdict(text) || holdsNo(text);
}

/** `"permissionDecision": "deny"`, `decision=block` or `'continue': False`, in whole, broken and foreign objects. */
const NO =
  /(?:decis\w*|behaviou?r)["'`“”\s\\]*[:=]["'`“”\s\\[]*(?:den(?:y|ied)|block|refuse|reject|forbid|declin|ask|defer)|continue["'`“”\s\\]*[:=]["'\s]*false/i;

/** Whether a text says no, although it is no answer that can be read. */
export function holdsNo(text: string): boolean {
  const plain = unescaped(withoutEscapes(text.replaceAll('\u0000', '')));
  if (NO.test(plain)) return true;
  const parsed = parseJson(plain.trim());
  return parsed.ok && saysNo(parsed.value);
}

function isVerdict(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { decision, permissionDecision, hookSpecificOutput } = value;
  return (
    value.continue === false ||
    [decision, permissionDecision, hookSpecificOutput].some(
      (one) => one !== undefined && one !== null,
    )
  );
}

/** Deeper inside, where other data has such keys too, only a word that holds back counts. */
function holdsRestraint(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsRestraint);
  if (!isRecord(value)) return false;
  return restraintIn(value) !== 'none' || Object.values(value).some(holdsRestraint);
}

/** Steps for each character of the text; only braces inside braces that never close need as many. */
const STEPS_PER_CHARACTER = 8;

interface FoundObject {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  readonly hasDuplicates: boolean;
}

interface FoundObjects {
  /** Each object that is whole and in no other. */
  readonly objects: readonly FoundObject[];
  /** The first brace that starts no object. */
  readonly brokenAt: number | undefined;
  /** The search was given up, or an object is nested too deeply to be read. */
  readonly isUnread: boolean;
}

/** The JSON objects inside a text. */
function objectsIn(text: string): FoundObjects {
  const objects: FoundObject[] = [];
  let brokenAt: number | undefined;
  let isUnread = false;
  let steps = STEPS_PER_CHARACTER * (text.length + 1000);
  for (let at = text.indexOf('{'); at !== -1; ) {
    const read: JsonReading = readJsonAt(text, at);
    const end = read.ok ? read.end : read.offset;
    steps -= end - at + 1;
    if (steps < 0) return { objects, brokenAt: brokenAt ?? at, isUnread: true };
    if (read.ok) {
      const { node, duplicates } = read;
      objects.push({ start: at, end, value: node.value, hasDuplicates: duplicates.length > 0 });
    } else {
      brokenAt ??= at;
      isUnread ||= read.isRefused;
    }
    at = text.indexOf('{', read.ok ? end : at + 1);
  }
  return { objects, brokenAt, isUnread };
}
