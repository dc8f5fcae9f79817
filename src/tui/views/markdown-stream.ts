import type { Token, Tokens } from 'marked';
import { cleanText, type Line } from '../screen/line.js';
import { lexMarkdown, renderBlock, renderBlocks, renderCode } from './markdown.js';

interface Fence {
  readonly language: string | undefined;
  /** The characters that end it. */
  readonly marker: string;
  /** All code of the block so far, and how many of its lines were handed out. */
  code: string;
  taken: number;
}

/** Code beyond this is no longer coloured while it streams: colouring starts at the first line each time. */
const COLOURED_LINES = 400;

/**
 * Markdown that is still being written. Finished blocks, list items and code lines are handed out once;
 * only the open end is lexed again.
 */
export class MarkdownStream {
  #tail = '';
  #fence: Fence | undefined;
  #any = false;
  #joins = false;

  push(text: string): void {
    this.#tail += text;
  }

  /** What is finished since the last call. */
  take(columns: number): Line[] {
    const rows: Line[] = [];
    for (;;) {
      const more =
        this.#fence === undefined
          ? this.#takeBlocks(columns)
          : this.#takeCode(this.#fence, columns);
      if (more === undefined) return rows;
      rows.push(...more);
    }
  }

  /** The open end as it would be shown now. */
  open(columns: number): Line[] {
    if (this.#fence !== undefined) return renderCode(cleanText(this.#tail), undefined, columns);
    const rows = renderBlocks(lexMarkdown(this.#tail), columns);
    return rows.length > 0 && this.#any && !this.#joins ? [[], ...rows] : rows;
  }

  /** The answer is over: the rest of it. */
  finish(columns: number): Line[] {
    if (this.#tail !== '' && !this.#tail.endsWith('\n')) this.#tail += '\n';
    const rows = this.take(columns);
    const rest = this.#fence === undefined ? this.open(columns) : [];
    this.#tail = '';
    this.#fence = undefined;
    this.#any = false;
    this.#joins = false;
    return [...rows, ...rest];
  }

  #takeBlocks(columns: number): Line[] | undefined {
    const source = cleanText(this.#tail);
    const tokens = lexMarkdown(source);
    const last = tokens.at(-1);
    if (last === undefined) return undefined;
    // A list goes on after an empty line.
    const isOpenList = last.type === 'space' && tokens.at(-2)?.type === 'list';
    const open = isOpenList ? tokens.length - 2 : tokens.length - 1;
    const closed = tokens.slice(0, open);
    const offset = closed.reduce((sum, { raw }) => sum + raw.length, 0);
    const rows = this.#separated(closed, columns);
    this.#tail = source.slice(offset);
    const token = tokens[open];
    const started = token === undefined ? undefined : this.#startFence(token);
    const items =
      token?.type === 'list' ? this.#takeItems(token as Tokens.List, columns) : undefined;
    if (rows.length === 0 && started === undefined && items === undefined) return undefined;
    return [...rows, ...(started ?? []), ...(items ?? [])];
  }

  #separated(tokens: readonly Token[], columns: number): Line[] {
    return tokens.flatMap((token) => {
      const block = renderBlock(token, columns);
      if (block.length === 0) return [];
      const rows = this.#any && !(this.#joins && token.type === 'list') ? [[], ...block] : block;
      this.#any = true;
      this.#joins = false;
      return rows;
    });
  }

  /** Items before the last one are finished; the list goes on with the number of the last. */
  #takeItems(list: Tokens.List, columns: number): Line[] | undefined {
    const done = list.items.slice(0, -1);
    const length = done.reduce((sum, { raw }) => sum + raw.length, 0);
    const lastItem = list.items.at(-1)?.raw ?? '';
    if (done.length === 0 || !this.#tail.slice(length).startsWith(lastItem)) return undefined;
    const rows = this.#separated([{ ...list, items: done }], columns);
    this.#tail = this.#tail.slice(length);
    this.#joins = true;
    return rows;
  }

  #startFence(token: Token): Line[] | undefined {
    const match = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/.exec(this.#tail);
    if (token.type !== 'code' || match === null) return undefined;
    const [whole, marker = '', info = ''] = match;
    this.#fence = { language: info.trim().split(/\s/)[0], marker, code: '', taken: 0 };
    this.#tail = this.#tail.slice(whole.length);
    const rows: Line[] = this.#any ? [[]] : [];
    this.#any = true;
    this.#joins = false;
    return rows;
  }

  #takeCode(fence: Fence, columns: number): Line[] | undefined {
    const end = this.#tail.lastIndexOf('\n');
    if (end < 0) return undefined;
    const complete = cleanText(this.#tail.slice(0, end)).split('\n');
    const closing = complete.findIndex((row) => isClosing(row, fence.marker));
    const code = closing < 0 ? complete : complete.slice(0, closing);
    const rest = closing < 0 ? [] : complete.slice(closing + 1);
    this.#tail = [...rest, this.#tail.slice(end + 1)].join('\n');
    if (closing >= 0) this.#fence = undefined;
    if (code.length === 0) return closing < 0 ? undefined : [];
    if (fence.taken > COLOURED_LINES) {
      fence.taken += code.length;
      return renderCode(code.join('\n'), undefined, columns);
    }
    fence.code += `${code.join('\n')}\n`;
    // Rows before the new lines were handed out: render both and drop as many as the old ones take.
    const before =
      fence.taken === 0
        ? 0
        : renderCode(firstLines(fence.code, fence.taken), fence.language, columns).length;
    fence.taken += code.length;
    return renderCode(fence.code.slice(0, -1), fence.language, columns).slice(before);
  }
}

function firstLines(text: string, count: number): string {
  return text.split('\n').slice(0, count).join('\n');
}

function isClosing(row: string, marker: string): boolean {
  const bare = row.replace(/^ {0,3}/, '').trimEnd();
  return bare.length >= marker.length && bare === (marker[0] ?? '`').repeat(bare.length);
}
