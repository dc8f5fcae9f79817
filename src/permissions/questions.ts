import type { AskAnswer, Asker, AskRequest } from './types.js';

export interface Questions {
  ask(request: AskRequest, asker: Asker): Promise<AskAnswer>;
}

/** Questions that are open at the same time and are the same are put once; each answer is used up by those who waited for it. */
export function createQuestions(): Questions {
  const open = new Map<string, { asker: Asker; answer: Promise<AskAnswer> }>();
  return {
    ask(request, asker) {
      const { tool, input, workspace } = request.call;
      // The same words in another directory are another question.
      const key = JSON.stringify([tool.name, workspace.cwd, request.mode, request.reason, input]);
      const waiting = open.get(key);
      if (waiting?.asker === asker) return waiting.answer;
      const answer = asker(request).finally(() => open.delete(key));
      open.set(key, { asker, answer });
      return answer;
    },
  };
}
