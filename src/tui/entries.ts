import type { CommandOutput } from '../client/events.js';
import { type Line, line, lines, STYLE, span, wrapLine } from './screen/line.js';
import { foldRows } from './views/diff-view.js';
import { formatDuration } from './views/format.js';
import { renderMarkdown } from './views/markdown.js';
import { finishedCard, type ToolCard } from './views/tool-card.js';

/** One finished part of the conversation. */
export type Entry =
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly agent?: string | undefined }
  | { readonly kind: 'thinking'; readonly text: string; readonly durationMs: number }
  | { readonly kind: 'tool'; readonly card: ToolCard }
  | { readonly kind: 'notice'; readonly level: 'info' | 'warning' | 'error'; readonly text: string }
  /** `line` is empty where what was typed stays on the screen. */
  | { readonly kind: 'command'; readonly line: string; readonly output: CommandOutput };

export interface EntryOptions {
  readonly columns: number;
  readonly now: number;
  readonly expanded?: boolean | undefined;
  readonly showThinking?: boolean | undefined;
  /** Who allowed each call, and why. */
  readonly showReceipts?: boolean | undefined;
}

const PROMPT_ROWS = 20;
const THINKING_ROWS = 12;
const NOTICE_STYLES = { info: STYLE.dim, warning: STYLE.warning, error: STYLE.error } as const;

/** An entry as rows of a window; long ones are folded unless everything is wanted. */
export function renderEntry(entry: Entry, options: EntryOptions): Line[] {
  const { columns, expanded = false } = options;
  switch (entry.kind) {
    case 'prompt': {
      const rows = lines(entry.text, STYLE.bold).flatMap((row, index) =>
        wrapLine(row, columns, {
          first: line(span(index === 0 ? '> ' : '  ', STYLE.accent)),
          rest: line('  '),
        }),
      );
      return [[], ...(expanded ? rows : foldRows(rows, PROMPT_ROWS, columns, ''))];
    }
    case 'text':
      return [[], ...renderMarkdown(entry.text, columns)];
    case 'thinking': {
      const title = line(span(`✻ Thought for ${formatDuration(entry.durationMs)}`, STYLE.dim));
      if (!expanded && options.showThinking !== true) return [[], title];
      const rows = lines(entry.text.trim(), STYLE.dim).flatMap((row) =>
        wrapLine(row, columns, { first: line('  ') }),
      );
      return [
        [],
        title,
        ...(expanded ? rows : foldRows(rows, THINKING_ROWS, columns, ' (Ctrl+O shows them)')),
      ];
    }
    case 'tool':
      return finishedCard(entry.card, options);
    case 'notice':
      return lines(entry.text, NOTICE_STYLES[entry.level]).flatMap((row, index) =>
        wrapLine(row, columns, {
          first: index === 0 ? noticeMark(entry.level) : line('  '),
          rest: line('  '),
        }),
      );
    case 'command': {
      const { text, failed, choices } = entry.output;
      const body = text === '' ? [] : lines(text, failed === true ? STYLE.error : undefined);
      const options_ = (choices ?? []).map(({ label }) => line(`  ${label}`));
      const head = wrapLine(line(span('> ', STYLE.accent), span(entry.line, STYLE.bold)), columns);
      return [
        ...(entry.line === '' ? [] : [[], ...head]),
        ...[...body, ...(expanded ? options_ : [])].flatMap((row, index) =>
          wrapLine(row, columns, {
            first: failed === true && index === 0 ? noticeMark('error') : line('  '),
            rest: line('  '),
          }),
        ),
      ];
    }
  }
}

/** Trouble is marked by a sign, too: a terminal may show no colours. */
function noticeMark(level: keyof typeof NOTICE_STYLES): Line {
  return level === 'info' ? line(span('· ', STYLE.dim)) : line(span('! ', NOTICE_STYLES[level]));
}
