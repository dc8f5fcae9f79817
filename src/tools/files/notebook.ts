import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';

export interface Notebook {
  /** The parsed file; changed in place by edits. */
  readonly root: Record<string, unknown>;
  readonly cells: Record<string, unknown>[];
  readonly language: string;
  /** Cells carry ids from format 4.5 on. */
  readonly hasCellIds: boolean;
}

export function parseNotebook(text: string): Result<Notebook, string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`it is not valid JSON: ${parsed.error}`);
  const root = parsed.value;
  if (!isRecord(root)) return err('it is not a JSON object');
  const cells = root.cells;
  if (!Array.isArray(cells) || !cells.every(isRecord)) {
    return err('it has no list of cells (formats before 4 are not understood)');
  }
  return ok({ root, cells, language: languageOf(root), hasCellIds: atLeast45(root) });
}

/** A cell's id, or `cell-N` by position for cells without one. */
export function cellId(cell: Record<string, unknown>, index: number): string {
  return typeof cell.id === 'string' ? cell.id : `cell-${index}`;
}

/** Text that a notebook stores as one string or as a list of lines. */
export function joined(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((part) => typeof part === 'string').join('') : '';
}

function languageOf(root: Record<string, unknown>): string {
  const metadata = isRecord(root.metadata) ? root.metadata : {};
  const info = isRecord(metadata.language_info) ? metadata.language_info : {};
  const kernel = isRecord(metadata.kernelspec) ? metadata.kernelspec : {};
  if (typeof info.name === 'string') return info.name;
  return typeof kernel.language === 'string' ? kernel.language : 'python';
}

function atLeast45(root: Record<string, unknown>): boolean {
  const major = typeof root.nbformat === 'number' ? root.nbformat : 0;
  const minor = typeof root.nbformat_minor === 'number' ? root.nbformat_minor : 0;
  return major > 4 || (major === 4 && minor >= 5);
}
