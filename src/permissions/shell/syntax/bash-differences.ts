import type { HereDoc, Script, SyntaxNode, WordPart } from 'unbash';

type Walk = (node: SyntaxNode, visit: (child: SyntaxNode) => void) => void;

/**
 * Why bash may read a text differently from the parser; undefined when both surely
 * read the same. The raw text is searched without the parts that the parser knows to be plain text: up to the first
 * difference parser and bash agree, so the first one is never inside such a part.
 */
export function differenceFromBash(
  script: Script,
  source: string,
  forEachChild: Walk,
): string | undefined {
  const plain: { readonly pos: number; readonly end: number }[] = [];
  let found: string | undefined;
  const look = (node: SyntaxNode): void => {
    if (node.type === 'Script' && node.source !== undefined) {
      // Between backquotes a text has lost its backslashes and is searched by itself.
      found ??= differenceFromBash(node, node.source, forEachChild);
      return;
    }
    // Bash tries arithmetic first, and then takes here-documents in there for commands.
    const isDoubled =
      node.type === 'Subshell'
        ? source.startsWith('((', node.pos)
        : node.type === 'CommandExpansion' && node.text.startsWith('$((');
    if (isDoubled) found ??= 'it has two opening brackets, which bash may take for arithmetic';
    // Bash joins these lines before it looks for here-documents.
    if (node.type === 'CommandExpansion' && node.text.startsWith('`') && node.text.includes('\\\n'))
      found ??= 'it continues a line between backquotes';
    if (node.type === 'SingleQuoted') plain.push(inside(node));
    if (node.type === 'DoubleQuoted') plain.push(...plainParts(node.parts));
    if (node.type === 'HereDoc') {
      if (node.delimiter?.quoted === true) plain.push(node.body);
      else found ??= hereDocumentDifference(node, source);
    }
    forEachChild(node, look);
  };
  forEachChild(script, look);
  return found ?? differenceInText(blanked(source, plain));
}

/** In a here-document quotes in `${…}` are plain characters, for the parser they are quotes. */
function hereDocumentDifference({ body }: HereDoc, source: string): string | undefined {
  return /\$\{(?![#!]?\w+(?:[-:+=?#%^,@*/]+[^'"\\`{}$\n]*)?\})/.test(
    source.slice(body.pos, body.end),
  )
    ? 'it works out variables in a here-document'
    : undefined;
}

function inside({ pos, end }: WordPart): { pos: number; end: number } {
  return { pos: pos + 1, end: end - 1 };
}

/** Text between double quotes, but for what a line continuation may join with a `$` or a name. */
function plainParts(parts: readonly WordPart[]): readonly WordPart[] {
  return parts.filter(
    (part, at) =>
      part.type === 'Literal' &&
      !/(^|[^\\])(\\\\)*\$/.test(part.text) &&
      !(at > 0 && part.text.startsWith('\\\n')),
  );
}

/** A placeholder for plain text: neither a letter nor shell syntax. */
const PLAIN = ',';

function blanked(source: string, plain: readonly { pos: number; end: number }[]): string {
  let text = '';
  let at = 0;
  for (const { pos, end } of plain.toSorted((a, b) => a.pos - b.pos)) {
    if (pos < at) continue;
    text += source.slice(at, pos) + PLAIN.repeat(end - pos);
    at = end;
  }
  return text + source.slice(at);
}

/** All that separates words in bash; other blanks, such as U+00A0, are part of them. */
const END_OF_WORD = '(?=[ \\t\\n;&|()<>`]|$)';
const DELIMITER = '(?:\\\\?\\w[\\w.-]*|\'\\w[\\w.-]*\'|"\\w[\\w.-]*")';
/** What may be copied by `>&` and `<&`, and file names that no second expansion changes. */
const DESCRIPTOR = '(?:\\d+-?|-)';
const FILE_NAME = '[A-Za-z_./][\\w./-]*';

// fail-closed: in all of these bash was seen to run what the parser did not find.
const DIFFERENCES: readonly (readonly [RegExp, string])[] = [
  [/[^ \t\n;|(][<>]\(/, 'it has a process substitution inside a word'],
  [
    new RegExp(`<&(?![ \\t]*${DESCRIPTOR}${END_OF_WORD})`),
    'it copies a descriptor that is not a plain number',
  ],
  [
    new RegExp(`>&(?![ \\t]*(?:${DESCRIPTOR}|${FILE_NAME})${END_OF_WORD})`),
    'it copies a descriptor that is not a plain number',
  ],
  [/(^|[ \t\n;&|()])\d{6,}[<>]/, 'it has a number before a redirection that may be a word'],
  [
    new RegExp(`(^|[^<])<<(?!<)(?!-?[ \\t]*${DELIMITER}${END_OF_WORD})`),
    'it has a here-document with an unusual delimiter',
  ],
];

function differenceInText(text: string): string | undefined {
  const found = DIFFERENCES.find(([pattern]) => pattern.test(text));
  return (
    found?.[1] ?? (joinsLinesInsideWord(text) ? 'it continues a word on the next line' : undefined)
  );
}

/** Bash joins the lines before it looks for words and operators. */
function joinsLinesInsideWord(text: string): boolean {
  return [...text.matchAll(/(?<!\\)(\\+)\n/g)].some(({ 1: slashes = '', index }) => {
    if (slashes.length % 2 === 0) return false;
    const before = text.charAt(index - 1);
    const after = text.charAt(index + slashes.length + 1);
    const isGlued = slashes.length > 1 || !isBlank(before);
    // `one &&\` and `one |\` end with an operator that the next line does not go on with.
    const isAfterOperator = /[;&|(]/.test(before) && /[\w./~"'$-]/.test(after);
    return isGlued && !isBlank(after) && !isAfterOperator;
  });
}

/** Also where there is nothing. */
function isBlank(char: string): boolean {
  return /^[ \t\n]?$/.test(char);
}
