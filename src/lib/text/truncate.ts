/** Keeps the first and last part of a long text and says how much is missing between them. */
export function headAndTail(text: string, cap: number): string {
  if (text.length <= cap) return text;
  const half = Math.floor(cap / 2);
  const head = sliceWhole(text, 0, half);
  const tail = sliceWhole(text, text.length - half, text.length);
  return `${head}\n… [${text.length - head.length - tail.length} characters left out] …\n${tail}`;
}

/** The first part of a long text, with a note of how much was cut. */
export function head(text: string, cap: number): string {
  if (text.length <= cap) return text;
  const kept = sliceWhole(text, 0, cap);
  return `${kept}\n… [${text.length - kept.length} more characters]`;
}

/** At most so many characters, the last of them `…` where something was cut. */
export function ellipsis(text: string, most: number): string {
  return text.length <= most ? text : `${sliceWhole(text, 0, most - 1).trimEnd()}…`;
}

/** Like `slice`, but never leaves half of a surrogate pair at either end. */
export function sliceWhole(text: string, start: number, end: number): string {
  const from = isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start;
  const to = end < text.length && isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end;
  return text.slice(from, to);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
