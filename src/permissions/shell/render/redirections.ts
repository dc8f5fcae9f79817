import type { HereDoc, Redirect, Redirection, WordPart } from 'unbash';
import { unescapedInQuotes } from './literals.js';
import { refuse } from './refusal.js';
import { checkContiguous, renderWord } from './words.js';
import type { Expansion, RenderContext, Writer } from './writer.js';

export function addRedirection(one: Redirection, writer: Writer, context: RenderContext): void {
  const descriptor = descriptorText(one);
  if (one.type === 'HereDoc') {
    const { body, expands } = documentOf(one, context);
    const delimiter = delimiterFor(body);
    writer.add(`${descriptor}<<${expands ? delimiter : `'${delimiter}'`}`);
    writer.addDocument({ delimiter, body });
    return;
  }
  if (one.target === undefined) refuse('syntax', 'has a redirection without a target');
  const head = context.source.text.slice(one.pos, one.target.pos);
  const written = `${descriptor}${one.operator}`;
  if (head.replaceAll('\\\n', '').trimEnd() !== written) {
    refuse('ambiguous', 'has a redirection that was not read whole');
  }
  if (one.type === 'HereString') {
    writer.add(`${written} ${renderWord(one.target, context)}`);
    return;
  }
  writer.add(redirectText(one, descriptor, context));
}

function descriptorText({ descriptor }: Redirection): string {
  if (descriptor === undefined) return '';
  if (descriptor.type === 'FileDescriptorVariable') {
    return /^[A-Za-z_]\w*$/.test(descriptor.name)
      ? `{${descriptor.name}}`
      : refuse('ambiguous', 'has an unusual descriptor');
  }
  const { value } = descriptor;
  return value < 1000 ? String(value) : refuse('ambiguous', 'has an unusual descriptor');
}

function redirectText(one: Redirect, descriptor: string, context: RenderContext): string {
  const { operator, target } = one;
  if (target === undefined) refuse('syntax', 'has a redirection without a target');
  switch (operator) {
    case '>':
    case '>>':
    case '<':
    case '<>':
    case '>|':
      return `${descriptor}${operator} ${renderWord(target, context)}`;
    case '&>':
    case '&>>':
      return `${operator.slice(1)} ${renderWord(target, context)} 2>&1`;
    case '>&':
    case '<&': {
      if (/^(?:\d{1,3}-?|-)$/.test(target.text)) return `${descriptor}${operator}${target.text}`;
      // Bash expands any other word twice, also a quoted one.
      const isFile =
        operator === '>&' && descriptor === '' && /^[A-Za-z_./][\w./-]*$/.test(target.text);
      if (isFile) return `> ${renderWord(target, context)} 2>&1`;
      return refuse('ambiguous', 'copies a descriptor that is not a plain number');
    }
    default:
      return refuse('construct', 'has an unknown redirection');
  }
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
  if (delimiter === undefined || closing === undefined) {
    refuse('syntax', 'has a here-document without its end');
  }
  // Bash and the parser were seen to look for different lines.
  if (
    !/^[\w.-]+$/.test(delimiter.value) ||
    !/^(?:\\?[\w.-]+|(["'])[\w.-]+\1)$/.test(delimiter.text)
  ) {
    refuse('ambiguous', 'has a here-document with an unusual delimiter');
  }
  const strips = operator === '<<-';
  if (delimiter.quoted) return { body: strips ? stripped(body.text) : body.text, expands: false };
  const parts = body.parts ?? [];
  if (parts.length === 0) {
    const text = unescapedInQuotes(body.text, undefined, { document: true });
    return { body: strips ? stripped(text) : text, expands: false };
  }
  checkContiguous(parts, body);
  if (strips && (body.text.includes('\\\n') || parts.some(spansLines))) {
    refuse('quoting', 'has a here-document with tabs in front of lines that go on');
  }
  const expands = parts.some(({ type }) => type !== 'Literal');
  let rendered = '';
  let isLineStart = true;
  for (const part of parts) {
    let text: string;
    if (part.type === 'Literal') {
      const read = unescapedInQuotes(part.text, part.value, { document: true });
      const plain = strips ? stripped(read, { isLineStart }) : read;
      text = expands ? plain.replace(/[\\$`]/g, '\\$&') : plain;
    } else text = context.expansion(expansionOf(part), context, 'document');
    rendered += text;
    if (text !== '') isLineStart = text.endsWith('\n');
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

function expansionOf(part: WordPart): Expansion {
  switch (part.type) {
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
      return part;
    default:
      return refuse('construct', 'has unusual text in a here-document');
  }
}

/** A closing line that is none of the text. */
function delimiterFor(body: string): string {
  const lines = new Set(body.split('\n'));
  let delimiter = 'EOF';
  for (let count = 1; lines.has(delimiter); count++) delimiter = `EOF${count}`;
  return delimiter;
}
