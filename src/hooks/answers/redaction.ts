import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { hookEventFacts } from '../../protocol/hook-events.js';
import type { Hook, HookAnswer, HookRaw } from '../registry/hook.js';
import type { ReadAnswer } from './report-step.js';
import { walkKeys } from './restraint.js';
import { unescaped } from './text.js';

const NAME = 'updated_?(?:mcp_?)?tool_?output';
const KEY = new RegExp(`^\\s*${NAME}\\s*$`, 'i');
const MENTION = new RegExp(NAME, 'i');

/** Whether the hooks of an event may put another output in the place of a tool's. */
export function mayRedact({ event }: Pick<Hook, 'event'>): boolean {
  return hookEventFacts(event).replacesOutput === true;
}

/** A reading, and whether the hook wanted an output hidden without having its way. */
export function withRedaction(hook: Hook, raw: HookRaw, reading: ReadAnswer): ReadAnswer {
  if (!mayRedact(hook) || (reading.failure === undefined && replaces(reading.answer))) {
    return reading;
  }
  // fail-closed: the mistake is in how it was said, not in that it was meant.
  return isMeant(raw) ? { ...reading, redacts: true } : reading;
}

/** Whether an answer holds a replacement that counts. */
export function replaces({ fields, asyncMs }: HookAnswer): boolean {
  if (asyncMs !== undefined) return false;
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
