import type { Question } from '../client/questions.js';
import type { ElicitField, ElicitReply } from '../protocol/elicitation.js';
import { checkContent, typedValue } from '../util/elicit-check.js';
import { sliceWhole } from '../util/truncate.js';
import { visible } from '../util/visible.js';
import type { AskLine } from './terminal-input.js';

export interface FormTerminal {
  readonly ask: AskLine;
  out(text: string): void;
}

/** Wrong answers to one field before the whole form is declined. */
const MAX_TRIES = 5;
const MAX_SHOWN = 500;

const DECLINE: ElicitReply = Object.freeze({ action: 'decline' });
const CANCEL: ElicitReply = Object.freeze({ action: 'cancel' });

interface Dialogue {
  readonly terminal: FormTerminal;
  readonly signal: AbortSignal;
}

type Form = Extract<Question, { kind: 'form' }>;
type Page = Extract<Question, { kind: 'url' }>;

/** The server is named first, in our words; its own words stand behind a mark. */
function opening({ server, message, warnings }: Form | Page): readonly string[] {
  return [
    `\n? The MCP server "${shown(server)}" asks:`,
    ...message
      .split('\n')
      .slice(0, 20)
      .map((line) => `  | ${shown(line)}`),
    ...warnings.map((warning) => `  ! ${shown(warning)}`),
  ];
}

/** A page that a server wants the person to open. */
export async function askUrl(
  question: Page,
  { ask }: FormTerminal,
  signal: AbortSignal,
): Promise<ElicitReply> {
  const text = [
    ...opening(question),
    '  It wants you to open this address yourself. Nothing opens it for you:',
    `    ${visible(question.url)}`,
    `  The host is  >>> ${visible(question.host)} <<<`,
    '  y  Yes, I have opened it or will',
    '  n  No',
    '  c  Cancel',
    '  Agree? [y/n/c] ',
  ];
  const line = (await ask(text.join('\n'), signal))?.trim();
  // fail-closed: anything but a clear yes is a no, and so is the end of input.
  if (line === undefined || /^(c|cancel)$/i.test(line)) return CANCEL;
  return /^(y|yes)$/i.test(line) ? { action: 'accept' } : DECLINE;
}

/** A form of a server, field by field. */
export async function askForm(
  question: Form,
  terminal: FormTerminal,
  signal: AbortSignal,
): Promise<ElicitReply> {
  const dialogue = { terminal, signal };
  const { out } = terminal;
  const help = '/decline refuses, /cancel puts it off, Enter alone takes the default or skips.';
  out(`${[...opening(question), `  ${help}`].join('\n')}\n`);
  const entries: [string, unknown][] = [];
  for (const field of question.fields) {
    const answer = await askField(field, dialogue);
    if (answer.kind === 'over') return answer.reply;
    if (answer.value !== undefined) entries.push([field.name, answer.value]);
  }
  const content = Object.fromEntries(entries);
  const checked = checkContent(question.fields, content);
  if (!checked.ok) {
    out(`  ! Declined: ${shown(checked.error)}\n`);
    return DECLINE;
  }
  return await confirm(question, checked.value, dialogue);
}

/** The last word, with all that will be sent in front of it. */
async function confirm(
  { server }: Form,
  content: Readonly<Record<string, unknown>>,
  { terminal, signal }: Dialogue,
): Promise<ElicitReply> {
  const sent = Object.entries(content).map(
    ([name, value]) => `    ${shown(name)}: ${shown(JSON.stringify(value))}`,
  );
  const what = sent.length === 0 ? ['    (only that you agree)'] : sent;
  const question = `  This is sent to "${shown(server)}":\n${what.join('\n')}\n  Send? [y/n/c] `;
  const line = (await terminal.ask(question, signal))?.trim();
  if (line === undefined || /^(c|cancel|\/cancel)$/i.test(line)) return CANCEL;
  // fail-closed: anything but a clear yes sends nothing.
  return /^(y|yes)$/i.test(line) ? { action: 'accept', content } : DECLINE;
}

type FieldAnswer =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'over'; readonly reply: ElicitReply };

async function askField(field: ElicitField, { terminal, signal }: Dialogue): Promise<FieldAnswer> {
  terminal.out(fieldText(field));
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const line = await terminal.ask('  > ', signal);
    if (line === undefined) return { kind: 'over', reply: CANCEL };
    const word = line.trim().toLowerCase();
    if (word === '/cancel') return { kind: 'over', reply: CANCEL };
    if (word === '/decline') return { kind: 'over', reply: DECLINE };
    if (word === '') {
      if (field.fallback !== undefined || !field.required) {
        return { kind: 'value', value: field.fallback };
      }
      terminal.out('  ! This field is required.\n');
      continue;
    }
    const value = typedValue(field, line);
    if (value.ok) return { kind: 'value', value: value.value };
    terminal.out(`  ! ${shown(value.error)}\n`);
  }
  // fail-closed: with no answer that fits there is none.
  terminal.out('  ! Declined: no answer that fits.\n');
  return { kind: 'over', reply: DECLINE };
}

function fieldText(field: ElicitField): string {
  const { title, name, description, required, secret } = field;
  const called = title === name ? shown(name) : `${shown(title)} (${shown(name)})`;
  const facts = [required ? 'required' : 'optional', ...bounds(field), ...defaultText(field)];
  const lines = [`  ${called}: ${facts.join(', ')}`];
  if (description !== undefined) lines.push(`    ${shown(description)}`);
  if (secret) lines.push('    ! looks like a secret: do not give one here');
  if (field.kind === 'choice' || field.kind === 'choices') {
    lines.push(
      ...field.choices.map(
        (choice, at) => `    ${at + 1}  ${choiceText(choice.value, choice.title)}`,
      ),
    );
    if (field.kind === 'choices') lines.push('    several numbers, separated by spaces');
  }
  return `${lines.join('\n')}\n`;
}

/** The value stands beside a title that is not it: that is what goes to the server. */
function choiceText(value: string, title: string): string {
  return title === value ? shown(value) : `${shown(title)} (${shown(value)})`;
}

function bounds(field: ElicitField): readonly string[] {
  switch (field.kind) {
    case 'text':
      return [
        ...(field.format === undefined ? ['text'] : [field.format]),
        ...(field.minLength > 0 ? [`at least ${field.minLength} characters`] : []),
      ];
    case 'number':
    case 'integer':
      return [
        field.kind === 'integer' ? 'whole number' : 'number',
        ...(Number.isFinite(field.minimum) ? [`from ${field.minimum}`] : []),
        ...(Number.isFinite(field.maximum) ? [`to ${field.maximum}`] : []),
      ];
    case 'boolean':
      return ['y or n'];
    case 'choice':
      return ['one of'];
    case 'choices':
      return [`${field.minItems} to ${field.maxItems} of`];
  }
}

function defaultText({ fallback }: ElicitField): readonly string[] {
  return fallback === undefined ? [] : [`default ${shown(JSON.stringify(fallback))}`];
}

/** One line; nothing in it moves the cursor or is invisible. */
function shown(text: string): string {
  return visible(sliceWhole(text, 0, MAX_SHOWN));
}
