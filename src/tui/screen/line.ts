import { printable } from '../../lib/text/printable.js';
import type { Palette } from './theme.js';
import { fitText, graphemes, graphemeWidth, textWidth } from './width.js';

/** Text in one style. */
export interface Span {
  readonly text: string;
  /** Parameters of an SGR sequence and names of colours: `1;cyan`. */
  readonly style?: string | undefined;
}

/** One row of text. Spans hold neither line ends nor escape sequences: `encode` drops them. */
export type Line = readonly Span[];

/** The styles of the terminal; a theme says what its colours are. */
export const STYLE = {
  bold: '1',
  dim: '2',
  italic: '3',
  inverse: '7',
  strike: '9',
  accent: 'cyan',
  code: 'cyan',
  link: '4;blue',
  success: 'green',
  error: 'red',
  warning: 'yellow',
  heading: '1;magenta',
  removed: 'red',
  added: 'green',
  selected: '1;cyan',
} as const;

/**
 * A piece of text fit for a terminal. This is the only way to make a span, so text of a model, a tool, a
 * server or a file cannot carry an escape sequence to the terminal.
 */
export function span(text: string, style?: string): Span {
  return { text: cleanText(text).replace(/\n/g, ' '), style };
}

/** Without control characters except the line end; tabs become spaces. */
export function cleanText(text: string): string {
  if (/^[\x20-\x7e\n]*$/.test(text)) return text;
  return printable(text.replace(/\r\n?/g, '\n').replace(/\t/g, '    '));
}

export function line(...parts: readonly (string | Span)[]): Line {
  return parts.map((part) => (typeof part === 'string' ? span(part) : part));
}

/** Every line of a text in one style. */
export function lines(text: string, style?: string): Line[] {
  return cleanText(text)
    .split('\n')
    .map((row) => [{ text: row, style }]);
}

export function plainText(row: Line): string {
  return row.map(({ text }) => text).join('');
}

export function lineWidth(row: Line): number {
  return row.reduce((sum, { text }) => sum + textWidth(text), 0);
}

/** At most so many cells; `…` marks what was cut. */
export function cutLine(row: Line, columns: number): Line {
  if (lineWidth(row) <= columns) return row;
  if (columns < 1) return [];
  return [...takeCells(row, columns - 1), { text: '…', style: STYLE.dim }];
}

/** The spans that fit into so many cells. */
function takeCells(row: Line, columns: number): Line {
  const kept: Span[] = [];
  let left = columns;
  for (const { text, style } of row) {
    const fitting = fitText(text, left);
    if (fitting !== '') kept.push({ text: fitting, style });
    if (fitting.length < text.length) break;
    left -= textWidth(fitting);
  }
  return kept;
}

/** The spans of the first so many characters (UTF-16 units). */
export function takeCharacters(row: Line, count: number): Line {
  const kept: Span[] = [];
  let left = count;
  for (const { text, style } of row) {
    if (left <= 0) break;
    kept.push({ text: text.slice(0, left), style });
    left -= text.length;
  }
  return kept;
}

export interface WrapOptions {
  /** Before the first row. */
  readonly first?: Line;
  /** Before every other row. */
  readonly rest?: Line;
  /** Breaks between any two characters: code and output keep their blanks. */
  readonly anywhere?: boolean;
}

/** Breaks a line into rows of at most so many cells, at blanks where there are any. */
export function wrapLine(row: Line, columns: number, options: WrapOptions = {}): Line[] {
  const first = options.first ?? [];
  const rest = options.rest ?? first;
  // A window narrower than the indentation shows the text without it.
  const inner = columns - Math.max(lineWidth(first), lineWidth(rest));
  if (inner < 4 && lineWidth(first) + lineWidth(rest) > 0) {
    return wrapLine(row, columns, { anywhere: options.anywhere });
  }
  const rows = breakLine(row, Math.max(1, inner), options.anywhere === true);
  return rows.map((part, index) => [...(index === 0 ? first : rest), ...part]);
}

function breakLine(row: Line, columns: number, anywhere: boolean): Line[] {
  if (lineWidth(row) <= columns) return [row];
  const rows: Span[][] = [[]];
  let used = 0;
  const next = (): void => {
    rows.push([]);
    used = 0;
  };
  const put = (text: string, style: string | undefined): void => {
    const current = rows[rows.length - 1] ?? [];
    const last = current[current.length - 1];
    if (last !== undefined && last.style === style) {
      current[current.length - 1] = { text: last.text + text, style };
    } else {
      current.push({ text, style });
    }
    used += textWidth(text);
  };
  const putWord = (word: string, style: string | undefined): void => {
    for (const grapheme of graphemes(word)) {
      if (used > 0 && used + graphemeWidth(grapheme) > columns) next();
      put(grapheme, style);
    }
  };
  for (const { text, style } of row) {
    for (const word of anywhere ? [text] : text.split(/(?<= )(?=[^ ])/)) {
      const bare = word.trimEnd();
      if (!anywhere && used > 0 && used + textWidth(bare) > columns) next();
      if (used + textWidth(word) <= columns) put(word, style);
      else if (!anywhere && used + textWidth(bare) <= columns) put(bare, style);
      else putWord(anywhere ? word : bare, style);
    }
  }
  return rows;
}

/** The bytes of a line. Without a palette only bold, dim, italic, underline, inverse and strike remain. */
export function encode(row: Line, palette: Palette | undefined): string {
  let out = '';
  for (const { text, style } of row) {
    const safe = safeText(text);
    const codes = style === undefined ? '' : styleCodes(style, palette);
    out += codes === '' ? safe : `\u001b[${codes}m${safe}\u001b[0m`;
  }
  return out;
}

/** The bytes of a line without any style. */
export function encodePlain(row: Line): string {
  return row.map(({ text }) => safeText(text)).join('');
}

function safeText(text: string): string {
  return printable(text).replace(/[\n\t]/g, ' ');
}

function styleCodes(style: string, palette: Palette | undefined): string {
  const parts = style.split(';');
  if (palette === undefined) return parts.filter((part) => /^[1-9]$/.test(part)).join(';');
  return parts.map((part) => palette[part as keyof Palette] ?? part).join(';');
}
