import type {
  BraceExpansionPart,
  DoubleQuotedChild,
  GlobPart,
  ParameterExpansionPart,
  ParameterOperation,
  Word,
  WordPart,
} from 'unbash';
import { unreachable } from '../../../lib/result.js';
import {
  ansiText,
  Pieces,
  renderArithmetic,
  type Unescaped,
  unescaped,
  unescapedInQuotes,
} from './literals.js';
import { refuse } from './refusal.js';
import type { RenderContext, Span } from './source.js';

/** What a word is: only values have tilde prefixes behind colons, only patterns keep wildcards without meaning files. */
type WordRole = 'argument' | 'value' | 'pattern';

/** Where an expansion stands: outside quotes, in double quotes, or in the text of a here-document. */
type Quoting = 'bare' | 'quoted' | 'document';

/** A word with all of its literal text quoted; wildcards, braces, tilde prefixes and expansions stay bare. */
export function renderWord(
  word: Word,
  context: RenderContext,
  role: WordRole = 'argument',
): string {
  const parts = partsOf(word, context);
  const pieces = new Pieces();
  const hasBraces = parts.some(({ type }) => type === 'BraceExpansion');
  parts.forEach((part, at) => {
    const follower = parts[at + 1];
    if (part.type === 'Literal') {
      const found = unescaped(part.text, part.value);
      // A line that goes on leaves no text behind; quotes in its place would be a word.
      if (found.text === '' && parts.length > 1) return;
      // Of `{,}~/x` bash makes words with the tilde in front.
      if (hasBraces && /(^|[=:])~/.test(found.plain))
        refuse('quoting', 'has a tilde beside braces');
      addUnquoted(found, pieces, { isFirst: at === 0, follower, role });
      return;
    }
    if (part.type === 'ProcessSubstitution' && parts.length > 1)
      refuse('ambiguous', 'has a process substitution inside a word');
    if (follower?.type === 'BraceExpansion' && part.type === 'SimpleExpansion')
      refuse('ambiguous', 'has braces directly behind a variable');
    addPart(part, pieces, context);
  });
  return pieces.text;
}

function partsOf(word: Word, { source }: RenderContext): readonly WordPart[] {
  const { text, value, pos, end } = word;
  if (source.slice(word) !== text) refuse('ambiguous', 'has a word read from elsewhere');
  const parts = word.parts ?? [{ type: 'Literal', text, value, pos, end }];
  checkContiguous(parts, word);
  return parts;
}

export function checkContiguous(parts: readonly Span[], { pos, end }: Span): void {
  let at = pos;
  for (const part of parts) {
    if (part.pos !== at) refuse('ambiguous', 'has text in a word that was not read');
    at = part.end;
  }
  if (at !== end) refuse('ambiguous', 'has text in a word that was not read');
}

function addPart(
  part: Exclude<WordPart, { type: 'Literal' }>,
  pieces: Pieces,
  context: RenderContext,
  quoting: Quoting = 'bare',
): void {
  switch (part.type) {
    case 'SingleQuoted':
      if (part.text !== `'${part.value}'`) refuse('ambiguous', 'has an unfinished string');
      pieces.literal(part.value);
      break;
    case 'AnsiCQuoted':
      pieces.literal(ansiText(part.text, part.value));
      break;
    case 'DoubleQuoted':
    case 'LocaleString':
      addQuoted(part.parts, pieces, context);
      break;
    case 'Glob':
      pieces.bare(globText(part));
      break;
    case 'BraceExpansion':
      pieces.bare(braceText(part, context));
      break;
    case 'ProcessSubstitution':
      if (part.script === undefined) refuse('syntax', 'has a substitution that was not read');
      pieces.bare(`${part.operator}${bracketed(context.code(part.script, context))}`);
      break;
    default:
      pieces.bare(renderExpansion(part, context, quoting));
      break;
  }
}

/** Code between round brackets that cannot be taken for arithmetic. */
function bracketed(code: string): string {
  return code.endsWith('\n') ? `( ${code})` : `( ${code} )`;
}

