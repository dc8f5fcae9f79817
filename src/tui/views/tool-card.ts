import type { ToolCallView } from '../../client/events.js';
import { isRecord } from '../../lib/own.js';
import { textOf } from '../../protocol/content.js';
import type { ToolCallResult } from '../../protocol/tool-call.js';
import { cutLine, type Line, line, lines, STYLE, span, wrapLine } from '../screen/line.js';
import { countChanges, foldRows, hunksOfResult, renderHunks } from './diff-view.js';
import { formatDuration, plural } from './format.js';

/** A tool call from its beginning to its result. */
export interface ToolCard {
  readonly call: ToolCallView;
  /** When it began to run; the wait for an answer is not counted. */
  startedAt: number;
  state: 'pending' | 'running' | 'denied' | 'done' | 'failed';
  endedAt?: number;
  /** The newest output of a call that runs. */
  output: string;
  /** Why it was refused. */
  reason?: string;
  /** Who decided about the call, and why. */
  receipt?: string;
  result?: ToolCallResult;
}

export interface CardOptions {
  readonly columns: number;
  readonly now: number;
  /** Everything, for the transcript viewer. */
  readonly expanded?: boolean | undefined;
  readonly showReceipts?: boolean | undefined;
}

const SUBJECT_FIELDS = [
  'command',
  'file_path',
  'notebook_path',
  'pattern',
  'url',
  'description',
  'skill',
  'subject',
  'query',
  'task_id',
  'taskId',
  'to',
  'server',
];

/** What a call is about: its command, file or pattern. */
export function callSubject(input: unknown): string {
  if (!isRecord(input)) return '';
  if (Array.isArray(input.todos)) return plural(input.todos.length, 'task');
  if (Array.isArray(input.questions)) {
    return input.questions.map((one) => (isRecord(one) ? String(one.question) : '')).join(' · ');
  }
  const field = SUBJECT_FIELDS.find((name) => typeof input[name] === 'string');
  if (field !== undefined) return String(input[field]);
  return Object.keys(input).length === 0 ? '' : JSON.stringify(input);
}

const MARKS: Readonly<Record<ToolCard['state'], readonly [string, string]>> = {
  pending: ['○', STYLE.dim],
  running: ['●', STYLE.accent],
  denied: ['⊘', STYLE.warning],
  done: ['✓', STYLE.success],
  failed: ['✗', STYLE.error],
};
const LIVE_OUTPUT_ROWS = 4;
const TITLE_ROWS = 4;
const RESULT_ROWS = 6;
const DIFF_ROWS = 30;
const INDENT: Line = [{ text: '  ' }];

/** A call that has no result yet: one row and the end of its output. */
export function runningCard(card: ToolCard, { columns, now }: CardOptions): Line[] {
  const [title = []] = titleRows(card, { columns: columns * 2, now });
  const rows = lines(card.output.trimEnd()).slice(-LIVE_OUTPUT_ROWS);
  const output =
    card.output === '' ? [] : rows.map((row) => cutLine([...INDENT, ...dimmed(row)], columns));
  return [cutLine(title, columns), ...output];
}

/** A call with its result, folded unless everything is wanted. */
export function finishedCard(card: ToolCard, options: CardOptions): Line[] {
  const title = titleRows(card, options);
  const shownTitle =
    options.expanded === true ? title : foldRows(title, TITLE_ROWS, options.columns, '');
  const receipt =
    card.receipt === undefined || !(options.expanded === true || options.showReceipts === true)
      ? []
      : [cutLine(line(span(`  ${card.receipt}`, STYLE.dim)), options.columns)];
  return [[], ...shownTitle, ...receipt, ...resultRows(card, options)];
}

function titleRows(card: ToolCard, { columns, now }: CardOptions): Line[] {
  const [mark, style] = MARKS[card.state];
  const elapsed = (card.endedAt ?? now) - card.startedAt;
  const subject = callSubject(card.call.input);
  const hasRun = card.state !== 'denied' && card.state !== 'pending';
  const time = elapsed >= 1000 && hasRun ? ` ${formatDuration(elapsed)}` : '';
  const rows = lines(subject);
  return rows.flatMap((row, index) =>
    wrapLine(
      [
        ...(index === 0 ? [span(`${mark} `, style), span(`${card.call.tool} `, STYLE.bold)] : []),
        ...row,
        ...(index === rows.length - 1 ? [span(time, STYLE.dim)] : []),
      ],
      columns,
      {
        rest: index === 0 ? line('    ') : line('  '),
        first: index === 0 ? [] : line('    '),
        anywhere: true,
      },
    ),
  );
}

function resultRows(card: ToolCard, { columns, expanded = false }: CardOptions): Line[] {
  if (card.state === 'denied')
    return note(`Not run: ${card.reason ?? 'refused'}`, STYLE.warning, columns);
  const { result } = card;
  if (result === undefined)
    return card.state === 'failed' ? note('No result.', STYLE.dim, columns) : [];
  const { content, is_error: isError } = result.block;
  const text = (typeof content === 'string' ? content : textOf(content)).trimEnd();
  const hunks = isError === true ? undefined : hunksOfResult(result.structured);
  const inner = Math.max(1, columns - 2);
  if (hunks !== undefined && hunks.length > 0) {
    const { added, removed } = countChanges(hunks);
    const summary = `${plural(added, 'line')} added, ${removed} removed`;
    const rows = renderHunks(hunks, inner);
    const shown = expanded ? rows : foldRows(rows, DIFF_ROWS, inner, ' (Ctrl+O shows them)');
    return [...note(summary, STYLE.dim, columns), ...shown.map((row) => [...INDENT, ...row])];
  }
  if (!expanded && isError !== true && QUIET.has(card.call.tool)) {
    return note(quietSummary(card, text), STYLE.dim, columns);
  }
  const style = isError === true ? STYLE.error : STYLE.dim;
  const rows = lines(text === '' ? '(no output)' : text, style).flatMap((row) =>
    wrapLine(row, inner, { anywhere: true }),
  );
  const shown = expanded ? rows : foldRows(rows, RESULT_ROWS, inner, ' (Ctrl+O shows them)');
  return shown.map((row) => [...INDENT, ...row]);
}

/** Tools whose result is for the model: a count says enough. */
const QUIET: ReadonlySet<string> = new Set([
  'Read',
  'Grep',
  'Glob',
  'WebFetch',
  'Skill',
  'TodoWrite',
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
  'TaskGet',
]);

function quietSummary({ call }: ToolCard, text: string): string {
  const count = text === '' ? 0 : text.split('\n').length;
  if (call.tool === 'Glob') return plural(count, 'file');
  if (call.tool === 'Grep' || call.tool === 'Read' || call.tool === 'WebFetch')
    return plural(count, 'line');
  return text.split('\n')[0] ?? '';
}

function note(text: string, style: string, columns: number): Line[] {
  return wrapLine(line(span(text, style)), columns, { first: INDENT });
}

function dimmed(row: Line): Line {
  return row.map(({ text }) => ({ text, style: STYLE.dim }));
}
