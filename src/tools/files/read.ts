import { systemCodeOf } from '../../errors.js';
import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import { displayPath, extname, resolve } from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure, failureFrom } from '../output.js';
import type { FileVersion, Tool, ToolContext, ToolOutput, ValidationProblem } from '../tool.js';
import { fileSubject, judgedNames, missingFile, targetPath } from './file-target.js';
import { fileTypeOf } from './file-type.js';
import { readNotebook } from './notebook.js';
import description from './read.md';
import { readImage } from './read-image.js';
import { readPdf } from './read-pdf.js';
import { unhashedVersion, versionOf } from './read-state.js';
import { type ReadPart, readLines, streamLines } from './read-text.js';
import { decodeText } from './text-file.js';

export type ReadInput = ToolInputs['Read'];

export function readTool(deps: { fs: FileSystem }): Tool<ReadInput> {
  return defineTool({
    name: 'Read',
    kind: 'read',
    description,
    check: async (input) => unreadableName(input),
    subject: (input, workspace) =>
      fileSubject('Read', { path: input.file_path, access: 'read' }, workspace),
    concurrencySafe: () => true,
    run: (input, context) => read(deps.fs, input, context),
  });
}

/** Above this a file is not held in memory but streamed. */
const LOAD_BYTES = 64 * 1024 * 1024;
/** A text above this is read by ranges. */
const WHOLE_READ_BYTES = 256 * 1024;
/** The same with `allow_large`. */
const LARGE_READ_BYTES = 256 * 1024 * 1024;
const NOTEBOOK_BYTES = 100 * 1024 * 1024;
const SNIFF_BYTES = 512;

interface ReadCall {
  readonly path: string;
  readonly input: ReadInput;
  readonly context: ToolContext;
  readonly realPath: string | undefined;
}

async function read(fs: FileSystem, input: ReadInput, context: ToolContext): Promise<ToolOutput> {
  const path = targetPath(input.file_path, context.workspace);
  try {
    const found = judgedNames(context, path);
    const realPath = found?.real;
    const call = { path, input, context, realPath };
    const kind = found?.kind ?? (await fs.stat(path))?.kind;
    if (kind === undefined) return failure(await missingFile(fs, path));
    const refusal = whyNotReadable(path, kind);
    if (refusal !== undefined) return failure(refusal);
    const isBook = isNotebook(path);
    const maxBytes = isBook ? NOTEBOOK_BYTES : LOAD_BYTES;
    const { stat, bytes } = await fs.readWithStat(path, { maxBytes, realPath });
    if (bytes === undefined) return await readHuge(fs, { ...call, stat, isNotebook: isBook });
    const key = realPath ?? (await fs.realPath(path));
    return await show(call, { stat, bytes, key, isNotebook: isBook });
  } catch (thrown) {
    // The file was there when the gate saw it.
    if (systemCodeOf(thrown) === 'ENOENT') return failure(await missingFile(fs, path));
    return failureFrom(thrown);
  }
}

function isNotebook(path: string): boolean {
  // A file that is named so has no extension.
  return /\.ipynb$/i.test(path) && extname(path) !== '';
}

interface OpenedFile {
  readonly stat: FileStat;
  readonly bytes: Uint8Array;
  /** Under which the state of what was read knows it. */
  readonly key: string;
  readonly isNotebook: boolean;
}

async function show(
  call: ReadCall,
  { stat, bytes, key, isNotebook }: OpenedFile,
): Promise<ToolOutput> {
  const { path, input } = call;
  const note = (shown: { whole?: boolean; part?: FileVersion['part'] }): void =>
    call.context.readState.note(key, versionOf(stat, bytes, shown));
  const type = fileTypeOf(bytes);
  if (type === 'pdf') return readPdf({ path, bytes, pages: input.pages, input, note });
  if (type !== undefined) return readImage({ path, bytes, type, note });
  const text = decodeText(bytes);
  if (text === undefined) return failure(binaryRefusal(path));
  if (isNotebook) {
    const output = readNotebook({ path, text: text.text, input, note });
    if (output !== undefined) return output;
  }
  const tooMuch = needsRange(call, stat);
  if (tooMuch !== undefined) return failure(tooMuch);
  return finish(call, readLines(path, text, input), note);
}

