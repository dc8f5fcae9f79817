import { lexer, type Token, type Tokens } from 'marked';
import {
  cleanText,
  cutLine,
  type Line,
  line,
  lines,
  lineWidth,
  type Span,
  STYLE,
  span,
  wrapLine,
} from '../screen/line.js';
import { highlight } from './highlight.js';

/** Lexes Markdown that is free of control characters. */
export function lexMarkdown(text: string): Token[] {
  return lexer(cleanText(text));
}

/** A whole Markdown text as rows of a window. */
export function renderMarkdown(text: string, columns: number): Line[] {
  return renderBlocks(lexMarkdown(text), columns);
}

/** Blocks with an empty row between them. */
export function renderBlocks(tokens: readonly Token[], columns: number): Line[] {
  const rows: Line[] = [];
  for (const token of tokens) {
    const block = renderBlock(token, columns);
    if (block.length === 0) continue;
    if (rows.length > 0) rows.push([]);
    rows.push(...block);
  }
  return rows;
}

export function renderBlock(token: Token, columns: number): Line[] {
  switch (token.type) {
    case 'heading':
      return inlineRows(token.tokens ?? [], columns, STYLE.heading);
    case 'paragraph':
    case 'text':
      return inlineRows(token.tokens ?? [token], columns);
    case 'code':
      return renderCode(token.text, token.lang, columns);
    case 'list':
      return (token as Tokens.List).items.flatMap((item, index) =>
        renderItem(token as Tokens.List, item, { index, columns }),
      );
    case 'blockquote': {
      const inner = renderBlocks(token.tokens ?? [], Math.max(1, columns - 2));
      return inner.map((row) => [span('│ ', STYLE.dim), ...row]);
    }
    case 'table':
      return renderTable(token as Tokens.Table, columns);
    case 'hr':
      return [line(span('─'.repeat(Math.min(40, columns)), STYLE.dim))];
    case 'html':
      return lines(token.text.trimEnd(), STYLE.dim).flatMap((row) => wrapLine(row, columns));
    case 'space':
    case 'def':
      return [];
    default:
      return lines(token.raw).flatMap((row) => wrapLine(row, columns));
  }
}

const INDENT: Line = [{ text: '  ' }];

export function renderCode(code: string, language: string | undefined, columns: number): Line[] {
  return highlight(code, language).flatMap((row) =>
    wrapLine(row, columns, { first: INDENT, anywhere: true }),
  );
}

function renderItem(
  list: Tokens.List,
  item: Tokens.ListItem,
  { index, columns }: { readonly index: number; readonly columns: number },
): Line[] {
  const mark = list.ordered ? `${Number(list.start || 1) + index}. ` : '• ';
  const box = item.task ? (item.checked === true ? '[x] ' : '[ ] ') : '';
  const first: Span = span(mark + box, STYLE.accent);
  const rest: Span = { text: ' '.repeat(mark.length) };
  const rows = item.tokens
    .filter(({ type }) => type !== 'checkbox')
    .flatMap((token) => renderBlock(token, Math.max(1, columns - mark.length)));
  if (rows.length === 0) return [[first]];
  return rows.map((row, at) => [at === 0 ? first : rest, ...row]);
}

/** Text with its styles, one line per line break of the source. */
function inlineRows(tokens: readonly Token[], columns: number, style?: string): Line[] {
  return splitRows(inline(tokens, style)).flatMap((row) => wrapLine(row, columns));
}

function splitRows(spans: readonly Span[]): Line[] {
  const rows: Span[][] = [[]];
  for (const { text, style } of spans) {
    text.split('\n').forEach((part, index) => {
      if (index > 0) rows.push([]);
      if (part !== '') rows.at(-1)?.push({ text: part, style });
    });
  }
  return rows;
}

function inline(tokens: readonly Token[], style?: string): Span[] {
  return tokens.flatMap((token): Span[] => {
    const children = 'tokens' in token ? token.tokens : undefined;
    const inner = (more: string): Span[] =>
      inline(children ?? [], style === undefined ? more : `${style};${more}`);
    switch (token.type) {
      case 'strong':
        return inner(STYLE.bold);
      case 'em':
        return inner(STYLE.italic);
      case 'del':
        return inner(STYLE.strike);
      case 'codespan':
        return [{ text: token.text, style: STYLE.code }];
      case 'br':
        return [{ text: '\n' }];
      case 'link':
        return [...inner(STYLE.link), ...linkTarget(token as Tokens.Link)];
      case 'image':
        return [
          { text: `[image: ${token.text}]`, style: STYLE.dim },
          ...linkTarget(token as Tokens.Image),
        ];
      case 'html':
        return [{ text: token.raw, style }];
      default:
        if (children !== undefined) return inline(children, style);
        return [{ text: decodeEntities('text' in token ? token.text : token.raw), style }];
    }
  });
}

/** Where a link leads is always shown: its text may say something else. */
function linkTarget({ href, text }: { readonly href: string; readonly text: string }): Span[] {
  return href === text || href === `mailto:${text}`
    ? []
    : [{ text: ` (${href})`, style: STYLE.dim }];
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: ' ',
};

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '');
}

/** A table that does not fit gets narrower cells with several rows; a very narrow window gets one cell per row. */
function renderTable(table: Tokens.Table, columns: number): Line[] {
  const body = [table.header, ...table.rows].map((row, at) =>
    row.map((cell) => splitRows(inline(cell.tokens, at === 0 ? STYLE.bold : undefined))),
  );
  const natural = table.header.map((_, column) =>
    Math.max(1, ...body.flatMap((row) => (row[column] ?? []).map(lineWidth))),
  );
  const count = natural.length;
  const available = columns - 3 * (count - 1);
  const widths = fitWidths(natural, available);
  if (widths === undefined) {
    return body
      .slice(1)
      .flatMap((row) => [
        ...row.flatMap((cell, column) =>
          cell.flatMap((part) =>
            wrapLine([span(`${table.header[column]?.text ?? ''}: `, STYLE.bold), ...part], columns),
          ),
        ),
        [],
      ])
      .slice(0, -1);
  }
  const rule = line(span(widths.map((width) => '─'.repeat(width)).join('─┼─'), STYLE.dim));
  return body.flatMap((row, at) => {
    const cells = widths.map((width, column) =>
      (row[column] ?? [[]]).flatMap((part) => wrapLine(part, width)),
    );
    const height = Math.max(...cells.map((cell) => cell.length));
    const rows = Array.from({ length: height }, (_, index) =>
      widths.flatMap((width, column): Span[] => {
        const cell = cutLine(cells[column]?.[index] ?? [], width);
        const gap = { text: ' '.repeat(Math.max(0, width - lineWidth(cell))) };
        const padded = table.align[column] === 'right' ? [gap, ...cell] : [...cell, gap];
        return column === 0 ? padded : [span(' │ ', STYLE.dim), ...padded];
      }),
    );
    return at === 0 ? [...rows, rule] : rows;
  });
}

const NARROWEST_CELL = 6;

function fitWidths(natural: readonly number[], available: number): readonly number[] | undefined {
  const widths = [...natural];
  let total = widths.reduce((sum, width) => sum + width, 0);
  while (total > available) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= NARROWEST_CELL) return undefined;
    widths[widest] = width - 1;
    total--;
  }
  return widths;
}
