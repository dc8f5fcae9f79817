import { messageOf } from '../../errors.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { failure } from '../output.js';
import type { ToolOutput } from '../tool.js';
import { LARGE_FACTOR, SHOWN_CHARS } from './read-text.js';

/** Pages read without being asked for by number. */
const PAGES_UNASKED = 10;
const PAGES_AT_ONCE = 20;
/** A PDF that is pictures only goes to the model as it is, up to this. */
const DOCUMENT_BYTES = 4 * 1024 * 1024;

interface PdfCall {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly pages: string | undefined;
  readonly input: Pick<ToolInputs['Read'], 'allow_large'>;
  readonly note: (shown: { whole?: boolean }) => void;
}

export async function readPdf(call: PdfCall): Promise<ToolOutput> {
  const { getDocumentProxy } = await import('unpdf');
  let pdf: Pdf;
  try {
    // A copy: the library takes the memory for itself, and wants no Buffer.
    pdf = (await getDocumentProxy(new Uint8Array(call.bytes), { verbosity: 0 })) as Pdf;
  } catch (thrown) {
    return failure(
      `${call.path} cannot be read as a PDF (${messageOf(thrown)}). If it is encrypted, make a copy without a password.`,
    );
  }
  try {
    const range = pageRange(call.pages, pdf.numPages);
    if (typeof range === 'string') return failure(`${call.path}: ${range}`);
    const texts: string[] = [];
    for (let page = range.first; page <= range.last; page++) texts.push(await pageText(pdf, page));
    return texts.every((text) => text.trim() === '')
      ? asDocument(call)
      : asText(call, { texts, first: range.first, total: pdf.numPages });
  } finally {
    await pdf.destroy();
  }
}

/** The little of the library's document that is used. */
interface Pdf {
  readonly numPages: number;
  getPage(page: number): Promise<{
    getTextContent(): Promise<{ items: readonly { str?: string; hasEOL?: boolean }[] }>;
  }>;
  destroy(): Promise<void>;
}

async function pageText(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  return items.map((item) => (item.str ?? '') + (item.hasEOL ? '\n' : '')).join('');
}

/** The pages meant, or what is wrong with the request. */
function pageRange(
  pages: string | undefined,
  total: number,
): { first: number; last: number } | string {
  if (pages === undefined) {
    if (total <= PAGES_UNASKED) return { first: 1, last: total };
    return `it has ${total} pages. Say which with \`pages\`, at most ${PAGES_AT_ONCE} at once, for example "1-${PAGES_UNASKED}".`;
  }
  const match = /^\s*(\d+)\s*(?:(-)\s*(\d+)?)?\s*$/.exec(pages);
  if (match === null) return `\`pages\` must be like "3" or "1-5", not "${pages}".`;
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : Math.min(Number(match[3] ?? total), total);
  if (first < 1 || first > total) return `it has ${total} pages; there is no page ${first}.`;
  if (last < first) return `\`pages\` "${pages}" ends before it begins.`;
  if (last - first + 1 > PAGES_AT_ONCE) {
    return `${last - first + 1} pages are too many; at most ${PAGES_AT_ONCE} at once, for example "${first}-${first + PAGES_AT_ONCE - 1}".`;
  }
  return { first, last };
}

function asText(
  call: PdfCall,
  found: { texts: readonly string[]; first: number; total: number },
): ToolOutput {
  const cap = SHOWN_CHARS * (call.input.allow_large ? LARGE_FACTOR : 1);
  const shown: string[] = [];
  let chars = 0;
  for (const [index, text] of found.texts.entries()) {
    const page = `--- page ${found.first + index} of ${found.total} ---\n${text.trimEnd()}`;
    // The first page is always shown, cut if it must be.
    if (chars + page.length > cap && shown.length > 0) break;
    shown.push(page.slice(0, cap));
    chars += page.length;
  }
  const last = found.first + shown.length - 1;
  const content = shown.join('\n');
  const isCut = shown.length < found.texts.length;
  call.note({ whole: found.first === 1 && last === found.total });
  return {
    content: isCut ? `${content}\n[PARTIAL: read on with pages="${last + 1}-".]` : content,
    structured: {
      type: 'text',
      file: {
        filePath: call.path,
        content,
        numLines: content.split('\n').length,
        startLine: 1,
        totalLines: content.split('\n').length,
        ...(isCut ? { truncatedByTokenCap: true } : {}),
      },
      pdf: { firstPage: found.first, lastPage: last, totalPages: found.total },
    },
  };
}

/** No text in it, so it is probably scanned: the model looks at the pages itself. */
function asDocument(call: PdfCall): ToolOutput {
  if (call.bytes.length > DOCUMENT_BYTES) {
    return failure(
      `${call.path} holds no text (scanned pages?) and is over 4 MB. Turn the pages into images (for example with \`pdftoppm -png\`) and read those.`,
    );
  }
  const base64 = Buffer.from(call.bytes).toString('base64');
  call.note({});
  return {
    content: [
      { type: 'text', text: `${call.path}: a PDF without text; its pages follow as a document.` },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: base64 },
      },
    ],
    structured: {
      type: 'pdf',
      file: { filePath: call.path, base64, originalSize: call.bytes.length },
    },
  };
}
