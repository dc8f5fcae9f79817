import type { Assignment, Command, HereDoc, Redirection, Word, WordPart } from 'unbash';
import { unescapedInQuotes } from './literals.js';
import { refuse } from './refusal.js';
import type { RenderContext, Writer } from './source.js';
import { checkContiguous, renderExpansion, renderIndex, renderWord } from './words.js';

/** Builtins whose arguments bash reads as assignments: only by their bare names, with bare options. */
const DECLARES = /^(?:declare|typeset|local|export|readonly)$/;

export function addCommand(command: Command, writer: Writer, context: RenderContext): void {
  const { name, prefix, suffix } = command;
  const items = [...prefix, ...(name === undefined ? [] : [name]), ...suffix];
  checkRunTimeWords(command);
  const declares = name !== undefined && DECLARES.test(name.text);
  items.forEach((item, at) => {
    checkSpacing(item, items[at - 1], context);
    if (at > 0) writer.add(' ');
    if (item.type === 'Assignment') {
      if (at >= prefix.length && !declares)
        refuse('ambiguous', 'has an assignment among arguments');
      writer.node(item, assignmentText(item, context));
    } else if (item.type !== 'Word') addRedirection(item, writer, context);
    else if (declares && (item === name || /^[-+][A-Za-z]+$/.test(item.text)))
      writer.node(item, item.text);
    else writer.node(item, renderWord(item, context));
  });
}

type Item = Word | Assignment | Redirection;

/** Blanks separate words; a redirection may touch a word behind it. */
function checkSpacing(item: Item, before: Item | undefined, { source }: RenderContext): void {
  if (item.pos !== before?.end) return;
  const text = source.slice(before);
  const isRedirection = item.type !== 'Word' && item.type !== 'Assignment';
  if (!isRedirection || (/[\w})]$/.test(text) && /^[\d{]/.test(source.slice(item))))
    refuse('ambiguous', 'has words that touch');
  if (/(?:^|[^\w])\d+$|\}$/.test(text))
    refuse('ambiguous', 'has a number that touches a redirection');
}

/** Code that bash makes of words while it parses or later, which quoting would change. */
function checkRunTimeWords({ name, suffix }: Command): void {
  const words = suffix.filter((item) => item.type === 'Word');
  const isAssigned = (item: Command['suffix'][number]): boolean =>
    item.type === 'Assignment' || (item.type === 'Word' && item.value.includes('='));
  if (name?.value === 'alias' && suffix.some(isAssigned)) refuse('construct', 'defines an alias');
  const isPrefix = name?.value === 'command' || name?.value === 'builtin';
  const hides = isPrefix && words.some(({ value }) => DECLARES.test(value));
  if (hides && words.some(({ text, parts }) => parts !== undefined && /^\w+\+?=/.test(text)))
    refuse('quoting', 'sets a variable behind `command`');
}

function assignmentText(assignment: Assignment, context: RenderContext): string {
  const { name, index, append, value, pos } = assignment;
  const head = context.source.text.slice(pos, value.pos);
  if (!/^[A-Za-z_]\w*(?:\[[^\n]*\])?\+?=$/.test(head))
    refuse('ambiguous', 'has an unusual assignment');
  const subscript = index === undefined ? '' : `[${renderIndex(index, context)}]`;
  const target = `${name}${subscript}${append === true ? '+=' : '='}`;
  if (value.type === 'Word')
    return target + (value.text === '' ? '' : renderWord(value, context, 'value'));
  let at = value.pos + 1;
  const rendered = value.elements.map((element) => {
    const isApart = element.pos > at || at === value.pos + 1;
    if (!isApart || context.source.between(at, element.pos) !== '')
      refuse('ambiguous', 'has words that touch');
    at = element.end;
    return elementText(element, context);
  });
  if (context.source.between(at, value.end) !== ')')
    refuse('ambiguous', 'has text that is part of no command');
  return `${target}( ${rendered.join(' ')} )`;
}

