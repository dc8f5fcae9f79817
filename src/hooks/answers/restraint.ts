import { parseJson } from '../../lib/json.js';
import { isRecord, own } from '../../lib/own.js';
import { editDistance, nearest } from '../../lib/text/nearest.js';
import { hookEventFacts } from '../../protocol/hooks/hook-events.js';
import { type Restriction, strictest } from '../../protocol/permissions.js';
import type { Hook, HookAnswer, HookRaw, ReadAnswer } from '../registry/hook.js';
import { unescaped } from './text.js';

const WORDS: ReadonlyMap<unknown, Restriction> = new Map<unknown, Restriction>([
  ['deny', 'deny'],
  ['block', 'deny'],
  ['defer', 'defer'],
  ['ask', 'ask'],
]);

/** The strictest word in an answer, wherever people put it, understood or not. */
export function restraintIn(value: unknown): Restriction {
  if (Array.isArray(value)) return strictest(value.map(restraintIn));
  if (!isRecord(value)) return 'none';
  const specific = isRecord(value.hookSpecificOutput) ? value.hookSpecificOutput : {};
  const places = [value, specific];
  if (places.some((place) => place.continue === false)) return 'deny';
  return strictest(places.flatMap((place) => Object.entries(place)).map(restraintOf));
}

/** What a field says, under the name of a verdict or a misspelt one. */
function restraintOf([key, value]: readonly [string, unknown]): Restriction {
  const meaning = meaningOf(value);
  if (meaning === 'none' || key === 'decision' || key === 'permissionDecision') return meaning;
  return meantField(key, value) === undefined ? 'none' : meaning;
}

function meaningOf(word: unknown): Restriction {
  if (Array.isArray(word)) return strictest(word.map(meaningOf));
  if (isRecord(word)) return meaningOf(word.behavior);
  return WORDS.get(typeof word === 'string' ? word.trim().toLowerCase() : word) ?? 'none';
}

/** What an answer passes on, where such words are about something else. */
const PASSED_ON: ReadonlySet<string> = new Set([
  'updatedinput',
  'toolinput',
  'updatedtooloutput',
  'updatedmcptooloutput',
  'updatedpermissions',
  'additionalcontext',
  'content',
]);

/** The strictest word anywhere in an answer, under whatever key a guard may have meant it. */
export function restraintAnywhere(value: unknown): Restriction {
  let worst: Restriction = 'none';
  const end = walkKeys(value, (key, inner) => {
    const name = folded(key);
    if (PASSED_ON.has(name)) return 'skip';
    if (name === 'continue' && inner === false) worst = 'deny';
    const meaning = meaningOf(inner);
    if (meaning !== 'none' && (VERDICT_KEYS.has(name) || meantField(key, inner) !== undefined)) {
      worst = strictest([worst, meaning]);
    }
    return worst === 'deny' ? 'stop' : undefined;
  });
  // fail-closed: what takes too long to search may hold a no.
  return end === 'too large' ? 'deny' : worst;
}

const VERDICT_KEYS: ReadonlySet<string> = new Set(['decision', 'permissiondecision', 'behavior']);

/** Whether an answer that was read holds anything up. */
export function isRestraint({ decision, stop, fields }: HookAnswer): boolean {
  if (decision !== 'none' && decision !== 'allow') return true;
  return stop !== undefined || fields.action === 'decline' || fields.action === 'cancel';
}

/** What is left of an answer when nothing in it may open, change or add anything. */
export function restraintOnly(answer: HookAnswer): HookAnswer {
  const { decision, reason, stop, systemMessage, text, fields } = answer;
  const holds = decision !== 'none' && decision !== 'allow';
  return {
    decision: holds ? decision : 'none',
    fields: withoutGrants(Object.fromEntries(Object.entries(fields).filter(isVerdictField))),
    reason: holds ? reason : undefined,
    stop,
    systemMessage,
    text,
  };
}

function isVerdictField([name]: readonly [string, unknown]): boolean {
  return name === 'decision' || name === 'permissionDecision' || name === 'action';
}

/** Fields of a hook that says no: whatever in them says yes is gone. */
export function withoutGrants(fields: HookAnswer['fields']): HookAnswer['fields'] {
  const accepts = fields.action === 'accept';
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => {
      if (name === 'permissionDecision') return value !== 'allow';
      if (name === 'decision') return !isRecord(value) || value.behavior !== 'allow';
      return !accepts || (name !== 'action' && name !== 'content');
    }),
  );
}

/** Values of an answer that are looked at. */
const MOST_VALUES = 100_000;

/**
 * Shows every key of every object in a value, however deep, without climbing the stack. `look` says
 * `skip` for what is not to be entered and `stop` when it has seen enough. Loops end at the limit.
 */
function walkKeys(
  value: unknown,
  look: (key: string, inner: unknown) => 'skip' | 'stop' | undefined,
): 'done' | 'stopped' | 'too large' {
  const rest: object[] = typeof value === 'object' && value !== null ? [value] : [];
  for (let one = rest.pop(), left = MOST_VALUES; one !== undefined; one = rest.pop()) {
    const isList = Array.isArray(one);
    for (const [key, inner] of Object.entries(one)) {
      if (left-- === 0) return 'too large';
      const found = isList ? undefined : look(key, inner);
      if (found === 'stop') return 'stopped';
      if (found === undefined && typeof inner === 'object' && inner !== null) rest.push(inner);
    }
  }
  return 'done';
}

