import { proposedChange, type ReadText } from '../../client/proposed-change.js';
import type { AnyAnswer, Question } from '../../client/questions.js';
import { visible } from '../../lib/text/visible.js';
import { type Line, line, STYLE, span, wrapLine } from '../screen/line.js';
import { renderHunks } from '../views/diff-view.js';
import { renderMarkdown } from '../views/markdown.js';
import { type DialogOption, dimText, quoted, warningRows } from './dialog.js';

/** An answer to choose from. */
export interface AnswerChoice extends DialogOption {
  readonly answer: AnyAnswer;
  /** A comment for the model may replace the answer. */
  readonly takesComment?: boolean | undefined;
}

/** A question whose answers are options; the refusal is last. */
export interface OptionQuestion {
  readonly title: string;
  /** What it is about, with the words of others behind a bar. */
  body(columns: number): Line[];
  /** Why it is asked. */
  notes(columns: number): Line[];
  readonly options: readonly AnswerChoice[];
}

/** Describes a question once, for the drawn dialog and for the lines of append-only mode. */
export function describeQuestion(
  question: Extract<Question, { kind: 'permission' | 'plan' | 'url' | 'confirm' }>,
  readText: ReadText,
): OptionQuestion {
  switch (question.kind) {
    case 'permission':
    case 'plan':
      return {
        title: `${question.kind === 'plan' ? 'Carry out this plan?' : `Allow ${question.call.tool}?`}${askedBy(question)}`,
        body: (columns) =>
          question.kind === 'plan'
            ? renderMarkdown(question.markdown, columns)
            : callRows(question.call, readText, columns),
        notes: (columns) => reasons(question).flatMap((text) => dimText(text, columns)),
        options: question.options.map(({ key, label, rule, savedIn, answer }) => ({
          key,
          label,
          note:
            rule === undefined || (label.includes(rule) && savedIn === undefined)
              ? undefined
              : `rule ${rule}${savedIn === undefined ? '' : ` → ${savedIn}`}`,
          answer,
          takesComment: answer.behavior === 'deny',
        })),
      };
    case 'url':
      return {
        title: `The MCP server "${question.server}" asks you to open a page`,
        body: (columns) => [
          ...quoted(question.message, columns),
          ...warningRows(question.warnings, columns),
          ...quoted(question.url, columns, STYLE.link),
          ...wrapLine(line('The host is ', span(visible(question.host), STYLE.bold)), columns),
        ],
        notes: () => [],
        options: [
          { key: 'y', label: 'I have opened it, or will', answer: { action: 'accept' } },
          { key: 'n', label: 'No', answer: { action: 'decline' } },
          { key: 'c', label: 'Not now', answer: { action: 'cancel' } },
        ],
      };
    case 'confirm':
      return {
        title: question.title,
        body: (columns) =>
          question.details.flatMap((detail) => wrapLine(line(span(shownDetail(detail))), columns)),
        notes: () => [],
        options: question.options.map((option) => ({ ...option, answer: { option: option.key } })),
      };
  }
}

/** Names an agent that works for another one. */
export function askedBy({ agent }: Question): string {
  if (agent.path === 'main') return '';
  return ` · asked by ${agent.path}${agent.background ? ' (background)' : ''}`;
}

type Call = Extract<Question, { kind: 'permission' }>['call'];

/** All of a command, a file's change as a difference, and every other field of the input. */
function callRows({ tool, input, summary }: Call, readText: ReadText, columns: number): Line[] {
  const change = proposedChange(tool, input, readText);
  if (change !== undefined) {
    return [
      ...quoted(change.path, columns, STYLE.bold),
      ...(change.note === '' ? [] : dimText(change.note, columns)),
      ...(change.hunks.length === 0
        ? dimText('Nothing changes.', columns)
        : renderHunks(
            change.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(shownChange) })),
            columns,
          )),
    ];
  }
  const about = typeof input.command === 'string' ? input.command : summary;
  return [
    ...quoted(about, columns, STYLE.bold),
    ...Object.entries(input).flatMap(([name, value]) => {
      if (value === undefined || value === about || value === summary) return [];
      const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
      return quoted(`${name}: ${text}`, columns, STYLE.dim);
    }),
  ];
}

function reasons({
  reason,
  call,
  expiresAt,
}: Extract<Question, { kind: 'permission' | 'plan' }>): string[] {
  const { rule, blockedPath, server } = call;
  return [
    `Why: ${reason}`,
    ...(rule === undefined ? [] : [`Rule: ${rule.text} (${rule.source})`]),
    ...(blockedPath === undefined ? [] : [`Path: ${blockedPath}`]),
    ...(server === undefined ? [] : [`MCP server ${server.name} (${server.source})`]),
    ...(expiresAt === undefined ? [] : [`No answer until ${expiresAt} means no.`]),
  ];
}

function shownChange(row: string): string {
  const indent = /^.[ \t]{0,60}/.exec(row)?.[0] ?? '';
  return `${indent}${visible(row.slice(indent.length))}`;
}

function shownDetail(detail: string): string {
  const indent = /^ {0,20}/.exec(detail)?.[0] ?? '';
  return `${indent}${visible(detail.slice(indent.length))}`;
}
