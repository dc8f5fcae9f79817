import { type RequestOpinion, readPermissionRequest } from './callback-answer.js';
import { callbacksFor, type Heard, hear, toolInput } from './callback-call.js';
import type { CallbackDeps } from './callbacks.js';
import { suggestedUpdates } from './suggested-updates.js';
import type { AskAnswer, Asker, AskRequest, GateCall } from './types.js';

const EVENT = 'PermissionRequest';

/**
 * Puts a question to the host's PermissionRequest callbacks and, at the same time, to whoever is
 * there to be asked. The first decision counts, and the other question is withdrawn. Undefined when
 * nobody can answer.
 */
export function createCallbackAsker(
  deps: CallbackDeps,
): (call: GateCall, asker: Asker | undefined) => Asker | undefined {
  // One wrapper per asker: questions that are the same are recognised by whom they are put to.
  const wrapped = new Map<Asker | undefined, Asker>();
  return (call, asker) => {
    const names = [call.tool.name, ...(call.tool.aliases ?? [])];
    if (callbacksFor(deps, EVENT, names).length === 0) return asker;
    const known = wrapped.get(asker);
    if (known !== undefined) return known;
    const made: Asker = (request) => race(deps, request, asker);
    wrapped.set(asker, made);
    return made;
  };
}

async function race(
  deps: CallbackDeps,
  request: AskRequest,
  asker: Asker | undefined,
): Promise<AskAnswer> {
  const { call } = request;
  const over = new AbortController();
  const signal = AbortSignal.any([call.signal, over.signal]);
  const person = asker?.({ ...request, call: { ...call, signal } });
  person?.catch(() => {
    // Withdrawn or failed after the callbacks had decided: nobody waits for it any more.
  });
  const callbacks = decide(deps, request, signal);
  try {
    const first = await Promise.race([
      callbacks,
      ...(person === undefined ? [] : [person.then((answer) => ({ answer }))]),
    ]);
    if (first.answer !== undefined) return first.answer;
    if (person !== undefined) return await person;
    const text = `${call.tool.name} requires approval: ${request.reason}. The ${EVENT} callbacks gave no decision, and nobody else is here to give one.`;
    return { behavior: 'deny', message: text };
  } finally {
    over.abort(new Error('another answer came first'));
  }
}

/** What the callbacks say together: a no of any of them counts, else a yes, else nothing. */
async function decide(
  deps: CallbackDeps,
  request: AskRequest,
  signal: AbortSignal,
): Promise<{ readonly answer?: AskAnswer | undefined }> {
  const { call, mode } = request;
  const suggestions = suggestedUpdates(request);
  const input = {
    ...toolInput(deps, EVENT, { call, mode }),
    ...(suggestions.length === 0 ? {} : { permission_suggestions: suggestions }),
  };
  const names = [call.tool.name, ...(call.tool.aliases ?? [])];
  const { toolUseId } = call;
  const question = { input, toolUseId, signal, read: readPermissionRequest };
  const answers = await Promise.all(
    callbacksFor(deps, EVENT, names).map(async (one) => {
      const heard = await hear(deps, one, question);
      if (heard.kind === 'answer' && heard.value.systemMessage !== undefined) {
        const text = `${EVENT}:${call.tool.name}: ${heard.value.systemMessage}`;
        deps.emit({ type: 'notice', level: 'notice', text });
      }
      const answer = answerOf(one.id, heard);
      const ignored = answer?.behavior === 'allow' && deps.restrictOnly?.() === true;
      return ignored ? undefined : answer;
    }),
  );
  const no = answers.find((answer) => answer?.behavior === 'deny');
  return { answer: no ?? answers.find((answer) => answer !== undefined) };
}

function answerOf(id: string, heard: Heard<RequestOpinion>): AskAnswer | undefined {
  if (heard.kind === 'answer') return heard.value.answer;
  if (heard.passes) return undefined;
  // fail-closed: a guard that cannot answer refuses.
  const message = `The guard failed: the ${EVENT} callback ${id} gave no verdict (${heard.message}). A guard that cannot answer refuses; tell the user.`;
  return { behavior: 'deny', message };
}
