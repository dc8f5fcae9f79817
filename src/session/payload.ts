import { PortcullisError } from '../errors.js';
import type { MetaLine, TranscriptEntry } from '../protocol/transcript.js';
import { isRecord } from '../util/own.js';
import { maySurelyHold, redactSureDeep } from '../util/redact.js';
import { LinkedEntry, plainLine } from './linked-entry.js';
import type { NewLine } from './store.js';

/** Structured tool output up to this many characters of JSON stands in the transcript itself. */
export const MAX_INLINE_PAYLOAD = 256 * 1024;

/** Stands in the transcript for a tool's structured output that was too long for it. */
export interface PayloadRef {
  /** Relative to the session's directory. */
  readonly $ref: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * The line as compact JSON, without what is surely a secret. Where the structured output is too long it is handed to `spill`, which
 * stores it and returns the reference, or undefined when that failed: then it stays in the line.
 */
export function serialiseLine(
  line: NewLine,
  spill: (json: string) => PayloadRef | undefined,
): string {
  if (!(line instanceof LinkedEntry)) return serialiseWhole(line, spill);
  const json = line.cleanJson();
  if (json !== undefined && json.length <= MAX_INLINE_PAYLOAD) return json;
  return serialiseWhole(line.whole(), spill);
}

/** The line as an object, without what is surely a secret. */
export function cleanLine(line: NewLine): TranscriptEntry | MetaLine {
  const whole = plainLine(line);
  const json = toJson(whole);
  if (json !== undefined && !maySurelyHold(json)) return whole;
  return redactSureDeep(json === undefined ? representable(whole) : whole) as typeof whole;
}

function serialiseWhole(
  line: TranscriptEntry | MetaLine,
  spill: (json: string) => PayloadRef | undefined,
): string {
  const json = toJson(line);
  if (json !== undefined && !maySurelyHold(json)) return placed(line, json, spill);
  const clean = redactSureDeep(json === undefined ? representable(line) : line) as typeof line;
  return placed(clean, clean === line ? json : toJson(clean), spill);
}

/** Without an output that is not JSON: whoever looks for secrets in a cycle comes to no end. */
function representable(line: TranscriptEntry | MetaLine): object {
  const rest = { ...line, toolUseResult: UNREPRESENTABLE };
  requireJson(rest);
  const isPayloadJson = line.type === 'user' && toJson(line.toolUseResult) !== undefined;
  return isPayloadJson ? line : rest;
}

function placed(
  line: TranscriptEntry | MetaLine,
  whole: string | undefined,
  spill: (json: string) => PayloadRef | undefined,
): string {
  const payload = line.type === 'user' ? line.toolUseResult : undefined;
  if (whole !== undefined && (payload === undefined || whole.length <= MAX_INLINE_PAYLOAD)) {
    return whole;
  }
  const json = toJson(payload);
  if (json === undefined) return requireJson({ ...line, toolUseResult: UNREPRESENTABLE });
  const ref = json.length <= MAX_INLINE_PAYLOAD ? undefined : spill(json);
  return ref === undefined ? requireJson(line) : requireJson({ ...line, toolUseResult: ref });
}

export function payloadFile(sha256: string): string {
  return `${PAYLOAD_DIRECTORY}/${sha256}.json`;
}

export const PAYLOAD_DIRECTORY = 'tool-results';

/** The reference, if that is what stands there; what a tool made up to look like one is not. */
export function asPayloadRef(value: unknown): PayloadRef | undefined {
  if (!isRecord(value) || typeof value.$ref !== 'string') return undefined;
  const { $ref, bytes, sha256 } = value;
  if (typeof bytes !== 'number' || typeof sha256 !== 'string') return undefined;
  // fail-closed: only a name that we would have written ourselves is ever opened.
  if (!/^[0-9a-f]{64}$/.test(sha256) || $ref !== payloadFile(sha256)) return undefined;
  return { $ref, bytes, sha256 };
}

export function payloadLost(path: string, reason: string): PortcullisError {
  return new PortcullisError('session', `the stored tool output ${path} ${reason}`, {
    remedy: 'The conversation itself is whole; only this raw output cannot be shown.',
  });
}

const UNREPRESENTABLE = { unrepresentable: 'the output of the tool is not JSON' };

function requireJson(line: object): string {
  const json = toJson(line);
  if (json !== undefined) return json;
  throw new PortcullisError('internal', 'a transcript entry holds something that is not JSON');
}

/** Undefined for what JSON cannot hold: cycles, big integers, more than a string can hold. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // The caller stores the line without the part that caused it.
    return undefined;
  }
}
