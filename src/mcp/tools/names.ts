import { escapeReservedTags } from '../../lib/text/reserved-tags.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { sha256 } from '../../platform/hash.js';

/** The longest tool name that all providers accept. */
export const LONGEST_NAME = 64;
/** Hex digits of the hash, enough that a server cannot construct a collision. */
const HASH_CHARS = 16;
/** Longer names are refused as suspicious. */
const LONGEST_RAW = 256;

/** Replaces every other character with an underscore. */
export function normaliseName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_');
}

export interface ToolNames {
  readonly name: string;
  /** The full name when `name` is shortened; rules and people may use it. */
  readonly long?: string;
}

/**
 * `mcp__server__tool`. A name over the limit is cut and ends with a hash of the whole; the cut creates no
 * `__`, which would end another server's name.
 */
export function toolNames(key: string, tool: string): ToolNames {
  const whole = `mcp__${key}__${normaliseName(tool)}`;
  if (whole.length <= LONGEST_NAME) return { name: whole };
  const hash = sha256(JSON.stringify([key, tool])).slice(0, HASH_CHARS);
  const beginning = whole.slice(0, LONGEST_NAME - HASH_CHARS - 1).replace(/_+$/, '');
  return { name: `${beginning}_${hash}`, long: whole };
}

/** Why the server's name for a tool is unusable. */
export function toolNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'it has no name';
  if (name.length > LONGEST_RAW) return `its name has ${name.length} characters`;
  return lookAlike(name);
}

/** Quotes and shortens an external name for messages. */
export function shownName(name: unknown): string {
  const text = typeof name === 'string' ? name : String(name);
  const cut = sliceWhole(text, 0, 80);
  return JSON.stringify(visible(cut) + (cut.length < text.length ? '…' : ''));
}

/** Why a name could be mistaken for another; undefined when it could not. */
export function lookAlike(name: string): string | undefined {
  // fail-closed: the name shown and the name called must be the same.
  if (hasInvisible(name)) return 'its name holds characters that are not seen';
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

/** Letters that look exactly like Latin ones. */
const TWINS =
  'АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝѡгпкмтвԍԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορτυχօսոցհՍՏᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜⲞⲢⲤⲦ';

/** Line breaks, tabs and indentation stay; other invisible characters become escapes. */
const LAYOUT = /(\n|\t| {6,})/;

/** Sanitises a server's text for the model: escapes invisible characters, quotes our markers and notes a cut. */
export function shownText(text: string, cap: number): string {
  // Cuts first, so that huge texts cost nothing.
  const kept = sliceWhole(text, 0, cap);
  const shown = kept
    .replace(/\r\n?/g, '\n')
    .split(LAYOUT)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join('');
  const cut = text.length - kept.length;
  return escapeReservedTags(cut === 0 ? shown : `${shown}… [${cut} more characters were cut off]`);
}

/** Whether a name contains invisible characters or unusual blanks. */
export function hasInvisible(text: string): boolean {
  return visible(text) !== text;
}
