import type { AnyAnswer, Question } from '../../client/questions.js';
import type { ElicitField } from '../../protocol/elicitation.js';
import { checkContent, typedValue } from '../../util/elicit-check.js';
import { visible } from '../../util/visible.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { type Line, line, STYLE, span, wrapLine } from '../screen/line.js';
import { warningRows } from './confirm-dialog.js';
import {
  type Dialog,
  type DialogView,
  dimText,
  OPTION_HINT,
  OptionList,
  quoted,
  ScrollBody,
  stack,
  title,
} from './dialog.js';

/** A form of an MCP server, field by field; what would be sent is shown before it is. */
export class FormDialog implements Dialog {
  get hint(): string {
    return this.#field === undefined
      ? OPTION_HINT
      : 'Enter goes on · Ctrl+B goes back · Ctrl+X declines · Esc puts it off';
  }

  readonly #question: Extract<Question, { kind: 'form' }>;
  readonly #values = new Map<string, unknown>();
  readonly #scroll = new ScrollBody();
  readonly #last = new OptionList([
    { key: 'y', label: 'Send this' },
    { key: 'n', label: 'Do not send it' },
    { key: 'b', label: 'Go back and change it' },
  ]);
  #at = 0;
  #editor = new Editor();
  #problem = '';

  constructor(question: Extract<Question, { kind: 'form' }>) {
    this.#question = question;
  }

  view(columns: number, rows: number): DialogView {
    const { server, message, warnings } = this.#question;
    const head = title(`The MCP server "${server}" asks for input`, columns);
    const body = [...quoted(message, columns), ...warningRows(warnings, columns)];
    const field = this.#field;
    if (field === undefined) {
      const sent = [...this.#values].flatMap(([name, value]) =>
        quoted(`${name}: ${JSON.stringify(value)}`, columns),
      );
      const foot = [
        ...dimText(`This is sent to "${server}":`, columns),
        ...sent,
        [],
        ...this.#last.lines(columns),
      ];
      return { lines: stack({ head, body, foot }, this.#scroll, { columns, rows }) };
    }
    const edited = this.#editor.layout(columns, {
      first: line(span('> ', STYLE.accent)),
      rest: line('  '),
    });
    const problem = this.#problem === '' ? [] : warningRows([this.#problem], columns);
    const foot = [...fieldRows(field, columns), ...problem, ...edited.lines];
    const lines = stack({ head, body, foot }, this.#scroll, { columns, rows });
    const first = lines.length - edited.lines.length;
    return { lines, caret: { row: first + edited.caret.row, offset: edited.caret.offset } };
  }

  press(key: Key): AnyAnswer | undefined {
    if (key.id === 'escape') return { action: 'cancel' };
    if (key.id === 'ctrl+x') return { action: 'decline' };
    const field = this.#field;
    if (field === undefined) return this.#pressLast(key);
    if (key.id === 'pageup' || key.id === 'pagedown') this.#scroll.press(key);
    else if (key.id === 'ctrl+b') this.#goTo(Math.max(0, this.#at - 1));
    else if (key.id === 'enter') this.#enter(field);
    else this.#editor.press(key);
    return undefined;
  }

  paste(text: string): void {
    this.#editor.paste(text);
  }

  get #field(): ElicitField | undefined {
    return this.#question.fields[this.#at];
  }

  #goTo(at: number): void {
    this.#at = at;
    this.#editor = new Editor();
    this.#problem = '';
  }

  #enter(field: ElicitField): void {
    const typed = this.#editor.expanded;
    if (typed.trim() === '') {
      if (field.fallback === undefined && field.required) {
        this.#problem = 'This field is required.';
        return;
      }
      if (field.fallback === undefined) this.#values.delete(field.name);
      else this.#values.set(field.name, field.fallback);
      this.#goTo(this.#at + 1);
      return;
    }
    const value = typedValue(field, typed);
    if (!value.ok) {
      this.#problem = value.error;
      return;
    }
    this.#values.set(field.name, value.value);
    this.#goTo(this.#at + 1);
  }

  #pressLast(key: Key): AnyAnswer | undefined {
    const index = this.#last.press(key);
    if (index === 2) this.#goTo(0);
    if (index === 1) return { action: 'decline' };
    if (index !== 0) return undefined;
    const checked = checkContent(this.#question.fields, Object.fromEntries(this.#values));
    // fail-closed: values that do not fit the form are not sent.
    return checked.ok ? { action: 'accept', content: checked.value } : { action: 'decline' };
  }
}

function fieldRows(field: ElicitField, columns: number): Line[] {
  const { title: label, name, description, required, secret } = field;
  const called = label === name ? visible(name) : `${visible(label)} (${visible(name)})`;
  const facts = [
    required ? 'required' : 'optional',
    field.kind,
    ...(field.fallback === undefined ? [] : [`default ${JSON.stringify(field.fallback)}`]),
  ].join(', ');
  return [
    [],
    ...wrapLine(line(span(called, STYLE.bold), span(`  ${visible(facts)}`, STYLE.dim)), columns),
    ...(description === undefined ? [] : quoted(description, columns, STYLE.dim)),
    ...(secret ? warningRows(['This looks like a secret. Do not enter one here.'], columns) : []),
    ...(field.kind === 'choice' || field.kind === 'choices'
      ? field.choices.flatMap(({ value, title: shown }, index) =>
          wrapLine(
            line(
              `  ${index + 1}  ${visible(shown)}${shown === value ? '' : ` (${visible(value)})`}`,
            ),
            columns,
          ),
        )
      : []),
  ];
}
