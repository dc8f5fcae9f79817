import type { QuestionCall } from '../client/questions.js';
import { nodeFileSystem } from '../env/node-fs.js';
import { resolve } from '../env/paths.js';
import { systemCodeOf } from '../errors.js';
import { structuredPatch } from '../util/diff.js';
import { sliceWhole } from '../util/truncate.js';
import { visible } from '../util/visible.js';

/** A file as it is now: its text, or why there is none to compare with. */
export type CurrentText = { readonly text: string } | 'absent' | 'unreadable';
export type ReadCurrent = (path: string) => CurrentText;

export interface CallPreview {
  /** What is asked about, in one line. */
  readonly title: string;
  /** What the call would do beyond that, each line safe for a terminal. */
  readonly lines: readonly string[];
}

/**
 * What a person has to see before a yes: all of a command, a file's change as a difference, and every
 * other field of the input. What the model wrote cannot pass for words of the question, as each of its
 * lines stands behind a mark.
 */
export function previewCall(
  call: Pick<QuestionCall, 'tool' | 'summary' | 'input' | 'cwd'>,
  readCurrent: ReadCurrent,
): CallPreview {
  const { tool, summary, input } = call;
  const command = tool === 'Bash' && typeof input.command === 'string' ? input.command : undefined;
  // The tool's name stands before it anyway.
  const about =
    command ?? (summary.startsWith(`${tool} `) ? summary.slice(tool.length + 1) : summary);
  const rows = about.split('\n');
  const isShort = rows.length === 1;
  return {
    title: isShort ? shownLine(about) : `${rows.length} lines`,
    lines: [
      ...(isShort ? [] : rows.map(shownLine)),
      ...(changeOf(call, readCurrent) ?? fieldsOf(input, about)),
    ],
  };
}

/** What is larger is not compared in front of a person who waits. */
const MAX_BYTES = 1024 * 1024;

/** Reads a file for the comparison; never waits for a pipe or a device. */
export function currentText(path: string): CurrentText {
  try {
    const read = nodeFileSystem.readTextNow?.(path, { maxBytes: MAX_BYTES });
    return read === undefined || read.text.includes('\0') ? 'unreadable' : { text: read.text };
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT' ? 'absent' : 'unreadable';
  }
}

/** The first lines and the beginnings of long ones; `isCut` when that is not all. */
export function shortened(
  lines: readonly string[],
  most: { readonly lines: number; readonly length: number },
): { readonly lines: readonly string[]; readonly isCut: boolean } {
  const few = lines.slice(0, most.lines).map((line) => cutLine(line, most.length));
  const left = lines.length - few.length;
  if (left > 0) few.push(`… ${left} more line${left === 1 ? '' : 's'}`);
  return { lines: few, isCut: left > 0 || few.some((line, at) => line !== lines[at]) };
}

function cutLine(line: string, length: number): string {
  if (line.length <= length) return line;
  const kept = sliceWhole(line, 0, length);
  return `${kept}… [${line.length - kept.length} more characters]`;
}

/** Of the tools that change one file. Undefined for all others, and for input that is not as it should be. */
function changeOf(
  { tool, input, cwd }: Pick<QuestionCall, 'tool' | 'input' | 'cwd'>,
  readCurrent: ReadCurrent,
) {
  const text = (field: string): string | undefined => {
    const value = input[field];
    return typeof value === 'string' ? value : undefined;
  };
  const file = text('file_path');
  const current = (): CurrentText =>
    file === undefined ? 'unreadable' : readCurrent(resolve(cwd, file));
  if (tool === 'Edit') {
    const [before, after] = [text('old_string'), text('new_string')];
    if (before === undefined || after === undefined) return undefined;
    const isAll = input.replace_all === true;
    const now = current();
    if (typeof now === 'object' && before !== '' && now.text.includes(before)) {
      const { text: old } = now;
      // As a function: a text would have `$&` and the like filled in.
      const edited = isAll ? old.replaceAll(before, () => after) : old.replace(before, () => after);
      return differenceOf(old, edited);
    }
    // The end of the text is not the end of the file.
    const [from, to] = [before, after].map((one) => one.replace(/(?<=[^\n])$/, '\n'));
    return [...(isAll ? ['every occurrence of:'] : []), ...differenceOf(from ?? '', to ?? '')];
  }
  const content = text('content');
  if (tool !== 'Write' || content === undefined || file === undefined) return undefined;
  const now = current();
  if (typeof now === 'object') {
    return ['replaces what the file holds:', ...differenceOf(now.text, content)];
  }
  const note = now === 'absent' ? 'a new file:' : 'the new text (the present one cannot be shown):';
  return [note, ...differenceOf('', content)];
}

function differenceOf(before: string, after: string): string[] {
  const hunks = structuredPatch(before, after);
  if (hunks.length === 0) return ['(nothing changes)'];
  return hunks.flatMap(({ oldStart, newStart, lines }) => [
    ...(hunks.length > 1 || oldStart > 1 ? [`@@ -${oldStart} +${newStart} @@`] : []),
    ...lines.map((line) => `${line.slice(0, 1)} ${shownLine(line.slice(1).replace(/\n$/, ''))}`),
  ]);
}

function fieldsOf(input: Readonly<Record<string, unknown>>, about: string): string[] {
  return Object.entries(input).flatMap(([name, value]) => {
    if (value === undefined || value === about) return [];
    const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
    const [first = '', ...rest] = text.split('\n');
    return [`${visible(name)}: ${shownLine(first)}`, ...rest.map((row) => `  ${shownLine(row)}`)];
  });
}

/** As `visible`, but code stays indented as it is. */
function shownLine(line: string): string {
  const indent = /^[ \t]{0,60}/.exec(line)?.[0] ?? '';
  return `${indent.replaceAll('\t', '  ')}${visible(line.slice(indent.length))}`;
}
