import { quoteMarks } from '../../lib/text/quote-marks.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { sha256 } from '../../platform/hash.js';

/** The longest name that all providers take. */
export const LONGEST_NAME = 64;
/** Hexadecimal: a server that looks for two names with one hash must not find them. */
const HASH_CHARS = 16;
/** Nobody calls a tool so; a name this long is meant to be cut. */
const LONGEST_RAW = 256;

/** Every other character becomes one underscore. */
export function normaliseName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_');
}

export interface ToolNames {
  readonly name: string;
  /** The whole name where it was too long: rules and people may still write it. */
  readonly long?: string;
}

/**
 * `mcp__server__tool`. One that is too long keeps its beginning and ends with a hash of the whole. Where
 * that begins, no `__` comes about: it would end the name of another server.
 */
export function toolNames(key: string, tool: string): ToolNames {
  const whole = `mcp__${key}__${normaliseName(tool)}`;
  if (whole.length <= LONGEST_NAME) return { name: whole };
  const hash = sha256(JSON.stringify([key, tool])).slice(0, HASH_CHARS);
  const beginning = whole.slice(0, LONGEST_NAME - HASH_CHARS - 1).replace(/_+$/, '');
  return { name: `${beginning}_${hash}`, long: whole };
}

/** Why a tool cannot be offered by the name that its server gives it. */
export function toolNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'it has no name';
  if (name.length > LONGEST_RAW) return `its name has ${name.length} characters`;
  return lookAlike(name);
}

/** For messages: a name from outside, short and with nothing invisible in it. */
export function shownName(name: unknown): string {
  const text = typeof name === 'string' ? name : String(name);
  const cut = sliceWhole(text, 0, 80);
  return JSON.stringify(visible(cut) + (cut.length < text.length ? '…' : ''));
}

/** Why a name may be taken for another one; undefined when it may not. */
export function lookAlike(name: string): string | undefined {
  // fail-closed: what people read and what is called must be the same.
  if (hasHidden(name)) return 'its name holds characters that are not seen';
  const plain = name.normalize('NFKC');
  if (lettersOf(plain) !== lettersOf(name)) return 'its name holds look-alikes of plain letters';
  const scripts = LOOKALIKE_SCRIPTS.filter((script) => script.test(name));
  if (scripts.length === 0) return undefined;
  if (/\p{Script=Latin}/u.test(name) || scripts.length > 1) {
    return 'its name mixes alphabets whose letters look alike';
  }
  return [...name].every((char) => TWINS.includes(char) || /[\x20-\x7e]/.test(char))
    ? 'its name is made of letters of another alphabet that look like Latin ones'
    : undefined;
}

function lettersOf(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '');
}

const LOOKALIKE_SCRIPTS: readonly RegExp[] = [
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Lisu}/u,
  /\p{Script=Coptic}/u,
];

/** Letters that nobody can tell from Latin ones. */
const TWINS =
  'АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝѡгпкмтвԍԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχօսոցհՍՏᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜⲞⲢⲤⲦ';

/** Line breaks, tabs and indentation are layout; all else that is not seen is shown as its code. */
const LAYOUT = /(\n|\t| {6,})/;

/**
 * A server's text as the model may read it: nothing in it is invisible, it imitates none of our
 * marks, and what was cut off is said.
 */
export function shownText(text: string, cap: number): string {
  // Measured first, so that a text of megabytes costs nothing.
  const kept = sliceWhole(text, 0, cap);
  const shown = kept
    .replace(/\r\n?/g, '\n')
    .split(LAYOUT)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join('');
  const cut = text.length - kept.length;
  return quoteMarks(cut === 0 ? shown : `${shown}… [${cut} more characters were cut off]`);
}

/** Whether a name holds something that is not seen, or blanks that are none. */
export function hasHidden(text: string): boolean {
  return visible(text) !== text;
}
