import type { AnyAnswer, Question } from '../../client/questions.js';
import { visible } from '../../util/visible.js';
import type { Key } from '../input/keys.js';
import { type Line, line, STYLE, span, wrapLine } from '../screen/line.js';
import {
  type Dialog,
  type DialogView,
  OPTION_HINT,
  OptionList,
  optionRows,
  quoted,
  ScrollBody,
  stack,
  title,
} from './dialog.js';

/** A yes or no of the session itself: trust, an MCP server, an include, a rewind. */
export class ConfirmDialog implements Dialog {
  readonly hint = OPTION_HINT;
  readonly #question: Extract<Question, { kind: 'confirm' }>;
  readonly #options: OptionList;
  readonly #scroll = new ScrollBody();

  constructor(question: Extract<Question, { kind: 'confirm' }>) {
    this.#question = question;
    this.#options = new OptionList(question.options);
  }

  view(columns: number, rows: number): DialogView {
    const body = this.#question.details.flatMap((detail) =>
      wrapLine(line(span(shownDetail(detail))), columns),
    );
    const head = title(this.#question.title, columns);
    const room = { columns, rows: rows - head.length - 1 };
    const foot = [[], ...optionRows(this.#options, body, room)];
    return { lines: stack({ head, body, foot }, this.#scroll, { columns, rows }) };
  }

  press(key: Key): AnyAnswer | undefined {
    if (this.#scroll.press(key)) return undefined;
    const { options } = this.#question;
    const index = key.id === 'escape' ? options.length - 1 : this.#options.press(key);
    const chosen = index === undefined ? undefined : options[index];
    return chosen === undefined ? undefined : { option: chosen.key };
  }

  paste(): void {
    // There is nothing to write.
  }
}

/** An address that a server wants opened. Nothing opens it but the person. */
export class UrlDialog implements Dialog {
  readonly hint = OPTION_HINT;
  readonly #question: Extract<Question, { kind: 'url' }>;
  readonly #options = new OptionList([
    { key: 'y', label: 'I have opened it, or will' },
    { key: 'n', label: 'No' },
    { key: 'c', label: 'Not now' },
  ]);

  constructor(question: Extract<Question, { kind: 'url' }>) {
    this.#question = question;
  }

  view(columns: number): DialogView {
    const { server, message, warnings, url, host } = this.#question;
    return {
      lines: [
        ...title(`The MCP server "${server}" asks you to open a page`, columns),
        ...quoted(message, columns),
        ...warningRows(warnings, columns),
        ...quoted(url, columns, STYLE.link),
        ...wrapLine(line('The host is ', span(visible(host), STYLE.bold)), columns),
        [],
        ...this.#options.lines(columns),
      ],
    };
  }

  press(key: Key): AnyAnswer | undefined {
    const index = key.id === 'escape' ? 2 : this.#options.press(key);
    if (index === undefined) return undefined;
    return { action: (['accept', 'decline', 'cancel'] as const)[index] ?? 'cancel' };
  }

  paste(): void {
    // There is nothing to write.
  }
}

export function warningRows(warnings: readonly string[], columns: number): Line[] {
  return warnings.flatMap((text) =>
    wrapLine(line(span(`! ${visible(text)}`, STYLE.warning)), columns),
  );
}

function shownDetail(detail: string): string {
  const indent = /^ {0,20}/.exec(detail)?.[0] ?? '';
  return `${indent}${visible(detail.slice(indent.length))}`;
}
