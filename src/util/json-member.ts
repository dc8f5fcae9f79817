import {
  indentStep,
  insert,
  isEmptyContainer,
  lineIndent,
  reindented,
  skipBlank,
  spanOf,
  valueEnd,
} from './json-edit.js';
import { isRecord } from './own.js';

/**
 * Sets a member of an object inside JSON text and leaves every other byte as it was. Missing objects
 * on the way are made. The text must be valid JSON, an object; undefined when some value on the way
 * is of another kind.
 */
export function setMember(
  text: string,
  way: readonly string[],
  value: unknown,
): string | undefined {
  let at: unknown = JSON.parse(text);
  let depth = 0;
  for (; depth < way.length; depth++) {
    if (!isRecord(at)) return undefined;
    const key = way[depth] ?? '';
    if (!Object.hasOwn(at, key)) break;
    at = at[key];
  }
  const step = indentStep(text);
  if (depth === way.length) {
    const span = spanOf(text, way);
    const indent = lineIndent(text, span.start);
    return `${text.slice(0, span.start)}${shown(value, step, indent)}${text.slice(span.end)}`;
  }
  if (!isRecord(at)) return undefined;
  const [key = '', ...deeper] = way.slice(depth);
  const content = deeper.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const span = spanOf(text, way.slice(0, depth));
  const isMultiline = text.slice(span.start, span.end).includes('\n');
  const inner =
    isMultiline || isEmptyContainer(text, span)
      ? shown(content, step, `${lineIndent(text, span.start)}${step}`)
      : JSON.stringify(content);
  return insert(text, span, { parts: [`${JSON.stringify(key)}: ${inner}`], step });
}

/** Takes a member away, each time that its key stands there; undefined when there is none. */
export function removeMember(text: string, way: readonly string[]): string | undefined {
  const key = way.at(-1);
  let holder: unknown = JSON.parse(text);
  for (const name of way.slice(0, -1))
    holder = isRecord(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
  if (key === undefined || !isRecord(holder) || !Object.hasOwn(holder, key)) return undefined;
  let left = text;
  for (;;) {
    const shorter = withoutOne(left, way.slice(0, -1), key);
    if (shorter === undefined) return left;
    left = shorter;
  }
}

function withoutOne(text: string, way: readonly string[], key: string): string | undefined {
  const { start, end } = spanOf(text, way);
  let at = skipBlank(text, start + 1);
  let before = start + 1;
  while (text[at] === '"') {
    const keyEnd = valueEnd(text, at);
    const valueStart = skipBlank(text, skipBlank(text, keyEnd) + 1);
    const valueStop = valueEnd(text, valueStart);
    const next = skipBlank(text, valueStop);
    const hasNext = text[next] === ',';
    if (JSON.parse(text.slice(at, keyEnd)) === key) {
      // With the comma behind it, or, at the end, the one before it.
      const from = hasNext || before === start + 1 ? before : before - 1;
      const rest = hasNext ? next + 1 : valueStop;
      const isLast = !hasNext && before === start + 1;
      return `${text.slice(0, from)}${text.slice(isLast ? end - 1 : rest)}`;
    }
    before = next + 1;
    at = skipBlank(text, next + 1);
    if (!hasNext) return undefined;
  }
  return undefined;
}

function shown(value: unknown, step: string, indent: string): string {
  return reindented(JSON.stringify(value, null, step), indent);
}
