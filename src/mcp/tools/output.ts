import { estimateText } from '../../context/compaction/tokens.js';
import { messageOf } from '../../errors.js';
import { isRecord, own } from '../../lib/own.js';
import { escapeReservedTags } from '../../lib/text/reserved-tags.js';
import { visible } from '../../lib/text/visible.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import type { ImageBlock, ResultBlock } from '../../protocol/content.js';
import { dimensionsOf, fileTypeOf } from '../../tools/files/file-type.js';
import { boundText, spillInto } from '../../tools/output.js';
import type { ToolContext, ToolOutput } from '../../tools/tool.js';
import type { RawCallResult, RawContent, RawTool } from '../server.js';
import { canonicalJson } from './fingerprint.js';
import { shownText } from './names.js';

export interface OutputParts {
  readonly fs: Pick<FileSystem, 'writeAtomic'>;
  readonly context: Pick<ToolContext, 'toolUseId' | 'spillDirectory'>;
  readonly tool: string;
  /** The definition, which may set the size limit of results. */
  readonly raw: Pick<RawTool, '_meta'>;
  /** Read for `MAX_MCP_OUTPUT_TOKENS`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Warns people about large results. */
  tell?(text: string): void;
}

const DEFAULT_TOKENS = 25_000;
const WARN_TOKENS = 10_000;
const IMAGE_TOKENS = 1_600;
/** The most that a definition may ask for. */
const MOST_CHARS = 500_000;
const MOST_BLOCKS = 200;
const PREVIEW_CHARS = 2_048;
/** Characters of a structured result that are compared with its text. */
const MOST_COMPARED = 200_000;
/** Characters of a structured result that hooks and hosts get. */
const MOST_STRUCTURED = 4 * 1024 * 1024;

/** Converts a server's result into what the model reads: bounded, and without imitations of our markers. */
export async function toolOutput(result: RawCallResult, parts: OutputParts): Promise<ToolOutput> {
  const { structuredContent, isError } = result;
  const store = createBinaryStore(parts);
  const blocks: ResultBlock[] = [];
  const content = Array.isArray(result.content) ? result.content : [];
  for (const block of content.slice(0, MOST_BLOCKS)) blocks.push(await shown(block, store));
  if (content.length > MOST_BLOCKS) {
    blocks.push(text(`[${content.length - MOST_BLOCKS} more blocks were left out]`));
  }
  const json = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  if (json !== undefined && structuredContent !== null && !isSaid(content, structuredContent, json))
    blocks.push(text(serverText(json)));
  const bounded = await boundBlocks(withFewImages(blocks, parts), { ...parts, store });
  const isText = bounded.every(({ type }) => type === 'text');
  const shownContent = isText ? textsOf(bounded).join('\n') || '(no output)' : bounded;
  const output: ToolOutput = {
    content: shownContent,
    ...(isError === true && { isError }),
    ...(store.files.length > 0 && { files: [...store.files] }),
  };
  // Hosts and hooks get text blocks; results with images are not duplicated.
  if (json === undefined) return isText ? { ...output, structured: bounded } : output;
  // With data they also get what the model sees, so that they can judge it; huge data is left out.
  if (json.length > MOST_STRUCTURED) return output;
  return { ...output, structured: { content: shownContent, structuredContent } };
}

/** Reads the content from a `structured` value that a hook returned. */
export function presentOutput(structured: unknown): ToolOutput['content'] | undefined {
  const content = isRecord(structured) ? structured.content : structured;
  if (!Array.isArray(structured) && !isRecord(structured)) return undefined;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const blocks = content.flatMap((block): ResultBlock[] =>
    isRecord(block) && block.type === 'text' && typeof block.text === 'string'
      ? [text(block.text)]
      : [],
  );
  return blocks.length === content.length ? blocks : undefined;
}

