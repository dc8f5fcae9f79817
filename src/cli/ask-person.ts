import { type AskAnswer, type Asker, type AskRequest, describeRule } from '../harness.js';
import { printable } from '../util/printable.js';
import type { LineQueue } from './line-queue.js';

export interface Terminal {
  readonly lines: LineQueue;
  /** Only what is typed after a question answers it. Off where all input is there beforehand. */
  readonly freshOnly: boolean;
  out(text: string): void;
}

/** Puts questions to the person at the terminal, one at a time. */
export function createPersonAsker(terminal: Terminal): Asker {
  let queue: Promise<unknown> = Promise.resolve();
  return (request) => {
    const asking = queue.then(() => askPerson(request, terminal));
    queue = asking.catch(() => undefined);
    return asking;
  };
}

async function askPerson(
  request: AskRequest,
  { out, lines, freshOnly }: Terminal,
): Promise<AskAnswer> {
  const { call, reason } = request;
  if (call.signal.aborted) return { behavior: 'deny', message: 'The question was withdrawn.' };
  const choices = choicesFor(request);
  const keys = ['y', ...choices.map(({ key }) => key), 'n'];
  out(
    [
      `\n? ${whoAsks(call)}${call.tool.name}: ${printable(call.subject.command ?? call.subject.summary)}`,
      `  ${printable(reason)}`,
      '  y  yes, this once',
      ...choices.map(({ key, words }) => `  ${key}  yes, and ${printable(words)}`),
      '  n  no; say why behind it, and the model goes on from there',
      `  Allow? [${keys.join('/')}] `,
    ].join('\n'),
  );
  const line = await (freshOnly ? lines.fresh(call.signal) : lines.next(call.signal));
  return answerFrom((line ?? 'n').trim(), choices);
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
    words: 'always this very call, in this session',
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
      words: `always in this project ${describeRule(rule)}: saves the rule ${rule}`,
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
