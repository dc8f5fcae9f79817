import type { PatchHunk } from '../../lib/diff.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { failure } from '../output.js';
import type { ToolOutput } from '../tool.js';
import { judgedNames, loadForChange } from './file-target.js';
import { versionOf } from './read-state.js';
import { decodeText, encodeText, lineEndOf, toCrlf } from './text-file.js';
import { exclusively, type Writer } from './write-ledger.js';

/** Larger files are not worth a comparison, and were never shown whole. */
const REPLACED_BYTES = 64 * 1024 * 1024;

/** Creates a file, or replaces one that was read whole and has not changed since. */
export async function writeWhole(
  fs: FileSystem,
  file: { path: string; content: string },
  writer: Writer,
): Promise<ToolOutput> {
  const key = judgedNames(writer, file.path)?.real ?? (await fs.realPath(file.path));
  return exclusively(key, () => writeInTurn(fs, file, writer));
}

async function writeInTurn(
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

/** Writes and remembers the result as seen: the model wrote it. Only inside of `exclusively`. */
export async function writeAndNote(
  fs: FileSystem,
  path: string,
  what: { data: string | Uint8Array; writer: Writer },
): Promise<void> {
  const realPath = judgedNames(what.writer, path)?.real;
  await fs.writeAtomic(path, what.data, { realPath });
  const stat = await fs.stat(path);
  if (stat === undefined) return;
  const bytes = typeof what.data === 'string' ? new TextEncoder().encode(what.data) : what.data;
  const { readState, ledger, agent, toolUseId } = what.writer;
  const version = versionOf(stat, bytes);
  const key = realPath ?? (await fs.realPath(path));
  readState.note(key, version);
  ledger?.wrote(key, { agent: agent.path, toolUseId, hash: version.hash });
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
