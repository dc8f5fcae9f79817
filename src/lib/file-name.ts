/** A file name for an id from outside: no separators, no characters that a file system refuses. */
export function fileNameFor(id: string): string {
  const encoded = encodeURIComponent(wellFormed(id)).replaceAll('*', '%2A');
  return encoded === '' || /^\.+$/.test(encoded) ? `_${encoded}` : encoded.slice(0, 200);
}

/** Half surrogate pairs cannot be encoded. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '_');
}
