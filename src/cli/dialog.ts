import type { AnyAnswer, PermissionAnswer, Question } from '../client/questions.js';
import { printable } from '../util/printable.js';
import { sliceWhole } from '../util/truncate.js';
import { visible } from '../util/visible.js';
import { currentText, previewCall, type ReadCurrent, shortened } from './call-preview.js';
import { askForm, askUrl, type FormTerminal } from './form-dialog.js';

export interface DialogTerminal extends FormTerminal {
  /** For the difference that a Write would make. */
  readonly readCurrent?: ReadCurrent;
}

/** The questions of a session at a terminal, one at a time: two at once would share an answer. */
export interface Dialogs {
  /** Puts the question and passes the answer on, unless the question is withdrawn before. */
  show(question: Question, answer: (given: AnyAnswer) => Promise<unknown>): Promise<void>;
  /** The question is over: answered elsewhere, expired, or its turn was interrupted. */
  withdraw(id: string): void;
}

export function createDialogs(terminal: DialogTerminal): Dialogs {
  const open = new Map<string, AbortController>();
  let last: Promise<unknown> = Promise.resolve();
  const put = async (question: Question, signal: AbortSignal): Promise<AnyAnswer | undefined> => {
    if (signal.aborted) return undefined;
    const answer = await answerQuestion(question, terminal, signal);
    return signal.aborted ? undefined : answer;
  };
  return {
    async show(question, answer) {
      const closed = new AbortController();
      open.set(question.id, closed);
      const asking = last.then(() => put(question, closed.signal));
      last = asking.catch(() => undefined);
      const given = await asking;
      open.delete(question.id);
      if (given !== undefined) await answer(given);
    },
    withdraw(id) {
      open.get(id)?.abort();
    },
  };
}

async function answerQuestion(
  question: Question,
  terminal: DialogTerminal,
  signal: AbortSignal,
): Promise<AnyAnswer> {
  switch (question.kind) {
    case 'permission':
    case 'plan':
      return await askPermission(question, terminal, signal);
    case 'choices':
      return await askChoices(question, terminal, signal);
    case 'form':
      return await askForm(question, terminal, signal);
    case 'url':
      return await askUrl(question, terminal, signal);
    case 'confirm': {
      const { title, details, options } = question;
      const keys = options.map(({ key }) => key).join('/');
      const text = [
        '',
        ...details.map(printable),
        ...options.map(({ key, label }) => `  ${key}  ${visible(label)}`),
        `${visible(title)} [${keys}] `,
      ];
      const chosen = pick(options, await terminal.ask(text.join('\n'), signal));
      // fail-closed: anything but a clear choice refuses.
      return { option: (chosen ?? options.at(-1))?.key ?? '' };
    }
  }
}

/** The option that a line names by its key, or by the word behind the key. */
function pick<T extends { readonly key: string }>(
  options: readonly T[],
  line: string | undefined,
): T | undefined {
  const word = line?.trim().toLowerCase() ?? '';
  const key = WORDS.get(word) ?? word;
  return options.find((option) => option.key === key);
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['yes', 'y'],
  ['no', 'n'],
]);

/** Of what a call would do; `v` shows the rest. */
const SHOWN = { lines: 24, length: 200 };

async function askPermission(
  question: Extract<Question, { kind: 'permission' | 'plan' }>,
  { ask, readCurrent = currentText }: DialogTerminal,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  const { options, call } = question;
  const preview =
    question.kind === 'plan'
      ? { title: 'The model wants to carry out this plan', lines: planLines(question.markdown) }
      : previewCall(call, readCurrent);
  const short = shortened(preview.lines, SHOWN);
  const keys = options.map(({ key }) => key);
  if (short.isCut) keys.splice(-1, 0, 'v');
  const prompt = `  Allow? [${keys.join('/')}] `;
  const rows = options.map(({ key, label }) => `  ${key}  ${printable(label)}`);
  if (short.isCut) rows.splice(-1, 0, '  v  View all of it first');
  const title =
    question.kind === 'plan' ? preview.title : `${printable(call.tool)}: ${preview.title}`;
  let text = [
    `\n? ${agentLabel(question)}${title}`,
    ...short.lines.map(quote),
    ...reasonLines(question),
    ...rows,
    prompt,
  ].join('\n');
  for (;;) {
    const line = (await ask(text, signal)) ?? '';
    if (!short.isCut || !/^\s*v\s*$/i.test(line)) return permissionAnswer(question, line.trim());
    text = ['', ...preview.lines.map(quote), prompt].join('\n');
  }
}

