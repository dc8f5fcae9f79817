import type { PatchHunk } from '../../lib/diff.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure } from '../output.js';
import type { Tool, ToolOutput } from '../tool.js';
import { type ChangeDeps, changeFile, writeAndNote } from './change-file.js';
import type { Drafts } from './drafts.js';
import { fileSubject, loadForChange, targetPath } from './file-target.js';
import { decodeText, encodeText, lineEndOf, toCrlf } from './text-file.js';
import description from './write.md';
import type { Writer } from './write-ledger.js';

export function writeTool(
  deps: ChangeDeps & { readonly drafts?: Pick<Drafts, 'drop'> },
): Tool<ToolInputs['Write']> {
  return defineTool({
    name: 'Write',
    kind: 'edit',
    description,
    subject: (input, workspace) =>
      fileSubject('Write', { path: input.file_path, access: 'write' }, workspace),
    run: async (input, context) => {
      const path = targetPath(input.file_path, context.workspace);
      const output = await changeFile(deps, { path, context }, (writer) =>
        writeWhole(deps.fs, { path, content: input.content }, writer),
      );
      // A draft that could not be written stays, so that the call can be repeated after a Read.
      if (output.isError !== true) deps.drafts?.drop(path);
      return output;
    },
  });
}

/** Larger files are not worth a comparison, and were never shown whole. */
const REPLACED_BYTES = 64 * 1024 * 1024;

/** Creates a file, or replaces one that was read whole and has not changed since. Only inside of `changeFile`. */
export async function writeWhole(
  fs: FileSystem,
  { path, content }: { path: string; content: string },
  writer: Writer,
): Promise<ToolOutput> {
  // A link to nothing counts as nothing: the file is made where the link points.
  if ((await fs.stat(path)) === undefined) {
    await writeAndNote(fs, path, { data: content, writer });
    return written({ type: 'create', path, content, patch: [], original: null });
  }
  const rules = { writer, needs: 'whole', maxBytes: REPLACED_BYTES } as const;
  const existing = await loadForChange(fs, path, rules);
  if (!existing.ok) return failure(existing.reason);
  const before = decodeText(existing.bytes);
  if (before === undefined) {
    await writeAndNote(fs, path, { data: content, writer });
    return written({ type: 'update', path, content, patch: [], original: null });
  }
  const text = inStyleOf(before.text, content);
  await writeAndNote(fs, path, { data: encodeText(text, before), writer });
  const { structuredPatch } = await import('../../lib/diff.js');
  const patch = structuredPatch(before.text, text);
  return written({ type: 'update', path, content: text, patch, original: before.text });
}

/** Models write `\n`; a file that had `\r\n` keeps it. A byte order mark is added by the encoding. */
function inStyleOf(before: string, content: string): string {
  const text = content.startsWith('\ufeff') ? content.slice(1) : content;
  const isPlain = text.includes('\n') && !text.includes('\r\n');
  return isPlain && lineEndOf(before) === '\r\n' ? toCrlf(text) : text;
}

function written(result: {
  type: 'create' | 'update';
  path: string;
  content: string;
  patch: readonly PatchHunk[];
  original: string | null;
}): ToolOutput {
  const { type, path } = result;
  return {
    content: type === 'create' ? `Created ${path}` : `Replaced the content of ${path}`,
    structured: {
      type,
      filePath: path,
      content: result.content,
      structuredPatch: result.patch,
      originalFile: result.original,
    },
  };
}
