import { readOutput, withTextAsContext } from './answer-output.js';
import { isRestraint, restraintOnly, withoutGrants } from './answer-restraint.js';
import { failure, noAnswer, type ReadAnswer } from './answer-result.js';
import { firstLine, said, tidy } from './answer-text.js';
import { type Hook, type HookAnswer, type HookRaw, NO_ANSWER } from './hook.js';

type Ended = Extract<HookRaw, { kind: 'process' }>;

/** What the end of a process means: 0 its output, 2 no, 1 the documented error, all else a failure. */
export function readProcess(hook: Hook, raw: Ended): ReadAnswer {
  const { exitCode, signal, stdout, stderr, cut } = raw;
  if (signal !== null || exitCode === null) {
    return noAnswer(failure('signal', `it was ended by ${signal ?? 'something unknown'}`));
  }
  if (exitCode === 126 || exitCode === 127) {
    const message = `${programOf(hook)} cannot be started (${endOf(raw)})`;
    return noAnswer(failure('cannot-start', message));
  }
  const read = readOutput(hook, { text: stdout, cut });
  if (exitCode === 2) {
    return { answer: blocked(read.ok ? read.value : { ...NO_ANSWER, text: stdout }, stderr) };
  }
  if (exitCode === 0) {
    return read.ok ? { answer: withTextAsContext(hook, read.value) } : noAnswer(read.error);
  }
  // fail-closed: who wrote that a failure blocks did not mean all failures but the commonest one.
  if (exitCode === 1 && hook.event !== 'WorktreeCreate' && hook.strict !== true) {
    const complaint = firstLine(stderr) || firstLine(stdout) || 'it said nothing';
    if (!read.ok) return { ...noAnswer(read.error), complaint };
    return { answer: restraintOnly(read.value), complaint };
  }
  if (read.ok && isRestraint(read.value)) {
    return { answer: restraintOnly(read.value), complaint: `it ended with ${endOf(raw)}` };
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
    ...(text === undefined ? {} : { text: tidy(text) }),
  };
}

function endOf({ exitCode, stderr }: Ended): string {
  const words = firstLine(stderr);
  return `exit code ${exitCode}${words === '' ? '' : `: ${words}`}`;
}

const FIRST_WORD = /^\s*(?:\w+=\S*\s+)*(?:"([^"]+)"|'([^']+)'|(\S+))/;

function programOf({ handler, label }: Hook): string {
  if (handler.type !== 'command') return label;
  if (handler.args !== undefined) return firstLine(handler.command) || label;
  const [, double, single, bare] = FIRST_WORD.exec(handler.command) ?? [];
  return firstLine(double ?? single ?? bare ?? '') || label;
}
