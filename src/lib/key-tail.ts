import { GONE } from './secret-shapes.js';

const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** The number that a listing puts before a line. */
const NUMBER = '\\s{0,12}(?:\\d{1,7}[\\t→|:]\\s{0,4})?';
const LAST_LINE = new RegExp(`${NUMBER}[A-Za-z0-9+/]{1,128}={0,2}\\s{0,2}$`);
/** A word of prose is shorter. */
const KEY_LINE = new RegExp(`${NUMBER}[A-Za-z0-9+/]{32,128}={0,2}\\s{0,2}$`);
const NUMBER_AT_END = new RegExp(`${NUMBER}$`);
const MOST_LINES = 400;
/** Longer ones are no lines of a key. */
const LONGEST = 160;
/** Between two lines: of text, or of text inside a string. */
const BETWEEN = ['\n', '\\n'];

/** Takes out the end of a private key whose beginning was cut off, as `tail` and a limit of lines do. */
export function withoutKeyTails(text: string): string {
  let clean = '';
  let done = 0;
  for (const { index, 0: end } of text.matchAll(KEY_END)) {
    const from = tailStart(text, done, index);
    if (from === undefined) continue;
    clean += `${text.slice(done, from)}${GONE}`;
    done = index + end.length;
  }
  return done === 0 ? text : clean + text.slice(done);
}

/** Where the lines of the key before `end` begin, not before `floor`; undefined when there is none. */
function tailStart(text: string, floor: number, end: number): number | undefined {
  let start = end - numberLength(text, floor, end);
  let found: number | undefined;
  for (let lines = 0; lines < MOST_LINES && start > floor; lines++) {
    const between = BETWEEN.find((one) => text.endsWith(one, start));
    if (between === undefined) break;
    const lineEnd = start - between.length;
    const lineStart = startOfLine(text, floor, lineEnd);
    const line = (lines === 0 ? LAST_LINE : KEY_LINE).exec(text.slice(lineStart, lineEnd));
    if (line === null) break;
    found = lineStart + line.index;
    // Something else stands before it in its line: the key begins here.
    if (line.index > 0) break;
    start = lineStart;
  }
  return found;
}

function numberLength(text: string, floor: number, end: number): number {
  const line = text.slice(startOfLine(text, floor, end), end);
  return NUMBER_AT_END.exec(line)?.[0].length ?? 0;
}

/** Or a place in the line from which on all of a key's line fits. */
function startOfLine(text: string, floor: number, end: number): number {
  const near = Math.max(floor, end - LONGEST);
  const part = text.slice(near, end);
  const ends = BETWEEN.map((one) => part.lastIndexOf(one) + one.length);
  const [behindLine = 0, behindEscape = 0] = ends;
  return (
    near + Math.max(part.includes('\n') ? behindLine : 0, part.includes('\\n') ? behindEscape : 0)
  );
}
