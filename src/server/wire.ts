/** The messages that leave over standard output, as the official clients know them. */
export interface Frame {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** One frame may not be longer: a client with a line buffer of 1 MiB must be able to read it. */
export const MAX_FRAME_BYTES = 1_000_000;
const PREVIEW_CHARACTERS = 20_000;

/**
 * A frame as one line. What would be too long for a client's buffer is shortened where it is
 * longest, with a note; the transcript keeps it whole.
 */
export function encodeFrame(frame: Frame): string {
  const line = JSON.stringify(frame);
  if (line.length * 3 <= MAX_FRAME_BYTES || Buffer.byteLength(line) <= MAX_FRAME_BYTES)
    return `${line}\n`;
  for (let cap = PREVIEW_CHARACTERS; cap >= 200; cap = Math.floor(cap / 4)) {
    const shortened = JSON.stringify(shorten(frame, cap));
    if (Buffer.byteLength(shortened) <= MAX_FRAME_BYTES) return `${shortened}\n`;
  }
  return `${JSON.stringify({ type: frame.type, subtype: frame.subtype, uuid: frame.uuid, session_id: frame.session_id, truncated: true })}\n`;
}

function shorten(value: unknown, cap: number): unknown {
  if (typeof value === 'string') {
    return value.length <= cap
      ? value
      : `${value.slice(0, cap)}… [${value.length - cap} more characters]`;
  }
  if (Array.isArray(value)) return value.map((item) => shorten(item, cap));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, shorten(inner, cap)]),
  );
}
