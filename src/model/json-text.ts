/**
 * JSON text that every server can read. A lone half of a surrogate pair, which JavaScript writes as
 * an escape, makes strict parsers refuse the whole request; it becomes U+FFFD.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!needsCare(text)) return text;
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'string' ? inner.replace(/\p{Surrogate}/gu, '\ufffd') : inner,
  );
}

/** Whether `JSON.stringify` may have written such a half: then `jsonText` is to write it. */
export function needsCare(json: string): boolean {
  return json.includes('\\ud');
}
