import type { Frontmatter } from '../../lib/frontmatter/frontmatter.js';
import type { DoubtfulLine } from '../../lib/frontmatter/head-text.js';
import { firstWord } from '../../lib/frontmatter/tolerant-head.js';
import { oneLine, removeInvisible } from '../discovery/names.js';
import type { SkillProblem } from '../skill.js';
import { FENCE, nearRestriction, WHO_MAY_CALL } from './fields.js';

/** The most lines that are searched as possible front matter. */
const MOST_LINES = 400;
/** Lines that people mistake for the `---` fence: too long, other dashes, TOML, or with text behind. */
const RULER = /^(?:-{2,}|[–—]|\+{3}|={3})/;
const END = /^(?:-{2,}|[–—]+|\+{3,}|={3,}|\.{3})$/;
/** Front matter whose opening fence was forgotten. */
const FIELD = /^["']?(?:name|description)["']?\s*:/i;
const CODE = /^(?:`{3}|~{3})/;
const NAME = /(?:^|[{,])\s*["']?([A-Za-z_][\w.-]*)["']?\s*[:=]/g;
/** Without `hooks`, because ordinary texts begin with such words. */
const HOLD_BACK: ReadonlySet<string> = new Set([
  'disallowed-tools',
  'portcullis',
  FENCE,
  ...WHO_MAY_CALL,
]);

/**
 * Finds a restriction in text at the beginning of a file that was meant as front matter but is not: after
 * blanks, hidden characters, a comment or a title, between other fences or without any, or in a code block.
 * fail-closed: as ordinary text it would restrict nothing.
 */
export function lostRestriction(
  read: Pick<Frontmatter, 'how' | 'problem'>,
  text: string,
): { readonly line: number; readonly message: string } | undefined {
  if (read.how !== 'none' || read.problem !== undefined) return undefined;
  const lines = text.split(/\r\n?|\n/, MOST_LINES).map((line) => removeInvisible(line).trim());
  const start = openingOf(lines);
  const first = lines[start] ?? '';
  const isCode = CODE.test(first);
  const isOpened = isCode || RULER.test(first);
  if (!isOpened && !FIELD.test(first) && restrictionIn(first) === undefined) return undefined;
  const closes = isCode ? CODE : END;
  for (let at = isOpened ? start + 1 : start; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (closes.test(line) || (line === '' && !isOpened)) return undefined;
    const name = restrictionIn(line);
    if (name === undefined) continue;
    const message = `"${name}" does not stand in a head; the file must begin with --- alone on its line`;
    return { line: at + 1, message };
  }
  return undefined;
}

/** The first line that is no comment; after a title only when a fence follows. */
function openingOf(lines: readonly string[]): number {
  let inComment = false;
  let title: number | undefined;
  for (const [index, line] of lines.entries()) {
    const opens: boolean = inComment || line.startsWith('<!--');
    inComment = opens && !line.includes('-->');
    if (opens || line === '') continue;
    if (title !== undefined) return RULER.test(line) ? index : title;
    if (!line.startsWith('#')) return index;
    title = index;
  }
  return title ?? 0;
}

function restrictionIn(line: string): string | undefined {
  for (const [, name = ''] of line.matchAll(NAME)) {
    const isOne = name.split('.').some((part) => HOLD_BACK.has(nearRestriction(part) ?? ''));
    if (isOne) return name;
  }
  return undefined;
}

/**
 * Restricting fields, with their lines, in lines that are not `field: value` (`disallowed-tools = Bash`).
 * fail-closed: unparsed they would restrict nothing. An indented line continues a text and counts only if
 * it assigns a value.
 */
export function namedRestrictions(
  lines: readonly DoubtfulLine[],
): readonly (readonly [string, number])[] {
  return lines.flatMap(({ text, line }) => {
    const { word, isSeparated } = firstWord(text);
    const isOne = HOLD_BACK.has(nearRestriction(word) ?? '');
    return isOne && (isSeparated || !/^\s/.test(text)) ? [[word, line] as const] : [];
  });
}

/** More than a person corrects at once; front matter may contain any number of unknown fields. */
const MOST = 20;

/** The first problems, all about fields that count, and how many more there are. */
export function fewProblems(problems: readonly SkillProblem[]): readonly SkillProblem[] {
  if (problems.length <= MOST) return problems;
  const shown = problems.filter(({ field }, index) => index < MOST || field !== undefined);
  const rest = problems.length - shown.length;
  return rest === 0 ? shown : [...shown, { message: `and ${rest} more problems in its head` }];
}

const LONGEST_FIRST_WORDS = 1_536;

/** The first paragraph that is no heading, else the first heading. */
export function firstWords(body: string): string {
  const paragraphs = body
    .slice(0, 4 * LONGEST_FIRST_WORDS)
    .split(/\n[ \t]*\n/)
    .map((part) => part.replace(/^(?:[ \t]*#{1,6}[ \t].*\n?)+/, '').trim());
  const first = paragraphs.find((part) => part !== '' && !part.startsWith('<!--'));
  const heading = /^[ \t]*#{1,6}[ \t]+(.*)$/m.exec(body.slice(0, LONGEST_FIRST_WORDS))?.[1];
  return oneLine(first ?? heading ?? '').slice(0, LONGEST_FIRST_WORDS);
}
