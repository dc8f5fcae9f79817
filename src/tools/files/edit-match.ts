import { sliceWhole } from '../../lib/truncate.js';
import { lineEndOf, linesOf, toCrlf } from './text-file.js';

export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Where the text occurs. Plain `\n` in it also stands for the `\r\n` of a file that has those. */
export function findMatches(text: string, wanted: string): Match[] {
  const exact = occurrences(text, wanted);
  if (!wanted.includes('\n') || wanted.includes('\r\n') || !text.includes('\r\n')) return exact;
  return [...exact, ...occurrences(text, toCrlf(wanted))].sort((a, b) => a.start - b.start);
}

/** Each replacement gets the line ends of the text it replaces, or else of the file. */
export function replaceMatches(
  text: string,
  matches: readonly Match[],
  replacement: string,
): string {
  const fileEnd = lineEndOf(text);
  const parts: string[] = [];
  let at = 0;
  for (const match of matches) {
    const replaced = text.slice(match.start, match.end);
    const crlf = replaced.includes('\r\n') || (!replaced.includes('\n') && fileEnd === '\r\n');
    parts.push(text.slice(at, match.start), crlf ? toCrlf(replacement) : replacement);
    at = match.end;
  }
  return parts.join('') + text.slice(at);
}

export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1))
    line++;
  return line;
}

const SNIPPET_CONTEXT = 3;
const SNIPPET_LINES = 24;
const SNIPPET_LINE_CHARS = 400;

/** The changed lines with some around them, numbered like Read's, so that no second Read is needed. */
export function snippetAround(text: string, start: number, inserted: string): string {
  const lines = linesOf(text);
  const changedFrom = lineAt(text, start);
  const changedTo = changedFrom + inserted.split('\n').length - 1;
  const from = Math.max(1, changedFrom - SNIPPET_CONTEXT);
  const to = Math.min(lines.length, changedTo + SNIPPET_CONTEXT, from + SNIPPET_LINES - 1);
  const numbered = lines
    .slice(from - 1, to)
    .map((line, index) => `${from + index}\t${shortened(line)}`);
  if (to < Math.min(lines.length, changedTo)) numbered.push('…');
  return numbered.length === 0 ? '[the file is now empty]' : numbered.join('\n');
}

function shortened(line: string): string {
  return line.length <= SNIPPET_LINE_CHARS ? line : `${sliceWhole(line, 0, SNIPPET_LINE_CHARS)}…`;
}

function occurrences(text: string, wanted: string): Match[] {
  const found: Match[] = [];
  let at = text.indexOf(wanted);
  while (at !== -1) {
    found.push({ start: at, end: at + wanted.length });
    at = text.indexOf(wanted, at + wanted.length);
  }
  return found;
}
