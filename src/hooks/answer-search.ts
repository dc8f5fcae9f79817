import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import { restraintIn } from './answer-restraint.js';
import { scanObject } from './answer-scan.js';

/** Most texts hold none of these, and need no search. `\u` may hide any of them. */
const MENTION = /"(?:decision|permissionDecision|hookSpecificOutput|continue)"|\\u/;

/** Steps for each character of the text; only braces inside braces that never close need as many. */
const STEPS_PER_CHARACTER = 8;

/**
 * Whether a verdict stands somewhere inside a text: behind a line of a log, between other words, in a
 * list. Whoever printed it meant it, and a no must not be lost because something else was printed too.
 */
export function holdsVerdict(text: string): boolean {
  if (!MENTION.test(text)) return false;
  let steps = STEPS_PER_CHARACTER * (text.length + 1000);
  for (let at = text.indexOf('{'); at !== -1; ) {
    const { whole, end } = scanObject(text, at);
    steps -= end - at;
    // fail-closed: what takes too long to search may hold a no.
    if (steps < 0) return true;
    if (whole) {
      const parsed = parseJson(text.slice(at, end));
      // fail-closed: a well-formed object that is refused for its depth or keys may hold a no.
      if (!parsed.ok || isVerdict(parsed.value) || holdsRestraint(parsed.value)) return true;
    }
    at = text.indexOf('{', whole ? end : at + 1);
  }
  return false;
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
