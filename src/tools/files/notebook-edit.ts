import { err, ok, type Result } from '../../lib/result.js';
import { head } from '../../lib/text/truncate.js';
import { type Clock, systemClock } from '../../platform/clock.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { extname } from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure } from '../output.js';
import type { Tool, ToolOutput } from '../tool.js';
import { type ChangeDeps, changeFile, writeAndNote } from './change-file.js';
import { fileSubject, loadForChange, targetPath } from './file-target.js';
import { cellId, joined, type Notebook, numberThatWouldChange, parseNotebook } from './notebook.js';
import description from './notebook-edit.md';
import { decodeText, encodeText, type TextFile } from './text-file.js';
import type { Writer } from './write-ledger.js';

type NotebookInput = ToolInputs['NotebookEdit'];

export function notebookEditTool(deps: ChangeDeps & { clock?: Clock }): Tool<NotebookInput> {
  const newId = (): string => (deps.clock ?? systemClock).uuid().slice(0, 8);
  return defineTool({
    name: 'NotebookEdit',
    kind: 'edit',
    description,
    subject: (input, workspace) =>
      fileSubject('Edit notebook', { path: input.notebook_path, access: 'write' }, workspace),
    run: (input, context) => {
      const path = targetPath(input.notebook_path, context.workspace);
      return changeFile(deps, { path, context }, (writer) =>
        editNotebook(deps.fs, { path, input, newId, writer }),
      );
    },
  });
}

const NOTEBOOK_BYTES = 100 * 1024 * 1024;

async function editNotebook(
  fs: FileSystem,
  call: { path: string; input: NotebookInput; newId: () => string; writer: Writer },
): Promise<ToolOutput> {
  const { path, input, writer } = call;
  if (extname(path).toLowerCase() !== '.ipynb') {
    return failure(`${path} is not a notebook (.ipynb). Use Edit.`);
  }
  const existing = await loadForChange(fs, path, {
    writer,
    needs: 'any',
    maxBytes: NOTEBOOK_BYTES,
  });
  if (!existing.ok) return failure(existing.reason);
  const before = decodeText(existing.bytes);
  const parsed = before === undefined ? err('it is binary') : parseNotebook(before.text);
  if (before === undefined || !parsed.ok) {
    return failure(`${path} is not a notebook: ${parsed.ok ? '' : parsed.error}.`);
  }
  const harm = harmOfRewriting(before);
  if (harm !== undefined) return failure(`${path} ${harm}`);
  const change = apply(parsed.value, input, call.newId);
  if (!change.ok) return failure(`${path}: ${change.error}`);
  const after = printed(parsed.value.root, before.text);
  await writeAndNote(fs, path, { data: encodeText(after, before), writer });
  const { done, ...about } = change.value;
  return {
    content: `${done} cell ${about.cell_id} in ${path}`,
    structured: {
      new_source: input.new_source,
      ...about,
      language: parsed.value.language,
      edit_mode: input.edit_mode ?? 'replace',
      error: '',
      notebook_path: path,
      original_file: before.text,
      updated_file: after,
    },
  };
}

/** fail-closed: the whole file is written anew, so whatever that would damage is not touched. */
function harmOfRewriting(before: TextFile): string | undefined {
  const remedy = 'Change it with a program such as `jupyter` or `python` through Bash.';
  if (before.damaged) return `is not valid ${before.encoding.toUpperCase()}. ${remedy}`;
  const number = numberThatWouldChange(before.text);
  return number === undefined
    ? undefined
    : `holds the number ${head(number, 50)}, which would not stay the same. ${remedy}`;
}

interface Change {
  readonly done: string;
  readonly cell_id: string;
  readonly cell_type: string;
  readonly old_source?: string;
}

function apply(
  notebook: Notebook,
  input: NotebookInput,
  newId: () => string,
): Result<Change, string> {
  const found = input.cell_id === undefined ? undefined : indexOfCell(notebook, input.cell_id);
  if (input.cell_id !== undefined && found === undefined) {
    const ids = notebook.cells.slice(0, 20).map(cellId).join(', ');
    return err(`there is no cell "${input.cell_id}". Its cells: ${ids}.`);
  }
  if (input.edit_mode === 'insert') return insert(notebook, { input, after: found, newId });
  const cell = found === undefined ? undefined : notebook.cells[found];
  if (found === undefined || cell === undefined) return err('cell_id is needed to say which cell.');
  const about = {
    cell_id: cellId(cell, found),
    cell_type: String(cell.cell_type),
    old_source: joined(cell.source),
  };
  if (input.edit_mode === 'delete') {
    notebook.cells.splice(found, 1);
    return ok({ done: 'Deleted', ...about });
  }
  notebook.cells[found] = replaced(cell, input);
  return ok({ done: 'Replaced', ...about, cell_type: input.cell_type ?? about.cell_type });
}

function insert(
  notebook: Notebook,
  how: { input: NotebookInput; after: number | undefined; newId: () => string },
): Result<Change, string> {
  const { input } = how;
  if (input.cell_type === undefined) return err('cell_type is needed to insert a cell.');
  const index = how.after === undefined ? 0 : how.after + 1;
  const cell: Record<string, unknown> = {
    cell_type: input.cell_type,
    ...(notebook.hasCellIds ? { id: how.newId() } : {}),
    metadata: {},
    ...(input.cell_type === 'code' ? { execution_count: null, outputs: [] } : {}),
    source: sourceLines(input.new_source),
  };
  notebook.cells.splice(index, 0, cell);
  return ok({ done: 'Inserted', cell_id: cellId(cell, index), cell_type: input.cell_type });
}

/** Outputs of the old code say nothing about the new. */
function replaced(cell: Record<string, unknown>, input: NotebookInput): Record<string, unknown> {
  const source = Array.isArray(cell.source) ? sourceLines(input.new_source) : input.new_source;
  const type = input.cell_type ?? cell.cell_type;
  const { outputs: _outputs, execution_count: _count, ...rest } = cell;
  if (type !== 'code') return { ...rest, cell_type: type, source };
  return { ...cell, cell_type: type, execution_count: null, outputs: [], source };
}

function indexOfCell(notebook: Notebook, id: string): number | undefined {
  const index = notebook.cells.findIndex((cell) => cell.id === id);
  if (index !== -1) return index;
  const number = /^cell-(\d+)$/.exec(id)?.[1];
  return number !== undefined && Number(number) < notebook.cells.length
    ? Number(number)
    : undefined;
}

/** Lines with their ends, as notebooks store them. */
function sourceLines(source: string): string[] {
  return source === '' ? [] : source.split(/(?<=\n)/);
}

/** Indented and ended like the file was, so that the change is all that differs. */
function printed(root: Record<string, unknown>, before: string): string {
  const indent = /^\s*\{\r?\n([ \t]+)"/.exec(before)?.[1] ?? '';
  const end = /\r?\n$/.exec(before)?.[0] ?? '';
  const text = JSON.stringify(root, null, indent);
  return (before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text) + end;
}
