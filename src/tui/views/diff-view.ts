import { type PatchHunk, structuredPatch } from '../../util/diff.js';
import { isRecord } from '../../util/own.js';
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

/** What a file-changing call would do, as a difference against the file as it is now. */
export interface ProposedChange {
  readonly path: string;
  readonly note: string;
  readonly hunks: readonly PatchHunk[];
}

/** The text of a file; undefined: there is none, or it cannot be read. */
export type ReadText = (path: string) => string | undefined;

/** Undefined for calls that do not change one file by its text. */
export function proposedChange(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  readText: ReadText,
): ProposedChange | undefined {
  const { file_path: path, old_string: before, new_string: after, content } = input;
  if (typeof path !== 'string') return undefined;
  if (tool === 'Edit' && typeof before === 'string' && typeof after === 'string') {
    const current = readText(path);
    const everywhere = input.replace_all === true;
    if (current !== undefined && before !== '' && current.includes(before)) {
      const edited = everywhere
        ? current.replaceAll(before, () => after)
        : current.replace(before, () => after);
      return { path, note: '', hunks: structuredPatch(current, edited) };
    }
    const note =
      current === undefined
        ? 'The file could not be read; only the replaced text is shown.'
        : 'The file does not contain this text now.';
    const ended = (text: string): string => text.replace(/(?<=[^\n])$/, '\n');
    return {
      path,
      note: before === '' ? 'New text.' : note,
      hunks: structuredPatch(ended(before), ended(after)),
    };
  }
  if (tool !== 'Write' || typeof content !== 'string') return undefined;
  const current = readText(path);
  return {
    path,
    note: current === undefined ? 'New file.' : 'Replaces the whole file.',
    hunks: structuredPatch(current ?? '', content),
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
