import type { SDKMessage, WireFrame } from '../../build/generated/sdk-types.js';
import { sliceWhole } from '../lib/text/truncate.js';

/** The messages that leave over standard output, as the official clients know them. */
export interface Frame {
  readonly type: WireFrame['type'];
  readonly [key: string]: unknown;
}

type SystemMessage = Extract<SDKMessage, { type: 'system' }>;

/** The subtype of a system message, and its fields beside those that all of them have. */
export type SystemArgs = {
  [Subtype in SystemMessage['subtype']]: [
    subtype: Subtype,
    fields: DeepReadonly<
      Omit<
        Extract<SystemMessage, { subtype: Subtype }>,
        'type' | 'subtype' | 'uuid' | 'session_id' | 'agent'
      >
    >,
  ];
}[SystemMessage['subtype']];

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** One frame may not be longer: a client with a line buffer of 1 MiB must be able to read it. */
export const MAX_FRAME_BYTES = 1_000_000;
/** For hosts that read lines of any length, and for those that are handed the frames themselves. */
export const UNLIMITED = Number.POSITIVE_INFINITY;

/**
 * A frame as one line. What would be too long for a client's buffer is shortened where it is
 * longest, with a note; the transcript keeps it whole.
 */
export function encodeFrame(frame: Frame, limit = MAX_FRAME_BYTES): string {
  const line = JSON.stringify(frame);
  if (isWithin(line, limit) || mustBeWhole(frame)) return `${line}\n`;
  for (const most of SHORTER) {
    const shortened = JSON.stringify(shorten(frame, most));
    if (isWithin(shortened, limit)) return `${shortened}\n`;
  }
  return `${JSON.stringify({ ...scalarsOf(frame), truncated: true })}\n`;
}

/** Why a frame cannot be sent whole; undefined when it can. */
export function tooLong(frame: Frame, limit: number): string | undefined {
  if (limit === UNLIMITED) return undefined;
  const line = JSON.stringify(frame);
  if (isWithin(line, limit)) return undefined;
  const bytes = Buffer.byteLength(line).toLocaleString('en');
  return `it has ${bytes} bytes, and the host can read ${limit.toLocaleString('en')} of them at once`;
}

/** A copy whose texts and lists are short, with a note where a text was cut. */
export function shortened(value: unknown): unknown {
  return shorten(value, SHORTEST);
}

/**
 * fail-closed: a truncated question, answer or value would pass for the whole one, so their callers check
 * first whether they fit.
 */
function mustBeWhole({ type, structured_output: structured }: Frame): boolean {
  return WHOLE.has(type) || (type === 'result' && structured !== undefined);
}

const WHOLE: ReadonlySet<string> = new Set([
  'control_request',
  'control_response',
  'control_cancel_request',
  'transcript_mirror',
]);

/** How much of a text and of a list is kept. */
interface Most {
  readonly characters: number;
  readonly items: number;
}

const ALL = Number.POSITIVE_INFINITY;
const SHORTEST: Most = { characters: 312, items: 10 };
const SHORTER: readonly Most[] = [
  { characters: 20_000, items: ALL },
  { characters: 5_000, items: ALL },
  { characters: 1_250, items: 1_000 },
  { characters: 312, items: 100 },
  SHORTEST,
];
/** No message of the contract has so many fields. */
const MOST_FIELDS = 100;

function shorten(value: unknown, most: Most): unknown {
  if (typeof value === 'string') {
    return value.length <= most.characters
      ? value
      : `${sliceWhole(value, 0, most.characters)}… [${value.length - most.characters} more characters]`;
  }
  if (Array.isArray(value)) return value.slice(0, most.items).map((item) => shorten(item, most));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value);
  const kept = most.items === ALL ? fields : fields.slice(0, MOST_FIELDS);
  return Object.fromEntries(kept.map(([key, inner]) => [key, shorten(inner, most)]));
}

function scalarsOf(frame: Frame): Readonly<Record<string, unknown>> {
  const fields = Object.entries(frame).filter(([, value]) => typeof value !== 'object');
  return Object.fromEntries(fields.map(([name, value]) => [name, shorten(value, SHORTEST)]));
}

/** Short lines need no byte count: a UTF-16 unit takes at most three bytes. */
function isWithin(line: string, limit: number): boolean {
  return line.length * 3 <= limit || (line.length <= limit && Buffer.byteLength(line) <= limit);
}