/** Literal text leaves the double quotes; neighbouring expansions stay together in them. */
function addQuoted(
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
      expansions += renderExpansion(part, context, 'quoted');
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

function addUnquoted({ text, plain }: Unescaped, pieces: Pieces, about: Unquoted): void {
  const { isFirst, follower, role } = about;
  if (/[ \t\n|&;<>()`"']/.test(plain)) refuse('ambiguous', 'has a word that was not taken apart');
  if (/\$./s.test(plain) || (plain.endsWith('$') && follower !== undefined))
    refuse('ambiguous', 'has a $ that was not read as an expansion');
  if (role === 'argument' && /[*?]/.test(plain))
    refuse('ambiguous', 'has a wildcard that was not read');
  // An argument such as `if=~/x` has tilde prefixes where a value would.
  const [assignment] =
    (role === 'argument' && isFirst && /[=:]~/.test(plain) && /^[A-Za-z_]\w*\+?=/.exec(plain)) ||
    [];
  const isValue = role === 'value' || assignment !== undefined;
  const start = assignment?.length ?? 0;
  if (assignment !== undefined) pieces.bare(assignment);
  const prefixes = isValue ? /(^|:)(~[\w.+-]*)(?=([/:]|$))/g : /(^)(~[\w.+-]*)(?=(\/|$))/g;
  let at = start;
  for (const { 0: found, 1: colon = '', index, 3: behind } of plain
    .slice(start)
    .matchAll(prefixes)) {
    const from = start + index;
    if (colon === '' && !isFirst) continue;
    if (from + found.length === plain.length && follower !== undefined) continue;
    if (from > at) pieces.literal(text.slice(at, from));
    const slash = behind === '/' ? '/' : '';
    pieces.bare(found + slash);
    at = from + found.length + slash.length;
  }
  if (at < text.length || text === '') pieces.literal(text.slice(at));
}

const BRACKET = /^\[[!^]?\]?(?:[\w.,:@%+=-]|\[:[a-z]+:\])*\]$/;

function globText({ kind, text }: GlobPart): string {
  const isPlain = kind === 'bracket' ? BRACKET.test(text) : /^(?:\*+|\?)$/.test(text);
  return isPlain ? text : refuse('quoting', 'has an unusual bracket pattern');
}

/** Commas, dots and braces stay bare, so no other character of theirs may have a meaning. */
function braceText({ text, parts, pos, end }: BraceExpansionPart, context: RenderContext): string {
  const safe = /^[\w.,:/@%+=-]*$/;
  if (parts === undefined) {
    return safe.test(text.replace(/[{}]/g, ''))
      ? text
      : refuse('quoting', 'has unusual text in braces');
  }
  checkContiguous(parts, { pos: pos + 1, end: end - 1 });
  const types = /^(Glob|SingleQuoted|DoubleQuoted)$/;
  return `{${renderInner(parts, context, { what: 'braces', safe, types })}}`;
}

interface InnerText {
  readonly what: string;
  /** What literal text may be bare. */
  readonly safe: RegExp;
  /** Which parts may stand there besides. */
  readonly types: RegExp;
  readonly quoting?: Quoting;
  /** Characters that are escaped may stand there in quotes. */
  readonly escapes?: boolean;
}

/** Text inside of other syntax, where quotes do not mean the same everywhere. */
function renderInner(
  parts: readonly WordPart[],
  context: RenderContext,
  { what, safe, types, quoting = 'bare', escapes = false }: InnerText,
): string {
  const pieces = new Pieces();
  for (const part of parts) {
    if (part.type !== 'Literal' && types.test(part.type)) addPart(part, pieces, context, quoting);
    else if (/^(Literal|Glob)$/.test(part.type) && safe.test(part.text)) pieces.bare(part.text);
    else {
      const found = escapes && part.type === 'Literal' && unescaped(part.text, part.value);
      if (!found || /[\s|&;<>()`"'$*?[\]{}~]/.test(found.plain))
        refuse('quoting', `has unusual text in ${what}`);
      pieces.literal(found.text);
    }
  }
  return pieces.text;
}

const EXPANSIONS = '(Simple|Parameter|Command|Arithmetic)Expansion';
const ALL_TYPES = new RegExp(`^(Glob|(Single|Double|AnsiC)Quoted|${EXPANSIONS})$`);
const UNQUOTED_TYPES = new RegExp(`^(Glob|${EXPANSIONS})$`);
const EXPANDED_TYPES = new RegExp(`^${EXPANSIONS}$`);
const REGEXP_TYPES = new RegExp(`^((Single|Double)Quoted|${EXPANSIONS})$`);

/** The word of `${x:-word}` and its like. */
function renderOperand(word: Word, context: RenderContext, quoting: Quoting): string {
  const isBare = quoting === 'bare';
  const safe = isBare ? /^[\w .,:/@%+=-]*$/ : /^[\w .,:;/@%+=()[\]*?#|<>^-]*$/;
  const types = isBare ? ALL_TYPES : EXPANDED_TYPES;
  const parts = partsOf(word, context);
  return renderInner(parts, context, { what: 'a variable', safe, types, quoting });
}

/** A pattern of `${x%pattern}`, `${x/pattern/…}` or `${x^pattern}`. */
function renderPattern(word: Word, context: RenderContext, quoting: Quoting): string {
  const safe = /^[\w.,:@%+= -]*$/;
  const escapes = quoting !== 'document';
  const types = escapes ? ALL_TYPES : UNQUOTED_TYPES;
  const parts = partsOf(word, context);
  return renderInner(parts, context, { what: 'a pattern', safe, types, quoting, escapes });
}

/** Unquoted text of a regular expression keeps its meaning only bare. */
const BARE_REGEXP = /^(?:[\w.^*+?[\](){}|,:@%=/-]|\\[.[\](){}*+?^$|/\\\- wsbdWSBD]|\$(?=$|[)|]))*$/;

/** The right side of `=~`. */
export function renderRegExp(word: Word, context: RenderContext): string {
  const parts = partsOf(word, context);
  const what = 'a regular expression';
  return renderInner(parts, context, { what, safe: BARE_REGEXP, types: REGEXP_TYPES });
}

/** The index of an array is worked out as arithmetic, its quoted text too: only plain ones pass. */
export function renderIndex(index: Word, context: RenderContext): string {
  const { parts = [], value, text } = index;
  if (/^(?:\w+|[@*])$/.test(text)) return text;
  if (/^(["'])\w+\1$/.test(text) && /^\w+$/.test(value)) return value;
  return (
    variableText(parts, text, context) ?? refuse('quoting', 'has an array index that is worked out')
  );
}

/** A variable alone, without any operation. */
function variableText(
  [only, ...more]: readonly WordPart[],
  text: string,
  context: RenderContext,
): string | undefined {
  const isPlain = more.length === 0 && only?.text === text && /^\$(?:\w+|\{#?\w+\})$/.test(text);
  return isPlain ? renderExpansion(only, context, 'bare') : undefined;
}

const PARAMETER = /^(?:[A-Za-z_]\w*|\d+|[@*#?$!-])$/;

/** An expansion as it is written inside the quotes it stands in. */
export function renderExpansion(part: WordPart, context: RenderContext, quoting: Quoting): string {
  if (context.source.slice(part) !== part.text) refuse('ambiguous', 'has text read from elsewhere');
  switch (part.type) {
    case 'SimpleExpansion': {
      const name = part.text.slice(1);
      if (!PARAMETER.test(name)) refuse('ambiguous', 'has a variable with an unusual name');
      return `\${${name}}`;
    }
    case 'ParameterExpansion':
      return renderParameter(part, context, quoting);
    case 'CommandExpansion': {
      const { script, text } = part;
      if (script === undefined) refuse('syntax', 'has a substitution that was not read');
      if (text.startsWith('`') && text.includes('\\') && quoting !== 'bare')
        refuse('quoting', 'has backslashes between backquotes inside quotes');
      if (!/^(?:`[\s\S]*`|\$\([\s\S]*\))$/.test(text))
        refuse('construct', 'has a substitution that not every shell knows');
      return `$${bracketed(context.code(script, context))}`;
    }
    case 'ArithmeticExpansion': {
      const [, inner, old] = /^\$\(\(([\s\S]*)\)\)$|^\$\[([\s\S]*)\]$/.exec(part.text) ?? [];
      return `$(( ${renderArithmetic(inner ?? old ?? '`')} ))`;
    }
    case 'ExtendedGlob':
      return refuse('construct', 'has an extended pattern, which depends on a shell option');
    default:
      return refuse('construct', 'has unusual text in an expansion');
  }
}

function renderParameter(
  part: ParameterExpansionPart,
  context: RenderContext,
  quoting: Quoting,
): string {
  const { parameter, prefix = '', index, operation } = part;
  if (!PARAMETER.test(parameter)) refuse('ambiguous', 'has a variable with an unusual name');
  const isOdd =
    (prefix !== '' && /^[#?$!-]$/.test(parameter)) ||
    (operation !== undefined && /^[#?$!-]$/.test(parameter));
  if (isOdd) refuse('construct', 'has an unusual expansion of a variable');
  const subscript = index === undefined ? '' : `[${renderIndex(index, context)}]`;
  const rest = operation === undefined ? '' : renderOperation(operation, context, quoting);
  const rendered = `\${${prefix}${parameter}${subscript}${rest}}`;
  // fail-closed: whatever else is between the braces was not read.
  if (operation === undefined && index === undefined && part.text !== rendered)
    refuse('ambiguous', 'has text in a variable that was not read');
  return rendered;
}

function renderOperation(
  operation: ParameterOperation,
  context: RenderContext,
  quoting: Quoting,
): string {
  switch (operation.type) {
    case 'Default': {
      const { operator, operand } = operation;
      if (operator.endsWith('=') && (operand.parts?.length ?? 0) > 1)
        refuse('quoting', 'sets a variable to text of several parts while it expands it');
      if (/^~|:~/.test(operand.text)) refuse('quoting', 'has a home directory in a variable');
      return operator + renderOperand(operand, context, quoting);
    }
    case 'Remove':
      return operation.operator + renderPattern(operation.operand, context, quoting);
    case 'Replace': {
      const { operator, pattern, replacement } = operation;
      if (/`|[$<>]\(/.test(context.source.slice(operation)))
        refuse('ambiguous', 'uses a command inside a replacement in a variable');
      if (/["'\\]/.test(replacement.text))
        refuse('quoting', 'has quotes in a replacement in a variable');
      const to = renderOperand(replacement, context, quoting);
      return `${operator}${renderPattern(pattern, context, quoting)}/${to}`;
    }
    case 'Slice': {
      const { offset, length } = operation;
      const end = length === undefined ? '' : `:${renderNumber(length, context)}`;
      return `:${renderNumber(offset, context)}${end}`;
    }
    case 'CaseModification': {
      const { operator, operand } = operation;
      return operator + (operand === undefined ? '' : renderPattern(operand, context, quoting));
    }
    case 'Transform':
      if (!/^[QEAKakuUL]$/.test(operation.operand.text))
        refuse('construct', 'has a transformation of a variable that runs code');
      return `@${operation.operand.text}`;
    case 'Names':
      return operation.operator;
    case 'Unknown':
      return refuse('construct', 'has an unknown operation on a variable');
    default:
      return unreachable(operation);
  }
}

/** An offset or a length; the blank keeps `${x: -1}` from becoming `${x:-1}`. */
function renderNumber({ text: raw, parts = [] }: Word, context: RenderContext): string {
  const text = raw.trim();
  if (/^(?:-?\d+|[A-Za-z_]\w*)$/.test(text)) return ` ${text}`;
  const variable = variableText(parts, raw, context);
  return variable === undefined
    ? refuse('quoting', 'has an offset that is worked out')
    : ` ${variable}`;
}
