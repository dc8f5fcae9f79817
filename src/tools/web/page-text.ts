import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { htmlToMarkdown } from './html-to-markdown.js';

/** Text of a fetched document that is kept; what is longer is cut, and says so. */
const MAX_PAGE_CHARS = 1_000_000;

export interface PageText {
  readonly text: string;
  readonly title: string | undefined;
  readonly notes: readonly string[];
}

/** What a model can read of a fetched body, or why there is nothing to read. */
export async function pageText(
  body: Uint8Array,
  contentType: string | undefined,
  url: string,
): Promise<Result<PageText, string>> {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const kind = kindOf(type, body);
  if (kind === 'other') return err(unreadable(type));
  const text = decodeText(body, contentType);
  if (kind === 'html') {
    const page = await htmlToMarkdown(text, { baseUrl: url });
    return ok({ text: page.markdown, title: page.title, notes: page.notes });
  }
  if (text.length <= MAX_PAGE_CHARS) return ok({ text, title: undefined, notes: [] });
  const notes = [`cut after ${MAX_PAGE_CHARS} of ${text.length} characters`];
  return ok({ text: sliceWhole(text, 0, MAX_PAGE_CHARS), title: undefined, notes });
}

/** Decodes by byte order mark, then the header's charset, then the document's own word, else UTF-8. */
export function decodeText(body: Uint8Array, contentType: string | undefined): string {
  const start = new TextDecoder('latin1').decode(body.subarray(0, 1024));
  const declared =
    markOf(body) ??
    /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType ?? '')?.[1] ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1] ??
    /^<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1] ??
    'utf-8';
  return decoderFor(declared).decode(body);
}

const TEXT_TYPES =
  /^(?:text\/.*|application\/(?:json|xml|javascript|ecmascript|typescript|x-javascript|x-ndjson|jsonl|yaml|x-yaml|toml|x-sh|graphql|sql|x-www-form-urlencoded|.*\+(?:json|xml|yaml))|image\/svg\+xml)$/;

function kindOf(type: string, body: Uint8Array): 'html' | 'text' | 'other' {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (TEXT_TYPES.test(type)) return 'text';
  if (type !== '') return 'other';
  const start = body.subarray(0, 1024);
  if (start.includes(0) && markOf(body) === undefined) return 'other';
  return /^\s*<(?:!doctype html|html|head|body)/i.test(decodeText(start, undefined))
    ? 'html'
    : 'text';
}

function unreadable(type: string): string {
  const remedy = 'Download it with Bash (curl -o FILE) and use Read if you need it.';
  if (type === 'application/pdf') return `This is a PDF, which WebFetch does not read. ${remedy}`;
  const name = type === '' ? 'binary data without a content type' : `"${type}"`;
  return `WebFetch reads HTML, text and JSON; this is ${name}. ${remedy}`;
}

function markOf(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  return undefined;
}

function decoderFor(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    // Most pages with an unknown charset label are UTF-8.
    return new TextDecoder();
  }
}