/** fail-closed: anything but a clear yes is a no, and so is the end of input. */
function permissionAnswer(
  { options }: Extract<Question, { kind: 'permission' | 'plan' }>,
  line: string,
): PermissionAnswer {
  const chosen = pick(options, line);
  if (chosen?.answer.behavior === 'allow') return chosen.answer;
  const why = line.replace(/^no?\b[\s,:]*/i, '');
  return why === ''
    ? { behavior: 'deny', message: 'The user said no.', interrupt: true }
    : { behavior: 'deny', message: `The user said no: ${why}` };
}

/** Hooks may write reasons of several lines; only the first is shown without a mark. */
function reasonLines({ reason, expiresAt }: Question): string[] {
  const [first = '', ...rest] = printable(reason).split('\n');
  const until = expiresAt === undefined ? [] : [`  No answer until ${expiresAt} means no.`];
  return [...(first === '' ? [] : [`  ${first}`]), ...rest.map(quote), ...until];
}

/** Marks a line that the model wrote. */
function quote(line: string): string {
  return `  │ ${line}`;
}

function planLines(markdown: string): readonly string[] {
  return printable(markdown).trimEnd().split('\n');
}

/** The address of an agent that works for another one. */
function agentLabel({ agent }: Question): string {
  if (agent.depth === 0) return '';
  const name = agent.name === undefined ? '' : `${printable(agent.name)}, `;
  return `${name}${printable(agent.path)} · `;
}

const MAX_PREVIEW_LINES = 12;

/** The questions of AskUserQuestion, one after the other. */
async function askChoices(
  question: Extract<Question, { kind: 'choices' }>,
  terminal: DialogTerminal,
  signal: AbortSignal,
): Promise<AnyAnswer> {
  const answers: [string, string][] = [];
  terminal.out(`\n? ${agentLabel(question)}The model has a question for you\n`);
  for (const one of question.questions) {
    const line = await terminal.ask(choiceText(one), signal);
    if (line === undefined) {
      return { behavior: 'deny', message: 'The user did not answer.', interrupt: true };
    }
    const answer = chosenLabels(one, line.trim());
    if (answer !== '') answers.push([one.question, answer]);
  }
  if (answers.length === 0) return { behavior: 'deny', message: 'The user did not answer.' };
  return { answers: Object.fromEntries(answers) };
}

type Choice = Extract<Question, { kind: 'choices' }>['questions'][number];

function choiceText({ question, header, multiSelect, options }: Choice): string {
  const rows = options.flatMap(({ label, description, preview }, at) => [
    `  ${at + 1}  ${visible(label)}${description === '' ? '' : `: ${visible(description)}`}`,
    ...(preview === undefined ? [] : previewLines(preview)),
  ]);
  const how = multiSelect ? 'numbers with commas' : 'a number';
  return [
    ...(header === '' ? [] : [`  [${visible(header)}]`]),
    ...printable(question).split('\n').map(quote),
    ...rows,
    `  Answer [${how}, or your own words; Enter to skip] `,
  ].join('\n');
}

function previewLines(preview: string): readonly string[] {
  const { lines } = shortened(printable(preview).split('\n'), {
    lines: MAX_PREVIEW_LINES,
    length: SHOWN.length,
  });
  return lines.map((line) => `     │ ${line}`);
}

/** Numbers stand for labels; everything else is the person's own answer. */
function chosenLabels({ options, multiSelect }: Choice, line: string): string {
  const words = line.split(/[\s,]+/).filter((word) => word !== '');
  const labels = words.map((word) =>
    /^\d{1,3}$/.test(word) ? options[Number(word) - 1]?.label : undefined,
  );
  const areAll = words.length > 0 && labels.every((label) => label !== undefined);
  if (!areAll || (!multiSelect && labels.length > 1)) return sliceWhole(line, 0, 10_000);
  return [...new Set(labels)].join(', ');
}
