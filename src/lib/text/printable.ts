/**
 * Text as a terminal may show it. What a model, a server or a file wrote must not be able to move the
 * cursor, set the title, or turn the words of a question around: control characters go, and so do
 * the marks that change the direction of text. Tab and newline stay.
 */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    '',
  );
}
