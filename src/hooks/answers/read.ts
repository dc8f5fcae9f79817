import { unreachable } from '../../lib/result.js';
import { type Hook, type HookRaw, NO_ANSWER } from '../registry/hook.js';
import { readObject } from './object.js';
import { readOutput, withTextAsContext } from './output.js';
import { readProcess } from './process.js';
import { mayRedact, withRedaction } from './redaction.js';
import { failure, noAnswer, type ReadAnswer } from './result.js';
import { readVerdict } from './verdict.js';

export type { ReadAnswer } from './result.js';

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
