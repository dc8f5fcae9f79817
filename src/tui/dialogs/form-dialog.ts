import type { AnyAnswer, Question } from '../../client/questions.js';
import { checkContent, fieldBounds, typedValue } from '../../lib/elicitation-check.js';
import { visible } from '../../lib/text/visible.js';
import type { ElicitField } from '../../protocol/elicitation.js';
import { Editor } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { type Line, line, STYLE, span, wrapLine } from '../screen/line.js';
import {
  type DescribedDialog,
  type Description,
  type DialogView,
  dimText,
  drawDialog,
  namedOption,
  OPTION_HINT,
  OptionList,
  optionKeys,
  quoted,
  ScrollBody,
  warningRows,
} from './dialog.js';

const LAST = [
  { key: 'y', label: 'Send this' },
  { key: 'b', label: 'Go back and change it' },
  { key: 'c', label: 'Not now' },
  { key: 'n', label: 'Do not send it' },
] as const;

/** A form of an MCP server, field by field; what would be sent is shown before it is. */
export class FormDialog implements DescribedDialog {
  readonly #question: Extract<Question, { kind: 'form' }>;
  readonly #values = new Map<string, unknown>();
  readonly #scroll = new ScrollBody();
  readonly #last = new OptionList(LAST);
  #at = 0;
  #editor = new Editor();
  #problem = '';

  constructor(question: Extract<Question, { kind: 'form' }>) {
    this.#question = question;
  }

  get hint(): string {
    return this.#field === undefined
      ? OPTION_HINT
      : 'Enter goes on · Ctrl+B goes back · Ctrl+X declines · Esc puts it off';
  }

  describe(columns: number): Description {
    const { server, message, warnings } = this.#question;
    const field = this.#field;
    const sent = [...this.#values].flatMap(([name, value]) =>
      quoted(`${name}: ${JSON.stringify(value)}`, columns),
    );
    const problem = this.#problem === '' ? [] : warningRows([this.#problem], columns);
    return {
      title: `The MCP server "${server}" asks for input`,
      body: [...quoted(message, columns), ...warningRows(warnings, columns)],
      notes:
        field === undefined
          ? [...dimText(`This is sent to "${server}":`, columns), ...sent]
          : [...fieldRows(field, columns), ...problem],
      options: field === undefined ? LAST : [],
      answers: field === undefined ? optionKeys(LAST) : 'or /cancel, /decline',
    };
  }

  view(columns: number, rows: number): DialogView {
    const editor = this.#field && this.#editor;
    const parts = { scroll: this.#scroll, options: this.#last, editor };
    return drawDialog(this.describe(columns), parts, { columns, rows });
  }

  press(key: Key): AnyAnswer | undefined {
    if (key.id === 'escape') return { action: 'cancel' };
    if (key.id === 'ctrl+x') return { action: 'decline' };
    const field = this.#field;
    if (field === undefined) {
      const index = this.#last.press(key);
      return index === undefined ? undefined : this.#finish(LAST[index]?.key);
    }
    if (key.id === 'pageup' || key.id === 'pagedown') this.#scroll.press(key);
    else if (key.id === 'ctrl+b') this.#goTo(Math.max(0, this.#at - 1));
    else if (key.id === 'enter') this.#enter(field, this.#editor.expanded);
    else this.#editor.press(key);
    return undefined;
  }

  paste(text: string): void {
    this.#editor.paste(text);
  }

  take(text: string): AnyAnswer | undefined {
    const word = text.trim().toLowerCase();
    if (word === '/cancel') return { action: 'cancel' };
    if (word === '/decline') return { action: 'decline' };
    const field = this.#field;
    if (field === undefined) return this.#finish(namedOption(LAST, text)?.key);
    this.#enter(field, text);
    return undefined;
  }

  get #field(): ElicitField | undefined {
    return this.#question.fields[this.#at];
  }

  #goTo(at: number): void {
    this.#at = at;
    this.#editor = new Editor();
    this.#problem = '';
  }

  #enter(field: ElicitField, typed: string): void {
    const isEmpty = typed.trim() === '';
    const { fallback, required } = field;
    const value = isEmpty
      ? fallback === undefined && required
        ? ({ ok: false, error: 'This field is required.' } as const)
        : ({ ok: true, value: fallback } as const)
      : typedValue(field, typed);
    if (!value.ok) {
      this.#problem = value.error;
      return;
    }
    if (value.value === undefined) this.#values.delete(field.name);
    else this.#values.set(field.name, value.value);
    this.#goTo(this.#at + 1);
  }

  /** fail-closed: anything but a clear yes, and values that do not fit the form, send nothing. */
  #finish(key: string | undefined): AnyAnswer | undefined {
    if (key === 'c') return { action: 'cancel' };
    if (key === 'b') {
      this.#goTo(0);
      return undefined;
    }
    const checked = checkContent(this.#question.fields, Object.fromEntries(this.#values));
    return key === 'y' && checked.ok
      ? { action: 'accept', content: checked.value }
      : { action: 'decline' };
  }
}

function fieldRows(field: ElicitField, columns: number): Line[] {
  const { title: label, name, description, required, secret } = field;
  const called = label === name ? visible(name) : `${visible(label)} (${visible(name)})`;
  const facts = [
    required ? 'required' : 'optional',
    ...fieldBounds(field),
    ...(field.fallback === undefined ? [] : [`default ${JSON.stringify(field.fallback)}`]),
  ].join(', ');
  return [
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
