import { sliceWhole } from '../../lib/text/truncate.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure } from '../output.js';
import type { Tool, ToolOutput } from '../tool.js';
import { type ChangeDeps, changeFile, writeAndNote } from './change-file.js';
import description from './edit.md';
import { explainNoMatch } from './edit-hint.js';
import { fileSubject, loadForChange, targetPath } from './file-target.js';
import { decodeText, encodeText, lineEndOf, linesOf, toCrlf } from './text-file.js';
import type { Writer } from './write-ledger.js';

type EditInput = ToolInputs['Edit'];

export function editTool(deps: ChangeDeps): Tool<EditInput> {
  return defineTool({
    name: 'Edit',
    kind: 'edit',
    description,
    subject: (input, workspace) =>
      fileSubject('Edit', { path: input.file_path, access: 'write' }, workspace),
    run: (input, context) => {
      const path = targetPath(input.file_path, context.workspace);
      return changeFile(deps, { path, context }, (writer) =>
        edit(deps.fs, { path, input }, writer),
      );
    },
  });
}

const EDITED_BYTES = 64 * 1024 * 1024;
const LINES_NAMED = 10;

async function edit(
  fs: FileSystem,
  call: { path: string; input: EditInput },
  writer: Writer,
): Promise<ToolOutput> {
  const { path, input } = call;
  if (input.old_string === input.new_string) {
    return failure('old_string and new_string are the same; there is nothing to change.');
  }
  if (input.old_string === '') return create(fs, call, writer);
  const existing = await loadForChange(fs, path, {
    writer,
    needs: 'any',
    maxBytes: EDITED_BYTES,
  });
  if (!existing.ok) return failure(existing.reason);
  const before = decodeText(existing.bytes);
  if (before === undefined) return failure(`${path} is a binary file; Edit changes text only.`);
  if (before.damaged) {
    return failure(
      `${path} is not valid ${before.encoding.toUpperCase()}; Edit would damage the bytes that are not. Change it with a program such as \`perl\` through Bash.`,
    );
  }
  const matches = findMatches(before.text, input.old_string);
  const first = matches[0];
  if (first === undefined) {
    return failure(
      `old_string is not in ${path}. ${explainNoMatch(before.text, input.old_string)}`,
    );
  }
  if (matches.length > 1 && input.replace_all !== true) {
    const lines = matches.slice(0, LINES_NAMED).map((match) => lineAt(before.text, match.start));
    const more = matches.length > LINES_NAMED ? ', …' : '';
    return failure(
      `old_string is in ${path} ${matches.length} times, at lines ${lines.join(', ')}${more}. Add surrounding lines until it is unique, or set replace_all.`,
    );
  }
  const after = replaceMatches(before.text, matches, input.new_string);
  await writeAndNote(fs, path, { data: encodeText(after, before), writer });
  const times = matches.length === 1 ? '' : ` in ${matches.length} places`;
  const snippet = snippetAround(after, first.start, input.new_string);
  return {
    content: `Changed ${path}${times}:\n${snippet}`,
    structured: await result(input, { path, before: before.text, after }),
  };
}

async function create(
  fs: FileSystem,
  call: { path: string; input: EditInput },
  writer: Writer,
): Promise<ToolOutput> {
  const { path, input } = call;
  if ((await fs.stat(path)) !== undefined) {
    return failure(
      `${path} exists; an empty old_string only creates files. Give the text to replace, or use Write.`,
    );
  }
  await writeAndNote(fs, path, { data: input.new_string, writer });
  return {
    content: `Created ${path}`,
    structured: await result(input, { path, before: '', after: input.new_string }),
  };
}

async function result(
  input: EditInput,
  change: { path: string; before: string; after: string },
): Promise<unknown> {
  const { structuredPatch } = await import('../../lib/diff.js');
  return {
    filePath: change.path,
    oldString: input.old_string,
    newString: input.new_string,
    originalFile: change.before,
    structuredPatch: structuredPatch(change.before, change.after),
    userModified: false,
    replaceAll: input.replace_all ?? false,
  };
}

interface Match {
  readonly start: number;
  readonly end: number;
}

/** Where the text occurs. Plain `\n` in it also stands for the `\r\n` of a file that has those. */
function findMatches(text: string, wanted: string): Match[] {
  const exact = occurrences(text, wanted);
  if (!wanted.includes('\n') || wanted.includes('\r\n') || !text.includes('\r\n')) return exact;
  return [...exact, ...occurrences(text, toCrlf(wanted))].sort((a, b) => a.start - b.start);
}

/** Each replacement gets the line ends of the text it replaces, or else of the file. */
function replaceMatches(text: string, matches: readonly Match[], replacement: string): string {
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

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1))
    line++;
  return line;
}

const SNIPPET_CONTEXT = 3;
const SNIPPET_LINES = 24;
const SNIPPET_LINE_CHARS = 400;

/** The changed lines with some around them, numbered like Read's, so that no second Read is needed. */
function snippetAround(text: string, start: number, inserted: string): string {
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
