import { sliceWhole } from '../../lib/text/truncate.js';
import { linesOf } from './text-file.js';

/** Says what in the file comes closest to a text that was not found, and how the two differ. */
export function explainNoMatch(text: string, wanted: string): string {
  const lines = linesOf(text);
  if (lines.length === 0) return 'The file is empty.';
  const wantedLines = linesOf(wanted);
  const numbered = wantedLines.map((line) => line.replace(/^\s*\d+\t/, ''));
  if (numbered.join('\n') !== wantedLines.join('\n') && text.includes(numbered.join('\n'))) {
    return 'It begins with line numbers, which Read adds; leave them out.';
  }
  for (const difference of DIFFERENCES) {
    const at = findLines(lines, wantedLines, difference.level);
    if (at !== undefined) {
      const there = lines.slice(at, at + Math.min(wantedLines.length, SHOWN_LINES)).map(visible);
      return `Line ${at + 1} differs only in ${difference.name}. It reads:\n${there.join('\n')}`;
    }
  }
  return closestLine(lines, wantedLines);
}

const SHOWN_LINES = 5;
const SHOWN_CHARS = 200;

/** Ways in which two texts can look alike, from the slightest to the coarsest. */
const DIFFERENCES: readonly { name: string; level: (line: string) => string }[] = [
  { name: 'white space at the end of lines', level: (line) => line.trimEnd() },
  { name: 'indentation (tabs or spaces)', level: (line) => line.trim() },
  { name: 'white space', level: (line) => line.replace(/\s+/g, ' ').trim() },
  {
    name: 'typographic quotes, dashes or spaces',
    level: (line) => plainPunctuation(line).replace(/\s+/g, ' ').trim(),
  },
  { name: 'upper and lower case', level: (line) => plainPunctuation(line).trim().toLowerCase() },
];

function plainPunctuation(line: string): string {
  return line
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/\u2026/g, '...')
    .replace(/[\u00a0\u2000-\u200b\u202f]/g, ' ');
}

/** First line of a run that equals the wanted lines on this level; its ends may lie inside lines. */
function findLines(
  lines: readonly string[],
  wanted: readonly string[],
  level: (line: string) => string,
): number | undefined {
  const goal = wanted.map(level).join('\n');
  if (goal.trim() === '') return undefined;
  const levelled = lines.map(level).join('\n');
  const at = levelled.indexOf(goal);
  return at === -1 ? undefined : levelled.slice(0, at).split('\n').length - 1;
}

/** Below this share of common letter pairs two lines have nothing to do with each other. */
const LIKENESS = 0.5;
const COMPARED_LINES = 20_000;
const COMPARED_CHARS = 300;

function closestLine(lines: readonly string[], wanted: readonly string[]): string {
  const first = wanted.find((line) => line.trim() !== '') ?? '';
  const pairs = pairsOf(first);
  let best = 0;
  let bestAt = -1;
  for (const [index, line] of lines.slice(0, COMPARED_LINES).entries()) {
    const others = pairsOf(line);
    const common = [...pairs].filter((pair) => others.has(pair)).length;
    const likeness = (2 * common) / (pairs.size + others.size || 1);
    if (likeness > best) [best, bestAt] = [likeness, index];
  }
  if (best < LIKENESS) return 'Nothing in the file comes close; Read it again.';
  return `The closest line is ${bestAt + 1}:\n${visible(lines[bestAt] ?? '')}`;
}

/** For Dice's coefficient. */
function pairsOf(line: string): ReadonlySet<string> {
  const text = line.trim().slice(0, COMPARED_CHARS);
  return new Set(
    Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)),
  );
}

/** A line with its tabs and trailing spaces made visible. */
function visible(line: string): string {
  const short = line.length > SHOWN_CHARS ? `${sliceWhole(line, 0, SHOWN_CHARS)}…` : line;
  return JSON.stringify(short);
}
