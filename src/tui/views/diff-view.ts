import type { PatchHunk } from '../../lib/diff.js';
import { isRecord } from '../../lib/own.js';
import { cutLine, type Line, line, STYLE, span, wrapLine } from '../screen/line.js';

/** A change of a file by lines, with line numbers and colours. */
export function renderHunks(hunks: readonly PatchHunk[], columns: number): Line[] {
  const last = hunks.at(-1);
  const digits = String(
    Math.max(
      1,
      last === undefined ? 1 : last.oldStart + last.oldLines,
      last === undefined ? 1 : last.newStart + last.newLines,
    ),
  ).length;
  return hunks.flatMap((hunk, index) => [
    ...(index === 0 ? [] : [line(span(`${' '.repeat(digits)} ⋯`, STYLE.dim))]),
    ...renderHunk(hunk, digits, columns),
  ]);
}

function renderHunk(hunk: PatchHunk, digits: number, columns: number): Line[] {
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  return hunk.lines.flatMap((row) => {
    const mark = row.slice(0, 1);
    const text = row.slice(1);
    if (mark === '\\') return [line(span(`${' '.repeat(digits)}   ${row.slice(2)}`, STYLE.dim))];
    const number = mark === '-' ? oldLine : newLine;
    if (mark !== '+') oldLine++;
    if (mark !== '-') newLine++;
    const style = mark === '+' ? STYLE.added : mark === '-' ? STYLE.removed : undefined;
    return wrapLine(line(span(text, style)), columns, {
      first: line(span(`${String(number).padStart(digits)} `, STYLE.dim), span(`${mark} `, style)),
      rest: line(span(`${' '.repeat(digits)}   `, STYLE.dim)),
      anywhere: true,
    });
  });
}

/** How many lines a change adds and removes. */
export function countChanges(hunks: readonly PatchHunk[]): {
  readonly added: number;
  readonly removed: number;
} {
  const all = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: all.filter((row) => row.startsWith('+')).length,
    removed: all.filter((row) => row.startsWith('-')).length,
  };
}

/** The hunks that the result of a file-changing call carries. */
export function hunksOfResult(structured: unknown): readonly PatchHunk[] | undefined {
  if (!isRecord(structured) || !Array.isArray(structured.structuredPatch)) return undefined;
  return structured.structuredPatch.filter(
    (hunk): hunk is PatchHunk =>
      isRecord(hunk) && Array.isArray(hunk.lines) && typeof hunk.oldStart === 'number',
  );
}

/** The first rows of a long block, and how many are left out. */
export function foldRows(
  rows: readonly Line[],
  most: number,
  columns: number,
  hint: string,
): Line[] {
  if (rows.length <= most + 1) return [...rows];
  const left = rows.length - most;
  return [
    ...rows.slice(0, most),
    cutLine(line(span(`… ${left} more lines${hint}`, STYLE.dim)), columns),
  ];
}
