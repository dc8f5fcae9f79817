/** A set of the words of a text, with blanks or line breaks between them. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
