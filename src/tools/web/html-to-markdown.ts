import { sliceWhole } from '../../lib/text/truncate.js';
import { cleanHtml, textOf } from './html-clean.js';

export const MAX_HTML_CHARS = 2_000_000;
export const MAX_MARKDOWN_CHARS = 500_000;

export interface MarkdownPage {
  readonly markdown: string;
  readonly title: string | undefined;
  /** What is not there and why, for the reader. */
  readonly notes: readonly string[];
}

/**
 * A page as Markdown: no scripts, styles and navigation, links absolute, code blocks and tables kept.
 * Never throws, and its time is bounded for any input.
 */
export async function htmlToMarkdown(
  source: string,
  options: { readonly baseUrl?: string } = {},
): Promise<MarkdownPage> {
  const notes: string[] = [];
  const html = source.length > MAX_HTML_CHARS ? sliceWhole(source, 0, MAX_HTML_CHARS) : source;
  if (html.length < source.length) {
    notes.push(`only the first ${MAX_HTML_CHARS} of ${source.length} characters of HTML were read`);
  }
  let page = cleanHtml(html, options);
  if (textOf(page.html).trim() === '') page = cleanHtml(html, { ...options, keepNoise: true });
  if (page.simplified) notes.push('the end is plain text: the page has too many elements');
  let markdown: string;
  try {
    markdown = await convert(page.html);
  } catch {
    // The converter gave up on this page; its text is still worth reading.
    markdown = textOf(page.html);
    notes.push('shown as plain text: the page could not be converted');
  }
  markdown = tidy(markdown);
  if (markdown.length > MAX_MARKDOWN_CHARS) {
    notes.push(`cut after ${MAX_MARKDOWN_CHARS} of ${markdown.length} characters`);
    markdown = sliceWhole(markdown, 0, MAX_MARKDOWN_CHARS);
  }
  return { markdown, title: page.title, notes };
}

async function convert(html: string): Promise<string> {
  if (html.trim() === '') return '';
  const { default: TurndownService } = await import('turndown');
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
    hr: '---',
  });
  // The model reads the text as it is; escapes before punctuation would only cost tokens.
  service.escape = (text) => text;
  service.addRule('cell', { filter: ['td', 'th'], replacement: (text) => ` ${oneLine(text)} |` });
  service.addRule('row', {
    filter: 'tr',
    replacement: (cells, node) => {
      const isFirst = node.parentNode?.firstChild === node;
      const separator = isFirst ? `|${' --- |'.repeat(node.childNodes.length)}\n` : '';
      return `|${cells}\n${separator}`;
    },
  });
  service.addRule('table', { filter: 'table', replacement: (rows) => `\n\n${rows}\n\n` });
  return service.turndown(html);
}

function oneLine(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
    .replaceAll('|', '\\|');
}

/** No trailing blanks and at most one empty line in a row. Works line by line: no backtracking. */
function tidy(markdown: string): string {
  const kept: string[] = [];
  for (const line of markdown.split('\n')) {
    const trimmed = line.trimEnd();
    if (trimmed !== '' || (kept.length > 0 && kept.at(-1) !== '')) kept.push(trimmed);
  }
  return kept.join('\n').trimEnd();
}
