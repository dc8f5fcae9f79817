import type { BraceExpansionPart, DoubleQuotedChild, GlobPart, Word, WordPart } from 'unbash';
import { ansiText, type Unescaped, unescaped, unescapedInQuotes } from './literals.js';
import { refuse } from './refusal.js';
import { type Quoting, quoted, type RenderContext } from './writer.js';

/** What a word is: only values have tilde prefixes behind colons, only patterns keep wildcards without meaning files. */
type WordRole = 'argument' | 'value' | 'pattern';

/** A word with all of its literal text quoted; wildcards, braces, tilde prefixes and expansions stay bare. */
export function renderWord(
  word: Word,
  context: RenderContext,
  role: WordRole = 'argument',
): string {
  const { text } = word;
  if (context.source.slice(word) !== text) refuse('ambiguous', 'has a word read from elsewhere');
  const parts = word.parts ?? [literalPart(word)];
  checkContiguous(parts, word);
  const pieces = new Pieces();
  parts.forEach((part, at) => {
    const follower = parts[at + 1];
    if (part.type === 'Literal') {
      const found = unescaped(part.text, part.value);
      addUnquoted(found, pieces, { isFirst: at === 0, follower, role });
      return;
    }
    if (part.type === 'ProcessSubstitution' && parts.length > 1) {
      refuse('ambiguous', 'has a process substitution inside a word');
    }
    if (follower?.type === 'BraceExpansion' && part.type === 'SimpleExpansion') {
      refuse('ambiguous', 'has braces directly behind a variable');
    }
    addPart(part, pieces, context);
  });
  return pieces.text;
}

function literalPart({ text, value, pos, end }: Word): WordPart {
  return { type: 'Literal', text, value, pos, end };
}

export function checkContiguous(
  parts: readonly { readonly pos: number; readonly end: number }[],
  { pos, end }: { readonly pos: number; readonly end: number },
): void {
  let at = pos;
  for (const part of parts) {
    if (part.pos !== at) refuse('ambiguous', 'has text in a word that was not read');
    at = part.end;
  }
  if (at !== end) refuse('ambiguous', 'has text in a word that was not read');
}

/** Parts of a word in which neighbouring literal texts are one quoted text. */
export class Pieces {
  #text = '';
  #literal: string | undefined;

  literal(text: string): void {
    this.#literal = (this.#literal ?? '') + text;
  }

  bare(text: string): void {
    this.#flush();
    this.#text += text;
  }

  get text(): string {
    this.#flush();
    return this.#text;
  }

  #flush(): void {
    if (this.#literal !== undefined) this.#text += quoted(this.#literal);
    this.#literal = undefined;
  }
}

function addPart(
  part: Exclude<WordPart, { type: 'Literal' }>,
  pieces: Pieces,
  context: RenderContext,
): void {
  if (part.type === 'ExtendedGlob') {
    refuse('construct', 'has an extended pattern, which depends on a shell option');
  }
  switch (part.type) {
    case 'SingleQuoted':
      if (part.text !== `'${part.value}'`) refuse('ambiguous', 'has an unfinished string');
      pieces.literal(part.value);
      return;
    case 'AnsiCQuoted':
      pieces.literal(ansiText(part.text, part.value));
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      addQuoted(part.parts, pieces, context);
      return;
    case 'Glob':
      pieces.bare(globText(part));
      return;
    case 'BraceExpansion':
      pieces.bare(braceText(part, context));
      return;
    case 'ProcessSubstitution':
      if (part.script === undefined) refuse('syntax', 'has a substitution that was not read');
      pieces.bare(`${part.operator}${bracketed(context.code(part.script, context))}`);
      return;
    default:
      pieces.bare(context.expansion(part, context, 'bare'));
  }
}

/** Code between round brackets that cannot be taken for arithmetic. */
export function bracketed(code: string): string {
  return code.endsWith('\n') ? `( ${code})` : `( ${code} )`;
}

