import { unreachable } from '../../lib/result.js';
import { hookEventFacts } from '../../protocol/hook-events.js';
import { type Hook, type HookAnswer, type HookRaw, NO_ANSWER } from '../registry/hook.js';
import { readObject } from './object.js';
import { readOutput, withTextAsContext } from './output.js';
import { readProcess } from './process.js';
import { mayRedact, withRedaction } from './redaction.js';
import { failure, noAnswer, type ReadAnswer } from './result.js';
import { said } from './text.js';

/** Reads what came out of a hook, whatever ran it. Never throws, and asks nothing of anybody. */
export function readRaw(hook: Hook, raw: HookRaw): ReadAnswer {
  try {
    return withRedaction(hook, raw, readKind(hook, raw));
  } catch {
    // fail-closed: an object of a callback whose fields cannot even be looked at is no answer.
    const unread = noAnswer(failure('invalid-output', 'the answer cannot be read'));
    return mayRedact(hook) ? { ...unread, redacts: true } : unread;
  }
}

function readKind(hook: Hook, raw: HookRaw): ReadAnswer {
  switch (raw.kind) {
    case 'process':
      return readProcess(hook, raw);
    case 'value': {
      if (raw.value === undefined || raw.value === null) return { answer: NO_ANSWER };
      const read = readObject(hook, raw.value);
      return read.ok ? { answer: read.value } : noAnswer(read.error);
    }
    case 'text': {
      const read = readOutput(hook, { text: raw.text });
      return read.ok ? { answer: withTextAsContext(hook, read.value) } : noAnswer(read.error);
    }
    case 'verdict':
      return { answer: readVerdict(hook, raw) };
    case 'failed':
      return noAnswer(raw.failure);
    default:
      return unreachable(raw);
  }
}

type Verdict = Extract<HookRaw, { kind: 'verdict' }>;

/** What a model decided. Its yes says only that it has no objection: it opens nothing. */
function readVerdict({ event, handler }: Hook, verdict: Verdict): HookAnswer {
  if (verdict.ok === true) return NO_ANSWER;
  const { noEndsTurn, takesImpossible } = hookEventFacts(event);
  const isPrompt = handler.type === 'prompt';
  const ends =
    noEndsTurn === 'always' ||
    (noEndsTurn === 'prompt' && isPrompt && handler.continueOnBlock !== true);
  return {
    decision: 'deny',
    reason: said(verdict.reason) ?? 'the model that was asked said no without saying why',
    fields: {},
    ...(ends ? { endsTurn: true } : {}),
    ...(isPrompt && verdict.impossible === true && takesImpossible === true
      ? { impossible: true }
      : {}),
  };
}