async function shown(block: RawContent, store: BinaryStore): Promise<ResultBlock> {
  const { type, data, mimeType } = block;
  if (type === 'text') return text(serverText(String(block.text ?? '')));
  if (type === 'image' && typeof data === 'string') {
    return imageBlock(data) ?? (await store.keep({ data, mimeType, what: 'image' }));
  }
  if (type === 'audio' && typeof data === 'string') {
    return await store.keep({ data, mimeType, what: 'audio' });
  }
  if (type === 'resource' && isRecord(block.resource)) {
    return await resource(block.resource, store);
  }
  if (type === 'resource_link') return text(linkText(block));
  return text(`[a block of the kind ${JSON.stringify(label(type))}, which cannot be shown]`);
}

async function resource(
  content: Readonly<Record<string, unknown>>,
  store: BinaryStore,
): Promise<ResultBlock> {
  const uri = label(content.uri);
  if (typeof content.text === 'string') {
    return text(`[resource ${uri}]\n${serverText(content.text)}`);
  }
  const { blob, mimeType } = content;
  if (typeof blob !== 'string') return text(`[resource ${uri}, which is empty]`);
  return imageBlock(blob) ?? (await store.keep({ data: blob, mimeType, what: `resource ${uri}` }));
}

function linkText({ name, title, uri, mimeType, description }: RawContent): string {
  const kind = typeof mimeType === 'string' ? ` (${label(mimeType)})` : '';
  const about = typeof description === 'string' ? `: ${shownText(description, 500)}` : '';
  return `[link to the resource ${label(title ?? name ?? '')} ${label(uri)}${kind}${about}]`;
}

/** Sanitises a short text for use in our own sentence. */
function label(value: unknown): string {
  return shownText(typeof value === 'string' ? value : '', 300).replace(/\s+/g, ' ');
}

/** Quotes our markers and escapes characters that carry hidden text. */
function serverText(given: string): string {
  return escapeReservedTags(given.replace(SMUGGLED, visible));
}

/** Unicode tags, and unnatural runs of variation selectors or zero-width characters, which can encode hidden bytes. */
const SMUGGLED =
  /[\u{e0000}-\u{e007f}]+|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}|[\u200b-\u200f\u2060-\u2064\ufeff]{4,}/gu;

/** Whether the text repeats the structured data: as JSON, wrapped in one key, or item by item. */
function isSaid(content: readonly RawContent[], value: unknown, json: string): boolean {
  const texts = content
    .slice(0, MOST_BLOCKS)
    .flatMap((block) =>
      block.type === 'text' && typeof block.text === 'string' ? block.text : [],
    );
  if (texts.includes(json)) return true;
  const whole = texts.join('\n');
  // Sorting the keys of huge data would take too much memory.
  if (json.length > MOST_COMPARED || whole.length > 4 * json.length + 1_000) return false;
  const items = texts.map(valueIn);
  const said = new Set([...texts, whole, ...items.map(canonicalJson), canonicalJson(items)]);
  // Servers wrap a non-object value, such as `{"result": "text"}` beside the text.
  const [only, ...others] = isRecord(value) ? Object.values(value) : [];
  const values = others.length === 0 && only !== undefined ? [value, only] : [value];
  return values.some((one) => said.has(typeof one === 'string' ? one : canonicalJson(one)));
}

function valueIn(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    // A text that is not JSON stands for itself.
    return given;
  }
}

/** Replaces images over the token limit with a note. */
function withFewImages(blocks: readonly ResultBlock[], parts: OutputParts): readonly ResultBlock[] {
  let room = Math.floor(limitOf(parts).tokens / IMAGE_TOKENS);
  return blocks.map((block) => {
    if (block.type !== 'image') return block;
    room -= 1;
    return room >= 0 ? block : text('[an image was left out: there are too many for one result]');
  });
}

