import { messageOf } from '../errors.js';
import { orAbort } from '../lib/abort.js';
import type { Finding } from './guard.js';
import type { AskAnswer, Asker, AskRequest } from './types.js';

export interface Answered {
  /** Absent when no answer came. */
  readonly given?: AskAnswer;
  readonly decision: 'allow' | 'deny';
  /** For the receipt, and for the model when the answer is no. */
  readonly text: string;
}

export interface Questions {
  /** Never throws: a question that cannot be put is answered no. */
  put(request: AskRequest, asker: Asker): Promise<Answered>;
}

/** Questions that are open at the same time and are the same are put once; an answer serves those who waited for it and nobody later. */
export function createQuestions(): Questions {
  const open = new Map<string, { asker: Asker; answer: Promise<AskAnswer> }>();

  const ask = (request: AskRequest, asker: Asker): Promise<AskAnswer> => {
    const { tool, input, workspace, agent } = request.call;
    // What one background agent is allowed, another is not.
    const whose = agent.background ? agent.path : '';
    const { mode, reason } = request;
    // The same words in another directory are another question.
    const key = JSON.stringify([tool.name, workspace.cwd, whose, mode, reason, input]);
    const waiting = open.get(key);
    if (waiting?.asker === asker) return waiting.answer;
    const answer = asker(request).finally(() => open.delete(key));
    open.set(key, { asker, answer });
    return answer;
  };

  return {
    async put(request, asker) {
      const { tool, signal } = request.call;
      try {
        const given = await orAbort(ask(request, asker), signal);
        if (given?.behavior === 'allow') {
          return { given, decision: 'allow', text: `allowed when asked: ${request.reason}` };
        }
        // fail-closed: anything but a clear yes is a no.
        const text = given?.message || `The user refused ${tool.name}.`;
        return { given, decision: 'deny', text };
      } catch (thrown) {
        // fail-closed: no answer is a no.
        const why = messageOf(thrown);
        const text = `${tool.name} requires approval, and the question was not answered (${why}).`;
        return { decision: 'deny', text };
      }
    },
  };
}

/** The very question that was just answered needs no second answer; another one was never put. */
export function isAnswered(finding: Finding, question: Finding | undefined): boolean {
  if (finding.settledByAnswer === true) return true;
  return (
    finding.decision === 'ask' &&
    question?.decision === 'ask' &&
    finding.source !== undefined &&
    finding.source === question.source &&
    finding.blockedPath === question.blockedPath
  );
}
