import { isPlainText, LONGEST_PLAIN } from './plain-head.js';

/** What most heads of Markdown files are: a name and a description, each a text of one line. */
export interface EverydayHead {
  readonly name: string;
  readonly description: string;
  /** Their names in the order in which they stand. */
  readonly keys: readonly string[];
  /** On which line of the file each stands. */
  readonly lines: { readonly name: number; readonly description: number };
  /** From 1: where the body begins in the file. */
  readonly bodyLine: number;
  /** The same in the text. */
  readonly bodyAt: number;
}

interface Order {
  /** What stands before each value. */
  readonly first: string;
  readonly second: string;
  readonly keys: readonly string[];
  readonly lines: { readonly name: number; readonly description: number };
}

const NAME_FIRST: Order = {
  first: '---\nname: ',
  second: '\ndescription: ',
  keys: Object.freeze(['name', 'description']),
  lines: Object.freeze({ name: 2, description: 3 }),
};
const DESCRIPTION_FIRST: Order = {
  first: '---\ndescription: ',
  second: '\nname: ',
  keys: Object.freeze(['description', 'name']),
  lines: Object.freeze({ name: 3, description: 2 }),
};
const END = '\n---\n';
const BODY_LINE = 5;

/**
 * Reads such a head and nothing else; undefined for whatever else there is or might be. A project may
 * have hundreds, so nothing is made on the way but the two texts.
 */
export function everydayHead(text: string): EverydayHead | undefined {
  const order = text.startsWith(NAME_FIRST.first) ? NAME_FIRST : DESCRIPTION_FIRST;
  if (order === DESCRIPTION_FIRST && !text.startsWith(order.first)) return undefined;
  const between = text.indexOf('\n', order.first.length);
  if (between === -1 || !text.startsWith(order.second, between)) return undefined;
  const secondAt = between + order.second.length;
  const end = text.indexOf('\n', secondAt);
  if (end === -1 || end >= LONGEST_PLAIN || !text.startsWith(END, end)) return undefined;
  const first = text.slice(order.first.length, between);
  const second = text.slice(secondAt, end);
  if (!isEveryday(first) || !isEveryday(second)) return undefined;
  const isNameFirst = order === NAME_FIRST;
  return {
    name: isNameFirst ? first : second,
    description: isNameFirst ? second : first,
    keys: order.keys,
    lines: order.lines,
    bodyLine: BODY_LINE,
    bodyAt: end + END.length,
  };
}

/** Words of visible ASCII without a colon, none of which begins a comment: what most texts are, at a glance. */
const WORDS = /^[A-Za-z][!-9;-~]*(?: [!"$-9;-~][!-9;-~]*)*$/;
/** Up to this length a text may be `true`, `false` or `null`. */
const LONGEST_WORD_OF_YAML = 5;

function isEveryday(value: string): boolean {
  return (value.length > LONGEST_WORD_OF_YAML && WORDS.test(value)) || isPlainText(value);
}
