import { COMMON_HOOK_OUTPUT, HOOK_OUTPUTS } from '../../../build/generated/hook-events.js';
import { editDistance, nearest } from '../../lib/nearest.js';
import { isRecord, own as ownValue } from '../../lib/own.js';
import type { HookEventName } from '../../protocol/hook-events.js';
import { checkValue, DETACHED_FILE } from '../../settings/schema/type-check.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What is wrong with a hook's output, or undefined. Fields that nobody knows are fine; `null` is how
 * some languages write "absent".
 */
export function outputProblem(event: HookEventName, output: Fields): string | undefined {
  const { top, own } = HOOK_OUTPUTS[event];
  const keys = { ...COMMON_HOOK_OUTPUT, ...top, hookSpecificOutput: own };
  const context = { file: DETACHED_FILE, path: [], restricts: true };
  const [problem] = checkValue({ type: 'object', keys, open: true }, present(output), context);
  return problem?.message.replace(/^`([^`]*)`/, '$1').replace(/\.$/, '');
}

/** A value without the fields of its objects that are null. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null);
  return Object.fromEntries(fields.map(([name, inner]) => [name, present(inner)]));
}

/** The fields of `hookSpecificOutput` that the event knows, without those that are absent. */
export function ownFields(event: HookEventName, specific: Fields): Fields {
  const known = Object.keys(HOOK_OUTPUTS[event].own.keys);
  return Object.fromEntries(
    known
      .map((name) => [name, specific[name]] as const)
      .filter(([, value]) => value !== undefined && value !== null),
  );
}

/** Fields by which an answer decides or changes something, and whether a value looks meant for them. */
const DECIDING: Readonly<Record<string, (value: unknown) => boolean>> = {
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

/**
 * A field of an answer that is a misspelt verdict, in words. Only fields of the answer itself and of
 * `hookSpecificOutput` are compared, and only with fields that the event knows.
 */
export function misspeltVerdict(event: HookEventName, output: Fields): string | undefined {
  const { top, own } = HOOK_OUTPUTS[event];
  const common = { ...COMMON_HOOK_OUTPUT, ...top, hookSpecificOutput: 'object' };
  const specific = isRecord(output.hookSpecificOutput) ? output.hookSpecificOutput : {};
  const everywhere = [...Object.keys(common), ...Object.keys(own.keys)];
  return (
    misspeltIn(output, { known: common, candidates: everywhere, prefix: '' }) ??
    misspeltIn(specific, {
      known: { ...own.keys, hookEventName: 'text' },
      candidates: everywhere,
      prefix: 'hookSpecificOutput.',
    })
  );
}

/** The deciding field that a key is meant to be; undefined for one that is spelt well, or unrelated. */
export function meantField(
  key: string,
  value: unknown,
  candidates: Iterable<string> = Object.keys(DECIDING),
): string | undefined {
  if (value === undefined || value === null) return undefined;
  const name = folded(key);
  const near = nearest(name, candidates);
  const isMeant = near === undefined ? undefined : ownValue(DECIDING, near);
  if (near === undefined || near === key || isMeant === undefined) return undefined;
  const distance = editDistance(name, near.toLowerCase());
  const isClose = VERDICTS.has(near) || distance <= CLOSE;
  if (isClose && isMeant(value)) return near;
  return VERDICTS.has(near) && distance <= 1 && !Array.isArray(value) ? near : undefined;
}

interface Place {
  readonly known: Fields;
  readonly candidates: readonly string[];
  readonly prefix: string;
}

function misspeltIn(output: Fields, { known, candidates, prefix }: Place): string | undefined {
  for (const [key, value] of Object.entries(output)) {
    // What is spelt as a field of this or another place is judged by its place.
    if (Object.hasOwn(known, key) || Object.hasOwn(DECIDING, key)) continue;
    const meant = meantField(key, value, candidates);
    if (meant !== undefined) return `\`${prefix}${key}\` is not a field; did you mean ${meant}?`;
  }
  return undefined;
}

const VERDICT_WORDS: ReadonlySet<string> = new Set(
  'allow allowed approve approved accept ask block blocked cancel decline defer deny denied refuse refused reject rejected'.split(
    ' ',
  ),
);

function isVerdictValue(value: unknown): boolean {
  if (typeof value === 'string') return VERDICT_WORDS.has(value.trim().toLowerCase());
  return typeof value === 'boolean' || (isRecord(value) && Object.hasOwn(value, 'behavior'));
}

function folded(key: string): string {
  return key.trim().toLowerCase().replaceAll(/[_-]/g, '');
}