function elementText(element: Word, context: RenderContext): string {
  if (!element.text.startsWith('[')) return renderWord(element, context);
  const [, key, , operator, rest] = /^\[(\w+|(["'])\w+\2)\](\+?=)(.*)$/s.exec(element.text) ?? [];
  if (key === undefined || rest === undefined)
    return refuse('quoting', 'has an array index that is worked out');
  const target = `[${key.replace(/["']/g, '')}]${operator}`;
  if (rest === '') return target;
  if (/^[\w.,:/@%+-]*$/.test(rest)) return `${target}'${rest}'`;
  const last = element.parts?.at(-1);
  if (last?.text !== rest) return refuse('quoting', 'has an array element of several parts');
  const { pos, end } = last;
  const word: Word = { type: 'Word', text: rest, value: rest, pos, end, parts: [last] };
  return target + renderWord(word, context, 'value');
}

export function addRedirection(one: Redirection, writer: Writer, context: RenderContext): void {
  const descriptor = descriptorText(one);
  if (one.type === 'HereDoc') {
    const { body, expands } = documentOf(one, context);
    const delimiter = delimiterFor(body);
    writer.node(one, `${descriptor}<<${expands ? delimiter : `'${delimiter}'`}`);
    writer.document(`${body}${delimiter}\n`);
    return;
  }
  const { target, operator, pos } = one;
  if (target === undefined) refuse('syntax', 'has a redirection without a target');
  const head = context.source.text.slice(pos, target.pos);
  if (head.replaceAll('\\\n', '').trimEnd() !== `${descriptor}${operator}`)
    refuse('ambiguous', 'has a redirection that was not read whole');
  writer.node(one, redirectionText({ operator, target, descriptor }, context));
}

function descriptorText({ descriptor }: Redirection): string {
  if (descriptor === undefined) return '';
  const text =
    descriptor.type === 'FileDescriptor' ? String(descriptor.value) : `{${descriptor.name}}`;
  return /^(?:\d{1,3}|\{[A-Za-z_]\w*\})$/.test(text)
    ? text
    : refuse('ambiguous', 'has an unusual descriptor');
}

interface RedirectionTo {
  readonly operator: string;
  readonly target: Word;
  readonly descriptor: string;
}

function redirectionText(
  { operator, target, descriptor }: RedirectionTo,
  context: RenderContext,
): string {
  if (/^(?:<<<|>|>>|<|<>|>\|)$/.test(operator))
    return `${descriptor}${operator} ${renderWord(target, context)}`;
  if (/^&>>?$/.test(operator)) return `${operator.slice(1)} ${renderWord(target, context)} 2>&1`;
  if (!/^[<>]&$/.test(operator)) refuse('construct', 'has an unknown redirection');
  if (/^(?:\d{1,3}-?|-)$/.test(target.text)) return `${descriptor}${operator}${target.text}`;
  // Bash expands any other word twice, also a quoted one.
  const isFile =
    operator === '>&' && descriptor === '' && /^[A-Za-z_./][\w./-]*$/.test(target.text);
  if (!isFile) refuse('ambiguous', 'copies a descriptor that is not a plain number');
  return `> ${renderWord(target, context)} 2>&1`;
}

interface DocumentText {
  readonly body: string;
  /** False where all of it is plain text. */
  readonly expands: boolean;
}

function documentOf(
  { operator, delimiter, body, closing }: HereDoc,
  context: RenderContext,
): DocumentText {
  if (delimiter === undefined || closing === undefined)
    refuse('syntax', 'has a here-document without its end');
  // Bash and the parser were seen to look for different lines.
  if (!/^(?:\\?[\w.-]+|(["'])[\w.-]+\1)$/.test(delimiter.text))
    refuse('ambiguous', 'has a here-document with an unusual delimiter');
  const strips = operator === '<<-';
  if (delimiter.quoted) return { body: strips ? stripped(body.text) : body.text, expands: false };
  const { pos, end, text, parts = [] } = body;
  const all: readonly WordPart[] =
    parts.length > 0 ? parts : [{ type: 'Literal', text, value: text, pos, end }];
  checkContiguous(all, body);
  const expands = parts.some(({ type }) => type !== 'Literal');
  if (strips && parts.length > 0 && (text.includes('\\\n') || parts.some(spansLines)))
    refuse('quoting', 'has a here-document with tabs in front of lines that go on');
  let rendered = '';
  let isLineStart = true;
  for (const part of all) {
    let line: string;
    if (part.type === 'Literal') {
      const expected = parts.length > 0 ? part.value : undefined;
      const read = unescapedInQuotes(part.text, expected, { document: true });
      const plain = strips ? stripped(read, { isLineStart }) : read;
      line = expands ? plain.replace(/[\\$`]/g, '\\$&') : plain;
    } else line = renderExpansion(part, context, 'document');
    rendered += line;
    if (line !== '') isLineStart = line.endsWith('\n');
  }
  return { body: rendered, expands };
}

function spansLines({ type, text }: WordPart): boolean {
  return type !== 'Literal' && text.includes('\n');
}

/** Without the tabs in front of each line. */
function stripped(text: string, { isLineStart } = { isLineStart: true }): string {
  const rest = text.replace(/\n\t+/g, '\n');
  return isLineStart ? rest.replace(/^\t+/, '') : rest;
}

/** A closing line that is none of the text. */
function delimiterFor(body: string): string {
  const lines = new Set(body.split('\n'));
  let delimiter = 'EOF';
  for (let count = 1; lines.has(delimiter); count++) delimiter = `EOF${count}`;
  return delimiter;
}