/** Literal text leaves the double quotes; neighbouring expansions stay together in them. */
export function addQuoted(
  parts: readonly DoubleQuotedChild[],
  pieces: Pieces,
  context: RenderContext,
): void {
  if (parts.length === 0) pieces.literal('');
  let expansions = '';
  const flush = (): void => {
    if (expansions !== '') pieces.bare(`"${expansions}"`);
    expansions = '';
  };
  for (const part of parts) {
    if (part.type !== 'Literal') {
      expansions += context.expansion(part, context, 'quoted');
      continue;
    }
    const text = unescapedInQuotes(part.text, part.value, { document: false });
    // A line that goes on leaves no text behind.
    if (text === '' && parts.length > 1) continue;
    flush();
    pieces.literal(text);
  }
  flush();
}

interface Unquoted {
  readonly isFirst: boolean;
  readonly follower: WordPart | undefined;
  readonly role: WordRole;
}

const METACHARACTER = /[ \t\n|&;<>()`"']/;

function addUnquoted({ text, plain }: Unescaped, pieces: Pieces, about: Unquoted): void {
  const { isFirst, follower, role } = about;
  const isLast = follower === undefined;
  if (METACHARACTER.test(plain)) refuse('ambiguous', 'has a word that was not taken apart');
  const dollar = plain.indexOf('$');
  if (dollar !== -1 && !(isLast && dollar === plain.length - 1)) {
    refuse('ambiguous', 'has a $ that was not read as an expansion');
  }
  if (role === 'argument' && /[*?]/.test(plain))
    refuse('ambiguous', 'has a wildcard that was not read');
  // An argument such as `if=~/x` has tilde prefixes where a value would.
  const assignment =
    role === 'argument' && isFirst ? /^[A-Za-z_]\w*\+?=/.exec(plain)?.[0] : undefined;
  const hasPrefixes = assignment !== undefined && /[=:]~/.test(plain);
  if (hasPrefixes) pieces.bare(assignment);
  const start = hasPrefixes ? assignment.length : 0;
  if (!plain.includes('~')) {
    pieces.literal(text);
    return;
  }
  for (let at = start; at < text.length; at++) {
    const isTilde = plain[at] === '~';
    const behindColon = (role === 'value' || hasPrefixes) && plain[at - 1] === ':';
    if (isTilde && ((at === start && isFirst) || behindColon)) {
      const end = role === 'value' || hasPrefixes ? '[/:]' : '/';
      const prefix = new RegExp(`^~[\\w.+-]*(?:(?=${end})|$)`).exec(plain.slice(at))?.[0];
      const reachesEnd = prefix !== undefined && at + prefix.length === plain.length;
      if (follower?.type === 'BraceExpansion') refuse('quoting', 'has braces behind a tilde');
      if (prefix !== undefined && (!reachesEnd || isLast)) {
        const slash = plain[at + prefix.length] === '/' ? '/' : '';
        pieces.bare(prefix + slash);
        at += prefix.length + slash.length - 1;
        continue;
      }
    }
    // A colon in front of a tilde prefix must be bare, too.
    if (plain[at] === ':' && plain[at + 1] === '~' && (role === 'value' || hasPrefixes))
      pieces.bare(':');
    else pieces.literal(text.charAt(at));
  }
}

const BRACKET = /^\[[!^]?\]?(?:[\w.,:@%+=-]|\[:[a-z]+:\])*\]$/;

function globText({ kind, text }: GlobPart): string {
  if (kind === 'star' && /^\*+$/.test(text)) return text;
  if (kind === 'question' && text === '?') return '?';
  if (kind === 'bracket' && BRACKET.test(text)) return text;
  return refuse('quoting', 'has an unusual bracket pattern');
}

/** Commas, dots and braces stay bare, so no other character of theirs may have a meaning. */
function braceText({ text, parts, pos, end }: BraceExpansionPart, context: RenderContext): string {
  const safe = /^[\w.,:/@%+={}-]*$/;
  if (parts === undefined) {
    return safe.test(text) ? text : refuse('quoting', 'has unusual text in braces');
  }
  const pieces = new Pieces();
  checkContiguous(parts, { pos: pos + 1, end: end - 1 });
  pieces.bare('{');
  for (const part of parts) {
    if (part.type === 'Literal' && safe.test(part.text)) pieces.bare(part.text);
    else if (part.type === 'Glob') pieces.bare(globText(part));
    else if (part.type === 'SingleQuoted' || part.type === 'DoubleQuoted')
      addPart(part, pieces, context);
    else refuse('quoting', 'has unusual text in braces');
  }
  pieces.bare('}');
  return pieces.text;
}

/** The word of `${x:-word}` and its like, where quotes do not mean the same everywhere. */
export function renderOperand(word: Word, context: RenderContext, quoting: Quoting): string {
  const parts = word.parts ?? [literalPart(word)];
  checkContiguous(parts, word);
  const pieces = new Pieces();
  for (const part of parts) {
    if (part.type === 'Literal') pieces.bare(bareText(part.text, quoting));
    else if (part.type === 'Glob' && quoting === 'bare') pieces.bare(globText(part));
    else if (part.type === 'Glob') pieces.bare(bareText(part.text, quoting));
    else if (/^(SingleQuoted|DoubleQuoted|AnsiCQuoted)$/.test(part.type)) {
      if (quoting !== 'bare')
        refuse('quoting', 'has quotes in a variable that is in quotes itself');
      addPart(part as Exclude<WordPart, { type: 'Literal' }>, pieces, context);
    } else pieces.bare(renderNested(part, context, quoting));
  }
  return pieces.text;
}

/** A pattern of `${x%pattern}`, `${x/pattern/…}` or `${x^pattern}`. */
export function renderPattern(word: Word, context: RenderContext, quoting: Quoting): string {
  const parts = word.parts ?? [literalPart(word)];
  checkContiguous(parts, word);
  const pieces = new Pieces();
  for (const part of parts) {
    if (part.type === 'Literal' && /^[\w.,:@%+= -]*$/.test(part.text)) pieces.bare(part.text);
    else if (part.type === 'Glob') pieces.bare(globText(part));
    else if (/^(Literal|SingleQuoted|DoubleQuoted|AnsiCQuoted)$/.test(part.type)) {
      if (quoting === 'document') refuse('quoting', 'has quotes in a variable in a here-document');
      if (part.type !== 'Literal') {
        addPart(part as Exclude<WordPart, { type: 'Literal' }>, pieces, context);
        continue;
      }
      const { text, plain } = unescaped(part.text, part.value);
      if (/[\s|&;<>()`"'$*?[\]{}~]/.test(plain)) refuse('quoting', 'has unusual text in a pattern');
      pieces.literal(text);
    } else pieces.bare(renderNested(part, context, quoting));
  }
  return pieces.text;
}

function renderNested(part: WordPart, context: RenderContext, quoting: Quoting): string {
  switch (part.type) {
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
      return context.expansion(part, context, quoting);
    default:
      return refuse('quoting', 'has unusual text in a variable');
  }
}

function bareText(text: string, quoting: Quoting): string {
  const safe = quoting === 'bare' ? /^[\w .,:/@%+=-]*$/ : /^[\w .,:;/@%+=()[\]*?#|<>^-]*$/;
  return safe.test(text) ? text : refuse('quoting', 'has unusual text in a variable');
}

/** The index of an array is worked out as arithmetic, its quoted text too: only plain ones pass. */
export function renderIndex(index: Word, context: RenderContext): string {
  const { parts, value, text } = index;
  if (/^(?:\w+|[@*])$/.test(text)) return text;
  const [only] = parts ?? [];
  if (parts?.length === 1 && only !== undefined) {
    if (
      only.type === 'SimpleExpansion' ||
      (only.type === 'ParameterExpansion' && /^\$\{\w+\}$/.test(only.text))
    ) {
      return context.expansion(only, context, 'bare');
    }
    if (/^(["'])\w+\1$/.test(text) && /^\w+$/.test(value)) return value;
  }
  return refuse('quoting', 'has an array index that is worked out');
}