/** Fields by which an answer decides or changes something, and whether a value looks meant for them. */
export const DECIDING: Readonly<Record<string, (value: unknown) => boolean>> = {
  decision: isVerdictValue,
  permissionDecision: isVerdictValue,
  behavior: isVerdictValue,
  action: isVerdictValue,
  continue: (value) => value === false,
  hookSpecificOutput: isRecord,
  updatedInput: isRecord,
  updatedPrompt: (value) => typeof value === 'string',
};

/** Their nearest misspellings (one letter, other case, `_` or `-`) need no such value. */
const VERDICTS: ReadonlySet<string> = new Set(['decision', 'permissionDecision', 'behavior']);
/** Letters by which the other fields may be misspelt: their values tell less. */
const CLOSE = 2;

/** The deciding field that a key is meant to be; undefined for one that is spelt well, or unrelated. */
export function meantField(
  key: string,
  value: unknown,
  candidates: Iterable<string> = Object.keys(DECIDING),
): string | undefined {
  if (value === undefined || value === null) return undefined;
  const name = folded(key);
  const near = nearest(name, candidates);
  const isMeant = near === undefined ? undefined : own(DECIDING, near);
  if (near === undefined || near === key || isMeant === undefined) return undefined;
  const distance = editDistance(name, near.toLowerCase());
  const isClose = VERDICTS.has(near) || distance <= CLOSE;
  if (isClose && isMeant(value)) return near;
  return VERDICTS.has(near) && distance <= 1 && !Array.isArray(value) ? near : undefined;
}

const YES = 'allow allowed approve approved accept accepted permit permitted'.split(' ');
const NO =
  'block blocked decline declined deny denied forbid forbidden refuse refused reject rejected'.split(
    ' ',
  );
const VERDICT_WORDS: ReadonlySet<string> = new Set([...YES, ...NO, 'ask', 'cancel', 'defer']);

/** A refusal in a guard's own words: `"verdict": "deny"`, `"blocked": true`, `"allowed": false`. */
export function isHomemadeNo(key: string, value: unknown): boolean {
  const name = folded(key);
  return !VERDICT_KEYS.has(name) && isNo(name, value);
}

function isNo(name: string, value: unknown): boolean {
  if (typeof value === 'string') return NO.includes(value.trim().toLowerCase());
  return (value === true && NO.includes(name)) || (value === false && YES.includes(name));
}

/** Whether an object says no in any words, in a place where it counts or not. */
export function saysNo(value: unknown): boolean {
  if (restraintAnywhere(value) !== 'none') return true;
  if (!isRecord(value)) return false;
  const { hookSpecificOutput: specific, ok } = value;
  const fields = [value, isRecord(specific) ? specific : {}].flatMap(Object.entries);
  return ok === false || fields.some(([key, one]) => isNo(folded(key), one));
}

function isVerdictValue(value: unknown): boolean {
  if (typeof value === 'string') return VERDICT_WORDS.has(value.trim().toLowerCase());
  return typeof value === 'boolean' || (isRecord(value) && Object.hasOwn(value, 'behavior'));
}

function folded(key: string): string {
  return key.trim().toLowerCase().replaceAll(/[_-]/g, '');
}

const NAME = 'updated_?(?:mcp_?)?tool_?output';
const KEY = new RegExp(`^\\s*${NAME}\\s*$`, 'i');
const MENTION = new RegExp(NAME, 'i');

/** Whether the hooks of an event may put another output in the place of a tool's. */
export function mayRedact({ event }: Pick<Hook, 'event'>): boolean {
  return hookEventFacts(event).replacesOutput === true;
}

/** A reading, and whether the hook wanted an output hidden without having its way. */
export function withRedaction(raw: HookRaw, reading: ReadAnswer): ReadAnswer {
  if (reading.failure === undefined && replaces(reading.answer)) return reading;
  // fail-closed: the mistake is in how it was said, not in that it was meant.
  return isMeant(raw) ? { ...reading, redacts: true } : reading;
}

/** Whether an answer holds a replacement that counts. */
export function replaces({ fields }: HookAnswer): boolean {
  return fields.updatedToolOutput !== undefined || fields.updatedMCPToolOutput !== undefined;
}

function isMeant(raw: HookRaw): boolean {
  switch (raw.kind) {
    case 'process':
      return textWantsReplacement(raw.stdout);
    case 'text':
      return textWantsReplacement(raw.text);
    case 'failed':
      return textWantsReplacement(raw.printed ?? '');
    case 'value':
      return wantsReplacement(raw.value);
    case 'verdict':
      return false;
  }
}

/** Whole JSON is looked at key by key; in anything else the name alone is enough. */
function textWantsReplacement(text: string): boolean {
  // UTF-16 looks like this when it is read as UTF-8.
  const plain = text.replaceAll('\u0000', '');
  if (!MENTION.test(unescaped(plain))) return false;
  const parsed = parseJson(plain.trim());
  return !parsed.ok || !isRecord(parsed.value) || wantsReplacement(parsed.value);
}

/** Whether a key anywhere in a value names a replacement. Null is a value, and a wrong one. */
export function wantsReplacement(value: unknown): boolean {
  const found = walkKeys(value, (key, inner) =>
    KEY.test(key) && inner !== undefined ? 'stop' : undefined,
  );
  // fail-closed: what takes too long to search may hold one.
  return found !== 'done';
}
