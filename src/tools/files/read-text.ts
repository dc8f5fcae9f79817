import { sliceWhole } from '../../lib/text/truncate.js';
import type { FileSystem, OpenOptions } from '../../platform/fs/fs.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import type { FileVersion } from '../tool.js';
import { linesOf, type TextFile } from './text-file.js';

/** Lines shown when no limit is given. */
const DEFAULT_LINES = 2000;
/** About 25k tokens. */
export const SHOWN_CHARS = 100_000;
/** `allow_large` multiplies both. */
export const LARGE_FACTOR = 4;
/** A line is shown whole up to this. */
export const LINE_CHARS = 20_000;

/** What the number of a line is counted as. */
const NUMBER_CHARS = 8;

type RangeInput = Pick<ToolInputs['Read'], 'offset' | 'limit' | 'allow_large'>;

export type ReadPart =
  | { readonly ok: false; readonly reason: string }
  | {
      readonly ok: true;
      readonly content: string;
      /** `whole`, the lines that were shown whole, or undefined when lines were cut. */
      readonly seen: 'whole' | FileVersion['part'];
      readonly file: {
        readonly content: string;
        readonly numLines: number;
        readonly startLine: number;
        readonly totalLines: number;
        readonly truncatedByTokenCap?: true;
      };
    };

/** The asked-for lines of a text that is in memory. */
export function readLines(path: string, file: TextFile, input: RangeInput): ReadPart {
  if (file.text === '') return emptyFile(path);
  const lines = linesOf(file.text);
  const from = Math.max(1, input.offset ?? 1);
  if (from > lines.length) return pastTheEnd(path, from, lines.length);
  const fitted = fitting(lines, from, limitsOf(input));
  return shown(path, { from, total: lines.length, input, file, ...fitted });
}

/** The asked-for lines of a file too large to hold. Stops reading where the range ends. */
export async function streamLines(
  fs: FileSystem,
  path: string,
  options: OpenOptions & { input: RangeInput; signal: AbortSignal },
): Promise<ReadPart> {
  const { input } = options;
  const from = Math.max(1, input.offset ?? 1);
  const limits = limitsOf(input);
  const decoder = new TextDecoder();
  const lines: string[] = [];
  let total = 0;
  let chars = 0;
  let rest = '';
  const isFull = (): boolean => lines.length >= limits.lines || chars > limits.chars;
  const take = (line: string): void => {
    if (++total < from || isFull()) return;
    lines.push(line.replace(/\r$/, ''));
    chars += line.length;
  };
  for await (const chunk of fs.stream(path, options)) {
    options.signal.throwIfAborted();
    if (total === 0 && rest === '' && chunk.includes(0)) {
      return { ok: false, reason: `${path} is a binary file.` };
    }
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    // The text beyond the longest line is cut anyway.
    rest = (parts.pop() ?? '').slice(0, LINE_CHARS + 1);
    for (const line of parts) take(line);
    if (isFull()) break;
  }
  const openEnded = isFull();
  if (!openEnded && rest !== '') take(rest);
  if (lines.length === 0) return pastTheEnd(path, from, total);
  if (openEnded) total++;
  return shown(path, { from, total, input, openEnded, ...fitting(lines, 1, limits) });
}

interface Limits {
  readonly lines: number;
  readonly chars: number;
}

function limitsOf(input: RangeInput): Limits {
  const factor = input.allow_large ? LARGE_FACTOR : 1;
  return { lines: input.limit ?? DEFAULT_LINES * factor, chars: SHOWN_CHARS * factor };
}

interface Fitted {
  readonly lines: readonly string[];
  readonly cutLines: number;
  /** The characters ran out before the lines did. */
  readonly full: boolean;
}

/** As many lines from `from` on as the limits let through, over-long ones cut. */
function fitting(all: readonly string[], from: number, limits: Limits): Fitted {
  const lines: string[] = [];
  let chars = 0;
  let cutLines = 0;
  const end = Math.min(all.length, from - 1 + limits.lines);
  for (let index = from - 1; index < end; index++) {
    const line = all[index] ?? '';
    const isCut = line.length > LINE_CHARS;
    const text = isCut ? cutLine(line) : line;
    chars += text.length + NUMBER_CHARS;
    if (chars > limits.chars) return { lines, cutLines, full: true };
    if (isCut) cutLines += 1;
    lines.push(text);
  }
  return { lines, cutLines, full: false };
}

function cutLine(line: string): string {
  const kept = sliceWhole(line, 0, LINE_CHARS);
  return `${kept}… [${line.length - kept.length} more characters in this line]`;
}

interface ShownPart extends Fitted {
  readonly from: number;
  readonly total: number;
  readonly input: RangeInput;
  readonly file?: TextFile;
  /** There is more, and how much was not counted. */
  readonly openEnded?: boolean;
}

function shown(path: string, part: ShownPart): ReadPart {
  const { lines, from, total, input } = part;
  const to = from + lines.length - 1;
  if (part.full && input.limit !== undefined) {
    return {
      ok: false,
      reason: `Lines ${from}-${from + input.limit - 1} of ${path} are more than one Read shows (about 25k tokens). Use limit=${lines.length} or less.`,
    };
  }
  const isWhole = from === 1 && to >= total && part.openEnded !== true;
  const content: string[] = [];
  for (let index = 0; index < lines.length; index++)
    content.push(`${from + index}\t${lines[index]}`);
  for (const note of notesOn(part, to)) content.push(`[${note}]`);
  const seenPart = { from, to, total };
  const file = {
    content: lines.join('\n'),
    numLines: lines.length,
    startLine: from,
    totalLines: total,
  };
  return {
    ok: true,
    content: content.join('\n'),
    seen: part.cutLines > 0 || part.openEnded ? undefined : isWhole ? 'whole' : seenPart,
    file: part.full ? { ...file, truncatedByTokenCap: true } : file,
  };
}

/** What the model has to know about the lines up to `to`. */
function notesOn(part: ShownPart, to: number): readonly string[] {
  const { cutLines, file, from, total, input } = part;
  const notes: string[] = [];
  if (cutLines > 0)
    notes.push(`${cutLines} very long line(s) cut; use Grep with -o to look inside.`);
  if (file?.damaged) notes.push('Not valid UTF-8: the bytes that are not were replaced by �.');
  if (file !== undefined && file.encoding !== 'utf-8') {
    notes.push(`The file is stored as ${file.encoding.toUpperCase()}.`);
  }
  if (to < total && input.limit === undefined) {
    const all = part.openEnded ? `more than ${to}` : total;
    notes.push(`PARTIAL: lines ${from}-${to} of ${all}. Read on with offset=${to + 1}.`);
  }
  return notes;
}

function emptyFile(path: string): ReadPart {
  return {
    ok: true,
    content: `[${path} exists and is empty.]`,
    seen: 'whole',
    file: { content: '', numLines: 0, startLine: 1, totalLines: 0 },
  };
}

function pastTheEnd(path: string, from: number, total: number): ReadPart {
  return {
    ok: true,
    content: `${path} has ${total} lines; offset ${from} is past its end.`,
    seen: undefined,
    file: { content: '', numLines: 0, startLine: from, totalLines: total },
  };
}
