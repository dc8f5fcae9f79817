/**
 * Arguments as words, quoted the way shells do: `fix "the login" it\'s` are three. A backslash stands
 * for itself unless it is in front of a blank, a quote or a backslash. Where a quote is never closed,
 * quotes are plain characters.
 */
export function splitArguments(text: string): readonly string[] {
  return quotedWords(text) ?? text.split(/\s+/).filter((word) => word !== '');
}

const BLANK = /\s/;

function quotedWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  /** Undefined between words; `''` is a word that is empty. */
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\' && isEscaped(text.charAt(at + 1), quote)) {
      word = `${word ?? ''}${text.charAt(++at)}`;
    } else if (quote !== '') {
      if (char === quote) quote = '';
      else word = `${word ?? ''}${char}`;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (!BLANK.test(char)) {
      word = `${word ?? ''}${char}`;
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (quote !== '') return undefined;
  return word === undefined ? words : [...words, word];
}

function isEscaped(next: string, quote: string): boolean {
  if (quote === "'" || next === '') return false;
  if (quote === '"') return next === '"' || next === '\\';
  return next === '"' || next === "'" || next === '\\' || BLANK.test(next);
}
