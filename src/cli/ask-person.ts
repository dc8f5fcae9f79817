import type { AskAnswer, AskRequest } from '../harness.js';
import { printable } from '../util/printable.js';
import type { LineQueue } from './line-queue.js';

export interface PersonDeps {
  readonly lines: LineQueue;
  /** Only what is typed after a question answers it. Off where all input is there beforehand. */
  readonly freshOnly: boolean;
  out(text: string): void;
}

/** Puts questions to the person at the terminal, one at a time: an answer belongs to the one in sight. */
export function askPerson(deps: PersonDeps): (request: AskRequest) => Promise<AskAnswer> {
  let before: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = before.then(() => ask(deps, request));
    before = answer.catch(() => undefined);
    return answer;
  };
}

/** fail-closed: anything but a clear yes is a no, and so are the end of input and an interrupt. */
async function ask(deps: PersonDeps, { call, reason }: AskRequest): Promise<AskAnswer> {
  const { lines, out } = deps;
  const { signal } = call;
  if (signal.aborted) return NO;
  const what = printable(call.subject.command ?? call.subject.summary);
  out(
    `\n? ${call.tool.name}: ${what}\n  ${printable(reason)}\n  Allow this call? [y/n, or n and why] `,
  );
  const line = await (deps.freshOnly ? lines.fresh(signal) : lines.next(signal));
  const answer = (line ?? 'n').trim();
  if (/^(y|yes)$/i.test(answer)) return { behavior: 'allow' };
  const why = answer.replace(/^no?\b[\s,:]*/i, '');
  return why === '' ? NO : { behavior: 'deny', message: `The user said no: ${why}` };
}

const NO: AskAnswer = { behavior: 'deny', message: 'The user said no.', interrupt: true };