async function boundBlocks(
  blocks: readonly ResultBlock[],
  parts: OutputParts & { readonly store: BinaryStore },
): Promise<readonly ResultBlock[]> {
  const whole = textsOf(blocks).join('\n');
  const images = blocks.filter(({ type }) => type !== 'text');
  const tokens = estimateText(whole) + images.length * IMAGE_TOKENS;
  const limit = limitOf(parts);
  const fits = limit.chars === undefined ? tokens <= limit.tokens : whole.length <= limit.chars;
  if (tokens > WARN_TOKENS) {
    const end = fits ? '' : `; more than ${limit.chars ?? limit.tokens} is kept in a file`;
    parts.tell?.(`${parts.tool} returned about ${tokens} tokens${end}`);
  }
  if (fits || whole === '') return blocks;
  const { toolUseId, spillDirectory } = parts.context;
  const where = { directory: spillDirectory, name: toolUseId };
  const spill = spillInto(parts.fs as FileSystem, where, parts.store.files);
  const cap = Math.min(PREVIEW_CHARS, whole.length - 1);
  return [text(await boundText(whole, { cap, spill })), ...images];
}

/** The limit in tokens, or in characters when the definition asks for it and the person has set none. */
function limitOf({ env, raw }: Pick<OutputParts, 'env' | 'raw'>): {
  readonly tokens: number;
  readonly chars?: number;
} {
  const given = env.MAX_MCP_OUTPUT_TOKENS?.trim() ?? '';
  const isGiven = /^[1-9]\d{0,8}$/.test(given);
  const tokens = isGiven ? Number(given) : DEFAULT_TOKENS;
  const asked = isRecord(raw._meta) ? raw._meta['anthropic/maxResultSizeChars'] : undefined;
  const isAsked = typeof asked === 'number' && Number.isFinite(asked) && asked > 0;
  return isAsked && !isGiven
    ? { tokens, chars: Math.min(MOST_CHARS, Math.floor(asked)) }
    : { tokens };
}

function text(given: string): ResultBlock & { readonly type: 'text' } {
  return { type: 'text', text: given };
}

function textsOf(blocks: readonly ResultBlock[]): readonly string[] {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

/** The provider's image limits: 5 MB of base64 and 8000 pixels per side. */
const IMAGE_CHARS = 5 * 1024 * 1024;
const IMAGE_EDGE = 8_000;
/** Characters of base64 saved per result. */
const MOST_KEPT = 96 * 1024 * 1024;

/** Undefined when the data is not an image that the model accepts. */
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

/** Saves binary content in owner-only files of the session. */
interface BinaryStore {
  readonly files: string[];
  keep(binary: {
    readonly data: string;
    readonly mimeType: unknown;
    readonly what: string;
  }): Promise<ResultBlock>;
}

function createBinaryStore(parts: {
  readonly fs: Pick<FileSystem, 'writeAtomic'>;
  readonly context: Pick<ToolContext, 'toolUseId' | 'spillDirectory'>;
}): BinaryStore {
  const files: string[] = [];
  let kept = 0;
  return {
    files,
    async keep({ data, mimeType, what }) {
      const kind = typeof mimeType === 'string' ? shownText(mimeType, 100) : 'unknown kind';
      kept += data.length;
      if (kept > MOST_KEPT) return text(`[${what} (${kind}) was left out: it is too large]`);
      const bytes = Buffer.from(data, 'base64');
      const { toolUseId, spillDirectory } = parts.context;
      const stem = toolUseId.replace(/[^\w.-]/g, '_');
      try {
        const path = join(
          spillDirectory(),
          `${stem}-${files.length + 1}.${fileExtension(mimeType)}`,
        );
        await parts.fs.writeAtomic(path, bytes, { mode: 0o600 });
        files.push(path);
        return text(`[${what} (${kind}), ${bytes.length} bytes, is kept in ${path}]`);
      } catch (thrown) {
        return text(`[${what} (${kind}) could not be kept: ${messageOf(thrown)}]`);
      }
    },
  };
}

export function fileExtension(mimeType: unknown): string {
  return own(ENDINGS, String(mimeType).toLowerCase().split(';')[0]?.trim() ?? '') ?? 'bin';
}

/** Maps to our own extensions, because a server must not choose an executable one. */
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
