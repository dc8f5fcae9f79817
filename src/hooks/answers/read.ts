import { unreachable } from '../../lib/result.js';
import { hookEventFacts } from '../../protocol/hook-events.js';
import {
  type Hook,
  type HookAnswer,
  type HookFailure,
  type HookRaw,
  NO_ANSWER,
} from '../registry/hook.js';
import { readObject } from './object.js';
import { readOutput, withTextAsContext } from './output.js';
import { mayRedact, withRedaction } from './redaction.js';
import { cannotStart, failure, NOTHING_PRINTED, noAnswer, type ReadAnswer } from './report-step.js';
import { isRestraint, restraintOnly, withoutGrants } from './restraint.js';
import { firstLine, lastLines, said, tidy } from './text.js';

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

type Ended = Extract<HookRaw, { kind: 'process' }>;

/** What the end of a process means: 0 its output, 2 no, 1 the documented error, all else a failure. */
export function readProcess(hook: Hook, raw: Ended): ReadAnswer {
  const { exitCode, signal, stdout, stderr, cut } = raw;
  if (signal !== null || exitCode === null) {
    return noAnswer(failure('signal', `it was ended by ${signal ?? 'something unknown'}`));
  }
  if (exitCode === 126 || exitCode === 127) return noAnswer(notInstalled(hook, raw));
  const read = readOutput(hook, { text: stdout, cut });
  if (exitCode === 2) {
    return { answer: blocked(read.ok ? read.value : { ...NO_ANSWER, text: stdout }, stderr) };
  }
  if (exitCode === 0) {
    return read.ok ? { answer: withTextAsContext(hook, read.value) } : noAnswer(read.error);
  }
  // fail-closed: who wrote that a failure blocks did not mean all failures but the commonest one.
  if (exitCode === 1 && hook.event !== 'WorktreeCreate' && hook.strict !== true) {
    const complaint = lastLines(stderr) || lastLines(stdout) || NOTHING_PRINTED;
    if (!read.ok) return { ...noAnswer(read.error), complaint };
    return { answer: restraintOnly(read.value), complaint };
  }
  if (read.ok && isRestraint(read.value)) {
    return { answer: restraintOnly(read.value), complaint: lastLines(stderr) || NOTHING_PRINTED };
  }
  return noAnswer(failure('exit-code', `it ended with ${endOf(raw)}`));
}

/** Exit code 2: no, whatever was printed, and whether or not it can be read. */
function blocked({ asyncMs: _void, ...answer }: HookAnswer, stderr: string): HookAnswer {
  const { decision, fields, text } = answer;
  const reason =
    (decision === 'allow' ? undefined : answer.reason) ??
    said(stderr.trim()) ??
    said(text?.trim()) ??
    'a hook said no without saying why (exit code 2)';
  return {
    ...answer,
    decision: 'deny',
    reason,
    fields: withoutGrants(fields),
    text: text === undefined ? undefined : tidy(text),
  };
}

function endOf({ exitCode, stderr }: Ended): string {
  const words = lastLines(stderr);
  return `exit code ${exitCode}${words === '' ? '' : `: ${words}`}`;
}

function notInstalled(hook: Hook, raw: Ended): HookFailure {
  const program = missingProgram(raw.stderr) ?? programOf(hook);
  const kind = raw.exitCode === 127 ? 'missing' : 'not-executable';
  return cannotStart(`${program} cannot be started (${endOf(raw)})`, { program, kind });
}

/** What the shell says that it did not find: `sh: 1: lint-guard: not found`. */
const SHELL_COMPLAINT =
  /^(?:[^\n:]*: )(?:(?:line )?\d+: )?([^\n:]+): (?:command not found|not found|no such file or directory|permission denied|is a directory)/im;

function missingProgram(stderr: string): string | undefined {
  return firstLine(SHELL_COMPLAINT.exec(stderr)?.[1] ?? '') || undefined;
}

const FIRST_WORD = /^\s*(?:\w+=\S*\s+)*((?:"[^"]*"|'[^']*'|[^\s"'])+)/;

function programOf({ handler, label }: Hook): string {
  if (handler.type !== 'command') return label;
  if (handler.args !== undefined) return firstLine(handler.command) || label;
  const [, word = ''] = FIRST_WORD.exec(handler.command) ?? [];
  return firstLine(word.replaceAll(/["']/g, '')) || label;
}
