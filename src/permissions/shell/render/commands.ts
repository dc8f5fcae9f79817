import type { Assignment, Command, Redirection, Word } from 'unbash';
import { addRedirection } from './redirections.js';
import { refuse } from './refusal.js';
import { renderIndex, renderWord } from './words.js';
import type { RenderContext, Writer } from './writer.js';

/** Builtins whose arguments bash reads as assignments: only by their bare names, with bare options. */
const DECLARES = /^(?:declare|typeset|local|export|readonly)$/;

export function addCommand(command: Command, writer: Writer, context: RenderContext): void {
  const { name, prefix, suffix } = command;
  const items = [...prefix, ...(name === undefined ? [] : [name]), ...suffix];
  checkSpacing(items, command, context);
  checkRunTimeWords(command);
  const declares = name !== undefined && DECLARES.test(name.text);
  items.forEach((item, at) => {
    if (at > 0) writer.add(' ');
    if (item.type === 'Assignment') {
      if (at >= prefix.length && !declares)
        refuse('ambiguous', 'has an assignment among arguments');
      writer.add(assignmentText(item, context));
    } else if (item.type !== 'Word') addRedirection(item, writer, context);
    else if (declares && (item === name || /^[-+][A-Za-z]+$/.test(item.text)))
      writer.add(item.text);
    else writer.add(renderWord(item, context));
  });
}

type Item = Word | Assignment | Redirection;

/** Blanks separate words; a redirection may touch a word behind it. */
function checkSpacing(items: readonly Item[], { pos, end }: Command, context: RenderContext): void {
  let at = pos;
  items.forEach((item, index) => {
    context.source.expect(at, item.pos, '');
    const before = items[index - 1];
    const touches = before !== undefined && item.pos === at;
    const isRedirection = item.type !== 'Word' && item.type !== 'Assignment';
    const text = before === undefined ? '' : context.source.slice(before);
    if (
      touches &&
      (!isRedirection || (/[\w})]$/.test(text) && /^[\d{]/.test(context.source.slice(item))))
    ) {
      refuse('ambiguous', 'has words that touch');
    }
    if (touches && /(?:^|[^\w])\d+$|\}$/.test(text))
      refuse('ambiguous', 'has a number that touches a redirection');
    at = item.end;
  });
  if (at !== end) context.source.expect(at, end, '');
}

/** Code that bash makes of words while it parses or later, which quoting would change. */
function checkRunTimeWords({ name, suffix }: Command): void {
  const words = suffix.filter((item) => item.type === 'Word');
  if (
    name?.value === 'alias' &&
    suffix.some(
      (item) => item.type === 'Assignment' || (item.type === 'Word' && item.value.includes('=')),
    )
  ) {
    refuse('construct', 'defines an alias');
  }
  const isPrefix = name?.value === 'command' || name?.value === 'builtin';
  const hides = isPrefix && words.some(({ value }) => DECLARES.test(value));
  if (hides && words.some(({ text, parts }) => parts !== undefined && /^\w+\+?=/.test(text))) {
    refuse('quoting', 'sets a variable behind `command`');
  }
}

function assignmentText(assignment: Assignment, context: RenderContext): string {
  const { name, index, append, value } = assignment;
  if (!/^[A-Za-z_]\w*$/.test(name)) refuse('ambiguous', 'sets a variable with an unusual name');
  const subscript = index === undefined ? '' : `[${renderIndex(index, context)}]`;
  const operator = append === true ? '+=' : '=';
  const head = context.source.text.slice(assignment.pos, value.pos);
  if (!/^[A-Za-z_]\w*(?:\[[^\n]*\])?\+?=$/.test(head))
    refuse('ambiguous', 'has an unusual assignment');
  const target = `${name}${subscript}${operator}`;
  if (value.type === 'Word')
    return target + (value.text === '' ? '' : renderWord(value, context, 'value'));
  const { elements, pos, end } = value;
  let at = pos + 1;
  const rendered = elements.map((element) => {
    context.source.expect(at, element.pos, '');
    if (element.pos === at && at !== pos + 1) refuse('ambiguous', 'has words that touch');
    at = element.end;
    return elementText(element, context);
  });
  context.source.expect(at, end, ')');
  return `${target}( ${rendered.join(' ')} )`;
}

function elementText(element: Word, context: RenderContext): string {
  const { groups } =
    /^\[(?<key>\w+|(?<quote>["'])\w+\k<quote>)\](?<operator>\+?=)/.exec(element.text) ?? {};
  if (groups === undefined) {
    return element.text.startsWith('[')
      ? refuse('quoting', 'has an array index that is worked out')
      : renderWord(element, context);
  }
  const key = groups.key?.replace(/["']/g, '') ?? '';
  const head = `[${key}]${groups.operator}`;
  const rest = element.text.slice(`[${groups.key}]${groups.operator}`.length);
  if (!/^[\w.,:/@%+-]*$/.test(rest)) {
    const last = element.parts?.at(-1);
    const isOnePart = last !== undefined && last.text === rest;
    if (!isOnePart) refuse('quoting', 'has an array element of several parts');
    return (
      head +
      renderWord(
        { type: 'Word', text: last.text, value: rest, pos: last.pos, end: last.end, parts: [last] },
        context,
        'value',
      )
    );
  }
  return rest === '' ? head : `${head}'${rest}'`;
}