function finish(
  call: ReadCall,
  part: ReadPart,
  note: (shown: { whole?: boolean; part?: FileVersion['part'] }) => void,
): ToolOutput {
  if (!part.ok) return failure(part.reason);
  if (part.seen === 'whole') note({});
  else if (part.file.numLines > 0) {
    note(part.seen === undefined ? { whole: false } : { part: part.seen });
  }
  const { content, numLines, startLine, totalLines, truncatedByTokenCap } = part.file;
  const shown = { filePath: call.path, content, numLines, startLine, totalLines };
  const file = truncatedByTokenCap === undefined ? shown : { ...shown, truncatedByTokenCap };
  return { content: part.content, structured: { type: 'text', file } };
}

async function readHuge(
  fs: FileSystem,
  call: ReadCall & { stat: FileStat; isNotebook: boolean },
): Promise<ToolOutput> {
  const { path, input, stat, realPath } = call;
  const name = displayPath(path, call.context.workspace.cwd);
  if (call.isNotebook) return failure(`${name} is over 100 MB. Take out its outputs first.`);
  const type = fileTypeOf(await fs.readHead(path, SNIFF_BYTES, { realPath }));
  if (type !== undefined) {
    return failure(
      `${name} is a ${type} of ${stat.size} bytes, too large to show. Make it smaller.`,
    );
  }
  const tooMuch = needsRange(call, stat);
  if (tooMuch !== undefined) return failure(tooMuch);
  const part = await streamLines(fs, path, {
    input,
    realPath,
    signal: call.context.signal,
  });
  const key = realPath ?? (await fs.realPath(path));
  return finish(call, part, () => call.context.readState.note(key, unhashedVersion(stat)));
}

/** Why a text of this size is not read from its beginning to wherever the limits end it. */
function needsRange({ path, input, context }: ReadCall, { size }: FileStat): string | undefined {
  if (input.offset !== undefined || input.limit !== undefined) return undefined;
  if (size <= (input.allow_large ? LARGE_READ_BYTES : WHOLE_READ_BYTES)) return undefined;
  const name = displayPath(path, context.workspace.cwd);
  return `${name} has ${size} bytes. Give offset and limit, or search it with Grep.`;
}

const NO_PROBLEMS: readonly ValidationProblem[] = [];

/** Of a process: its environment, memory and open files. */
const OF_PROCESS = /^\/proc\/(?:self|thread-self|\d+)(?:\/|$)/;

/**
 * Names that no regular file can have are invalid input: a person could only allow a call that then fails.
 */
function unreadableName(input: unknown): readonly ValidationProblem[] {
  const { file_path } = input as ReadInput;
  if (!file_path.startsWith('/')) return NO_PROBLEMS;
  const path = resolve(file_path);
  if (path.startsWith('/dev/')) {
    return [{ path: '/file_path', message: `is a device, pipe or socket: ${path}` }];
  }
  return OF_PROCESS.test(path)
    ? [{ path: '/file_path', message: `is no file but the state of a process: ${path}` }]
    : NO_PROBLEMS;
}

/** Devices, pipes and sockets are never opened: reading one may wait for ever. */
function whyNotReadable(path: string, kind: FileStat['kind']): string | undefined {
  if (kind === 'directory') {
    return `${path} is a directory. List it with Glob or with \`ls\` through Bash.`;
  }
  if (kind !== 'file' || path.startsWith('/dev/')) {
    return `${path} is a device, pipe or socket, not a regular file.`;
  }
  return undefined;
}

function binaryRefusal(path: string): string {
  return `${path} is a binary file (it holds NUL bytes). Look at it with a program for its format, such as \`file\` or \`xxd\`, through Bash.`;
}
