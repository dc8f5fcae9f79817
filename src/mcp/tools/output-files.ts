import { messageOf } from '../../errors.js';
import { own } from '../../lib/own.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import type { ImageBlock, ResultBlock } from '../../protocol/content.js';
import { dimensionsOf, fileTypeOf } from '../../tools/files/file-type.js';
import type { ToolContext } from '../../tools/tool.js';
import { shownText } from './text.js';

/** What a model takes: 5 MB of base64, 8000 pixels a side. */
const IMAGE_CHARS = 5 * 1024 * 1024;
const IMAGE_EDGE = 8_000;
/** Characters of base64 that are kept of one result. */
const MOST_KEPT = 96 * 1024 * 1024;

/** The image as a model takes it. Undefined when it does not, or when the data is no image at all. */
export function imageBlock(base64: string): ImageBlock | undefined {
  if (base64.length > IMAGE_CHARS) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const type = fileTypeOf(bytes);
  if (type === undefined || type === 'pdf') return undefined;
  // A damaged image would make every later request of the session fail.
  const size = dimensionsOf(bytes, type);
  if (size === undefined || size.width > IMAGE_EDGE || size.height > IMAGE_EDGE) return undefined;
  const data = bytes.toString('base64');
  return { type: 'image', source: { type: 'base64', media_type: `image/${type}`, data } };
}

/** What cannot be shown is kept in files of the session, for their owner alone. */
export interface BinaryShelf {
  readonly files: string[];
  keep(binary: {
    readonly data: string;
    readonly mimeType: unknown;
    readonly what: string;
  }): Promise<ResultBlock>;
}

export function createBinaryShelf(parts: {
  readonly fs: Pick<FileSystem, 'writeAtomic'>;
  readonly context: Pick<ToolContext, 'toolUseId' | 'spillDirectory'>;
}): BinaryShelf {
  const files: string[] = [];
  let kept = 0;
  return {
    files,
    async keep({ data, mimeType, what }) {
      const kind = typeof mimeType === 'string' ? shownText(mimeType, 100) : 'unknown kind';
      kept += data.length;
      if (kept > MOST_KEPT) return note(`[${what} (${kind}) was left out: it is too large]`);
      const bytes = Buffer.from(data, 'base64');
      const { toolUseId, spillDirectory } = parts.context;
      const stem = toolUseId.replace(/[^\w.-]/g, '_');
      const ending = own(ENDINGS, String(mimeType).toLowerCase().split(';')[0]?.trim() ?? '');
      try {
        const path = join(spillDirectory(), `${stem}-${files.length + 1}.${ending ?? 'bin'}`);
        await parts.fs.writeAtomic(path, bytes, { mode: 0o600 });
        files.push(path);
        return note(`[${what} (${kind}), ${bytes.length} bytes, is kept in ${path}]`);
      } catch (thrown) {
        return note(`[${what} (${kind}) could not be kept: ${messageOf(thrown)}]`);
      }
    },
  };
}

function note(text: string): ResultBlock {
  return { type: 'text', text };
}

/** Endings of ours alone: a server's file must not get a name that a program runs. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/webm': 'weba',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/json': 'json',
  'text/plain': 'txt',
  'text/csv': 'csv',
};
