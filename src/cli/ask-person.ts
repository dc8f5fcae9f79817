import { type AskAnswer, type Asker, type AskRequest, describeRule } from '../harness.js';
import { printable } from '../util/printable.js';
import { previewCall, type ReadCurrent, shortened } from './call-preview.js';
import type { AskLine } from './terminal-input.js';

export interface Terminal {
  readonly ask: AskLine;
  out(text: string): void;
  /** For the difference that a Write would make. Without it all of the new text is shown. */
  readonly readCurrent?: ReadCurrent;
}

/** Of what a call would do; `v` shows the rest. */
const SHOWN = { lines: 24, length: 200 };

/** Puts questions to the person at the terminal, one at a time. */
export function createPersonAsker(terminal: Terminal): Asker {
  let queue: Promise<unknown> = Promise.resolve();
  return (request) => {
    const asking = queue.then(() => askPerson(request, terminal));
    queue = asking.catch(() => undefined);
    return asking;
  };
}

async function askPerson(request: AskRequest, terminal: Terminal): Promise<AskAnswer> {
  const { ask, readCurrent = () => 'unreadable' } = terminal;
  const { call, reason } = request;
  if (call.signal.aborted) return { behavior: 'deny', message: 'The question was withdrawn.' };
  const choices = choicesFor(request);
  const preview = previewCall(call, readCurrent);
  const short = shortened(preview.lines, SHOWN);
  const keys = ['y', ...choices.map(({ key }) => key), ...(short.isCut ? ['v'] : []), 'n'];
  const prompt = `  Allow? [${keys.join('/')}] `;
  let text = [
    `\n? ${whoAsks(call)}${printable(call.tool.name)}: ${preview.title}`,
    ...short.lines.map(marked),
    ...reasonLines(reason),
    '  y  Yes, this once',
    ...choices.map(({ key, words }) => `  ${key}  Yes, and ${printable(words)}`),
    ...(short.isCut ? ['  v  View all of it first'] : []),
    '  n  No (add a reason to tell the model what to do instead)',
    prompt,
  ].join('\n');
  for (;;) {
    const line = (await ask(text, call.signal)) ?? 'n';
    if (!short.isCut || !/^\s*v\s*$/i.test(line)) return answerFrom(line.trim(), choices);
    text = ['', ...preview.lines.map(marked), prompt].join('\n');
  }
}

/** Hooks word reasons too. */
function reasonLines(reason: string): string[] {
  const [first = '', ...rest] = printable(reason).split('\n');
  return [`  ${first}`, ...rest.map(marked)];
}

/** Behind it stands what the model wrote. */
function marked(line: string): string {
  return `  │ ${line}`;
}

/** Of an agent that works for another one: its address. */
function whoAsks({ agent }: AskRequest['call']): string {
  const name = agent.name === undefined ? '' : `${printable(agent.name)}, `;
  return agent.depth === 0 ? '' : `${name}${printable(agent.path)} · `;
}

interface Choice {
  readonly key: string;
  readonly words: string;
  readonly answer: AskAnswer;
}

/** Wider answers, where no guard would ask again all the same. */
function choicesFor({ suggestions }: AskRequest): readonly Choice[] {
  if (suggestions === undefined) return [];
  const exact: Choice = {
    key: 'a',
    words: "don't ask again for this exact call this session",
    answer: { behavior: 'allow', scope: { what: 'exact', until: 'session' } },
  };
  const rule =
    suggestions.prefix ?? (suggestions.exact === undefined ? suggestions.tool : undefined);
  if (rule === undefined) return [exact];
  const what = suggestions.prefix === undefined ? 'tool' : 'prefix';
  return [
    exact,
    {
      key: 'p',
      words: `always allow ${describeRule(rule)} in this project (adds the rule ${rule})`,
      answer: { behavior: 'allow', scope: { what, until: 'project' } },
    },
  ];
}

/** fail-closed: anything but a clear yes is a no, and so is the end of input. */
function answerFrom(line: string, choices: readonly Choice[]): AskAnswer {
  if (/^(y|yes)$/i.test(line)) return { behavior: 'allow' };
  const chosen = choices.find(({ key }) => key === line.toLowerCase());
  if (chosen !== undefined) return chosen.answer;
  const why = line.replace(/^no?\b[\s,:]*/i, '');
  return why === ''
    ? { behavior: 'deny', message: 'The user said no.', interrupt: true }
    : { behavior: 'deny', message: `The user said no: ${why}` };
}
