import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { head } from '../../lib/text/truncate.js';
import type { ImageBlock, ResultBlock } from '../../protocol/content.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { failure } from '../output.js';
import type { ToolOutput } from '../tool.js';
import { dimensionsOf, fileTypeOf } from './file-type.js';
import { LARGE_FACTOR, SHOWN_CHARS } from './read-text.js';

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

/** Characters of one cell's outputs; of its source everything is shown that fits in the whole. */
const OUTPUT_CHARS = 8000;
const IMAGES = 8;
const IMAGE_BASE64_CHARS = 1024 * 1024;

/** Undefined when the file is not a notebook after all, so that it can be read as text. */
export function readNotebook(call: {
  path: string;
  text: string;
  input: Pick<ToolInputs['Read'], 'offset' | 'limit' | 'allow_large'>;
  note: (shown: { whole?: boolean }) => void;
}): ToolOutput | undefined {
  const parsed = parseNotebook(call.text);
  if (!parsed.ok) return undefined;
  const { cells } = parsed.value;
  const first = Math.max(1, call.input.offset ?? 1);
  if (cells.length === 0) {
    call.note({});
    return { content: `[${call.path} has no cells.]`, structured: structured(call.path, []) };
  }
  if (first > cells.length) {
    return failure(`${call.path} has ${cells.length} cells; offset ${first} is past its end.`);
  }
  const last = Math.min(cells.length, first - 1 + (call.input.limit ?? cells.length));
  const rendered = renderUpTo(parsed.value, {
    first,
    last,
    chars: SHOWN_CHARS * (call.input.allow_large ? LARGE_FACTOR : 1),
  });
  call.note({ whole: first === 1 && rendered.last === cells.length && !rendered.cut });
  const texts = [...rendered.texts];
  if (rendered.last < last) {
    texts.push(
      `[PARTIAL: cells ${first}-${rendered.last} of ${cells.length}. Read on with offset=${rendered.last + 1}.]`,
    );
  }
  const text = texts.join('\n');
  const content: string | ResultBlock[] =
    rendered.images.length === 0 ? text : [{ type: 'text', text }, ...rendered.images];
  return { content, structured: structured(call.path, rendered.cells) };
}

interface Rendered {
  readonly texts: readonly string[];
  readonly images: readonly ImageBlock[];
  readonly cells: readonly unknown[];
  readonly last: number;
  readonly cut: boolean;
}

function renderUpTo(
  notebook: Notebook,
  range: { first: number; last: number; chars: number },
): Rendered {
  const texts: string[] = [];
  const images: ImageBlock[] = [];
  const cells: unknown[] = [];
  let chars = 0;
  let number = range.first;
  for (; number <= range.last; number++) {
    const cell = notebook.cells[number - 1] ?? {};
    const outputs = outputsOf(cell, images);
    const text = cellText(cell, number - 1, outputs);
    chars += text.length;
    if (chars > range.chars && texts.length > 0) break;
    // One giant cell: its beginning, so that reading never gets stuck on it.
    texts.push(head(text, range.chars));
    cells.push(cellRecord(cell, { index: number - 1, language: notebook.language, outputs }));
  }
  return { texts, images, cells, last: number - 1, cut: chars > range.chars };
}

function cellText(cell: Record<string, unknown>, index: number, outputs: string): string {
  const count = typeof cell.execution_count === 'number' ? ` [${cell.execution_count}]` : '';
  const title = `<cell id="${cellId(cell, index)}" type="${String(cell.cell_type)}"${count}>`;
  const shown = outputs === '' ? '' : `\n<output>\n${outputs}\n</output>`;
  return `${title}\n${joined(cell.source)}${shown}\n</cell>`;
}

function cellRecord(
  cell: Record<string, unknown>,
  about: { index: number; language: string; outputs: string },
): unknown {
  const isCode = cell.cell_type === 'code';
  return {
    cellType: cell.cell_type,
    source: joined(cell.source),
    cell_id: cellId(cell, about.index),
    ...(isCode ? { language: about.language } : {}),
    ...(typeof cell.execution_count === 'number' ? { execution_count: cell.execution_count } : {}),
    ...(about.outputs === '' ? {} : { outputs: about.outputs }),
  };
}

function outputsOf(cell: Record<string, unknown>, images: ImageBlock[]): string {
  const outputs = Array.isArray(cell.outputs) ? cell.outputs.filter(isRecord) : [];
  const text = outputs
    .map((output) => outputText(output, images).trimEnd())
    .filter((part) => part !== '')
    .join('\n');
  return head(text, OUTPUT_CHARS);
}

function outputText(output: Record<string, unknown>, images: ImageBlock[]): string {
  if (output.output_type === 'stream') return joined(output.text);
  if (output.output_type === 'error') {
    const trace = Array.isArray(output.traceback) ? output.traceback.map(String).join('\n') : '';
    return withoutColours(trace || `${String(output.ename)}: ${String(output.evalue)}`);
  }
  const data = isRecord(output.data) ? output.data : {};
  const picture = ['image/png', 'image/jpeg'].find((type) => joined(data[type]) !== '');
  if (picture !== undefined) return pictureText(picture, joined(data[picture]), images);
  return joined(data['text/plain']) || joined(data['text/markdown']) || joined(data['text/html']);
}

function pictureText(mediaType: string, base64: string, images: ImageBlock[]): string {
  const data = base64.replace(/\s/g, '');
  const bytes = Buffer.from(data, 'base64');
  const type = fileTypeOf(bytes);
  // A damaged image would make every later request of the session fail.
  const isSound = type !== undefined && type !== 'pdf' && dimensionsOf(bytes, type) !== undefined;
  if (!isSound || images.length >= IMAGES || data.length > IMAGE_BASE64_CHARS) {
    return `[${mediaType}, not shown]`;
  }
  images.push({ type: 'image', source: { type: 'base64', media_type: `image/${type}`, data } });
  return `[${mediaType}: image ${images.length} below]`;
}

function withoutColours(text: string): string {
  return text.replace(/\x1b\[[0-9;]*m/g, '');
}

function structured(filePath: string, cells: readonly unknown[]): unknown {
  return { type: 'notebook', file: { filePath, cells } };
}

/**
 * The first number in a JSON text that would be another one after parsing and writing it out: a whole
 * number too long for a double, or one beyond its range. Undefined: all of them survive.
 */
export function numberThatWouldChange(json: string): string | undefined {
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const end = quote === -1 ? json.length : quote;
    for (const [number] of json.slice(at, end).matchAll(/-?\d[\d.eE+-]*/g)) {
      if (!survives(number)) return number;
    }
    if (quote === -1) return undefined;
    at = behindString(json, quote);
  }
  return undefined;
}

function survives(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(number)) return true;
  return BigInt(number) === BigInt(value);
}

function behindString(json: string, quote: number): number {
  for (let end = json.indexOf('"', quote + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return json.length;
}
