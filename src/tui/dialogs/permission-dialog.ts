import type { AnyAnswer, PermissionAnswer, Question } from '../../client/questions.js';
import { visible } from '../../util/visible.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { type Line, line, STYLE, span } from '../screen/line.js';
import { proposedChange, type ReadText, renderHunks } from '../views/diff-view.js';
import { renderMarkdown } from '../views/markdown.js';
import {
  type Dialog,
  type DialogView,
  dimText,
  OPTION_HINT,
  OptionList,
  optionRows,
  quoted,
  ScrollBody,
  stack,
  title,
} from './dialog.js';

type AskedQuestion = Extract<Question, { kind: 'permission' | 'plan' }>;

/** Rows that the command or the change gets at least, where the window has them. */
const FEWEST_ROWS = 6;

/** Whether a call may run, or a plan may be carried out: all of it, who asks, why, and what each answer saves. */
export class PermissionDialog implements Dialog {
  readonly #question: AskedQuestion;
  readonly #readText: ReadText;
  readonly #options: OptionList;
  readonly #scroll = new ScrollBody();
  #comment: Editor | undefined;

  get hint(): string {
    return this.#comment === undefined ? OPTION_HINT : 'Enter sends · Esc goes back';
  }

  constructor(question: AskedQuestion, readText: ReadText) {
    this.#question = question;
    this.#readText = readText;
    this.#options = new OptionList(
      question.options.map(({ key, label, rule, savedIn }) => ({
        key,
        label,
        note:
          rule === undefined || (label.includes(rule) && savedIn === undefined)
            ? undefined
            : `rule ${rule}${savedIn === undefined ? '' : ` → ${savedIn}`}`,
      })),
    );
  }

  view(columns: number, rows: number): DialogView {
    const head = [...this.#head(columns)];
    const asked = this.#body(columns);
    const why = this.#why(columns);
    const isTight = rows - head.length - why.length - this.#options.options.length < FEWEST_ROWS;
    // In a small window the reason scrolls with the command.
    const body = isTight ? [...asked, ...why] : asked;
    const below = isTight ? [] : why;
    if (this.#comment !== undefined) {
      const label = 'What should it do instead? Without a comment the turn ends.';
      const edited = this.#comment.layout(columns, {
        first: line(span('> ', STYLE.accent)),
        rest: line('  '),
      });
      const foot = [...below, ...dimText(label, columns), ...edited.lines];
      const lines = stack({ head, body, foot }, this.#scroll, { columns, rows });
      const first = lines.length - edited.lines.length;
      return { lines, caret: { row: first + edited.caret.row, offset: edited.caret.offset } };
    }
    const room = { columns, rows: rows - head.length - below.length };
    const foot = [...below, ...optionRows(this.#options, body, room)];
    return { lines: stack({ head, body, foot }, this.#scroll, { columns, rows }) };
  }

  press(key: Key): AnyAnswer | undefined {
    if (this.#comment !== undefined) return this.#pressComment(this.#comment, key);
    if (this.#scroll.press(key)) return undefined;
    const { options } = this.#question;
    const index = key.id === 'escape' ? options.length - 1 : this.#options.press(key);
    const chosen = index === undefined ? undefined : options[index];
    if (chosen === undefined) return undefined;
    if (chosen.answer.behavior === 'deny' && key.id !== 'escape') {
      this.#comment = new Editor();
      return undefined;
    }
    return chosen.answer;
  }

  paste(text: string): void {
    this.#comment?.paste(text);
  }

  #pressComment(comment: Editor, key: Key): PermissionAnswer | undefined {
    if (key.id === 'escape') {
      this.#comment = undefined;
      return undefined;
    }
    if (key.id !== 'enter') {
      comment.press(key);
      return undefined;
    }
    const message = comment.expanded.trim();
    const refusal = this.#question.options.at(-1)?.answer ?? { behavior: 'deny' };
    // With a comment the model goes on from there; without one the turn ends.
    return message === '' ? refusal : { behavior: 'deny', message };
  }

  #head(columns: number): Line[] {
    const { agent, call, kind } = this.#question;
    const who =
      agent.path === 'main'
        ? ''
        : ` · asked by ${agent.path}${agent.background ? ' (background)' : ''}`;
    const name = kind === 'plan' ? 'Carry out this plan?' : `Allow ${call.tool}?`;
    return title(`${name}${who}`, columns);
  }

  #body(columns: number): Line[] {
    const question = this.#question;
    if (question.kind === 'plan') return renderMarkdown(question.markdown, columns);
    const { tool, input, summary } = question.call;
    const change = proposedChange(tool, input, this.#readText);
    if (change !== undefined) {
      return [
        ...quoted(change.path, columns, STYLE.bold),
        ...(change.note === '' ? [] : dimText(change.note, columns)),
        ...(change.hunks.length === 0
          ? dimText('Nothing changes.', columns)
          : renderHunks(
              change.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(shownLine) })),
              columns,
            )),
      ];
    }
    const { command } = input;
    const about = typeof command === 'string' ? command : undefined;
    return [
      ...(about === undefined
        ? quoted(summary, columns, STYLE.bold)
        : quoted(about, columns, STYLE.bold)),
      ...Object.entries(input).flatMap(([name, value]) => {
        if (value === undefined || value === about || value === summary) return [];
        const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
        return quoted(`${name}: ${text}`, columns, STYLE.dim);
      }),
    ];
  }

  #why(columns: number): Line[] {
    const { reason, call } = this.#question;
    const rule = call.rule === undefined ? [] : [`Rule: ${call.rule.text} (${call.rule.source})`];
    const path =
      call.blockedPath === undefined
        ? []
        : [`Outside the working directories: ${call.blockedPath}`];
    const server =
      call.server === undefined ? [] : [`MCP server ${call.server.name} (${call.server.source})`];
    return [
      [],
      ...[`Why: ${reason}`, ...rule, ...path, ...server].flatMap((text) => dimText(text, columns)),
      [],
    ];
  }
}

function shownLine(row: string): string {
  const indent = /^.[ \t]{0,60}/.exec(row)?.[0] ?? '';
  return `${indent}${visible(row.slice(indent.length))}`;
}
