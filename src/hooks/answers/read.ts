import { isRecord } from '../../lib/own.js';
import { unreachable } from '../../lib/result.js';
import { hookEventFacts } from '../../protocol/hooks/hook-events.js';
import { type Duplicate, readJsonAt } from '../../settings/files/json.js';
import {
  type Hook,
  type HookAnswer,
  type HookFailure,
  type HookRaw,
  NO_ANSWER,
  noAnswer,
  type ReadAnswer,
} from '../registry/hook.js';
import { readObject } from './object.js';
import {
  isRestraint,
  mayRedact,
  restraintOnly,
  withoutGrants,
  withRedaction,
} from './restraint.js';
import { NOTHING_PRINTED } from './round.js';
import { holdsBrokenVerdict, holdsPlainVerdict, holdsVerdict } from './search.js';
import { cannotStart, failure, firstLine, LONGEST_CONTEXT, lastLines, said, tidy } from './text.js';

/** Reads what came out of a hook, whatever ran it. Never throws. */
export function readRaw(hook: Hook, raw: HookRaw): ReadAnswer {
  try {
    const reading = raw.kind === 'process' ? readProcess(hook, raw) : readOther(hook, raw);
    return mayRedact(hook) ? withRedaction(raw, reading) : reading;
  } catch {
    // fail-closed: an object of a callback whose fields cannot even be looked at is no answer.
    const unread = noAnswer(failure('invalid-output', 'the answer cannot be read'));
    return mayRedact(hook) ? { ...unread, redacts: true } : unread;
  }
}

function readOther(hook: Hook, raw: Exclude<HookRaw, Ended>): ReadAnswer {
  switch (raw.kind) {
    case 'value':
      return (raw.value ?? undefined) === undefined
        ? { answer: NO_ANSWER }
        : readObject(hook, raw.value);
    case 'text':
      return withTextAsContext(hook, readOutput(hook, { text: raw.text }));
    case 'verdict':
      return { answer: readVerdict(hook, raw) };
    case 'failed':
      return noAnswer(raw.failure);
    default:
      return unreachable(raw);
  }
}

type Verdict = Extract<HookRaw, { kind: 'verdict' }>;

/** What a model decided. Its yes says only that it has no objection: it allows nothing. */
function readVerdict({ event, handler }: Hook, verdict: Verdict): HookAnswer {
  if (verdict.ok === true) return NO_ANSWER;
  const { noEndsTurn, takesImpossible } = hookEventFacts(event);
  const isPrompt = handler.type === 'prompt';
  const ends =
    noEndsTurn === 'always' ||
    (noEndsTurn === 'prompt' && isPrompt && handler.continueOnBlock !== true);
  const isImpossible = isPrompt && verdict.impossible === true && takesImpossible === true;
  return {
    decision: 'deny',
    reason: said(verdict.reason) ?? 'the model that was asked said no without saying why',
    fields: {},
    ...(ends ? { endsTurn: true } : {}),
    ...(isImpossible ? { impossible: true } : {}),
  };
}

type Ended = Extract<HookRaw, { kind: 'process' }>;

/** What the end of a process means: 0 its output, 2 a refusal, 1 the documented error, all else a failure. */
function readProcess(hook: Hook, raw: Ended): ReadAnswer {
  const { exitCode, signal, stdout, stderr, cut } = raw;
  if (signal !== null || exitCode === null) {
    return noAnswer(failure('signal', `it was ended by ${signal ?? 'something unknown'}`));
  }
  if (exitCode === 126 || exitCode === 127) return noAnswer(notInstalled(hook, raw));
  const read = readOutput(hook, { text: stdout, cut });
  const isRead = read.failure === undefined;
  if (exitCode === 2) {
    return { answer: blocked(isRead ? read.answer : { ...NO_ANSWER, text: stdout }, stderr) };
  }
  if (exitCode === 0) return withTextAsContext(hook, read);
  // fail-closed: an author who wrote that a failure blocks meant all failures.
  if (exitCode === 1 && hook.event !== 'WorktreeCreate' && hook.strict !== true) {
    const complaint = lastLines(stderr) || lastLines(stdout) || NOTHING_PRINTED;
    return { ...read, answer: isRead ? restraintOnly(read.answer) : NO_ANSWER, complaint };
  }
  if (isRead && isRestraint(read.answer)) {
    const complaint = lastLines(stderr) || NOTHING_PRINTED;
    return { answer: restraintOnly(read.answer), complaint };
  }
  return noAnswer(failure('exit-code', `it ended with ${endOf(raw)}`));
}

/** Exit code 2: a refusal, whatever was printed, and whether or not it can be read. */
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

/** What the shell says that it did not find: `sh: 1: lint-guard: not found`. */
const SHELL_COMPLAINT =
  /^(?:[^\n:]*: )(?:(?:line )?\d+: )?([^\n:]+): (?:command not found|not found|no such file or directory|permission denied|is a directory)/im;

const FIRST_WORD = /^\s*(?:\w+=\S*\s+)*((?:"[^"]*"|'[^']*'|[^\s"'])+)/;

function notInstalled({ handler, label }: Hook, raw: Ended): HookFailure {
  let command = '';
  if (handler.type === 'command') {
    const [, word = ''] = FIRST_WORD.exec(handler.command) ?? [];
    command = handler.args === undefined ? word.replaceAll(/["']/g, '') : handler.command;
  }
  const named = SHELL_COMPLAINT.exec(raw.stderr)?.[1] ?? '';
  const program = firstLine(named) || firstLine(command) || label;
  const kind = raw.exitCode === 127 ? 'missing' : 'not-executable';
  return cannotStart(`${program} cannot be started (${endOf(raw)})`, { program, kind });
}

/** What a hook printed. */
interface Printed {
  readonly text: string;
  /** It is not all. */
  readonly cut?: boolean | undefined;
}

type Reader = Pick<Hook, 'event' | 'role'>;

/**
 * Reads standard output. What starts with a brace must be one valid object and nothing else; other
 * text is text, unless it contains a verdict. (`trim` also removes a byte order mark.)
 */
function readOutput(hook: Reader, { text: printed, cut }: Printed): ReadAnswer {
  const text = printed.trim();
  if (text === '') return { answer: NO_ANSWER };
  const announced = afterAsync(hook, { text, cut });
  if (announced !== undefined) return announced;
  if (!text.startsWith('{')) return readText(hook, { text, cut });
  // fail-closed: what is missing may have been the refusal.
  if (cut === true) return broken('standard output is too long to be read as JSON');
  const read = readJsonAt(text, 0);
  // fail-closed: it is not known what a broken object was going to say.
  if (!read.ok) return broken(`standard output starts like JSON and is none: ${read.message}`);
  if (read.end < text.length) {
    return broken('there is more on standard output than one JSON object');
  }
  const twice = read.duplicates.length > 0 ? duplicateProblem(read.duplicates) : undefined;
  // fail-closed: one of the two values may be the refusal.
  return twice === undefined ? readObject(hook, read.node.value) : broken(twice);
}

function readText({ event, role }: Reader, { text, cut }: Printed): ReadAnswer {
  if (holdsVerdict(text)) {
    // fail-closed: a refusal that is printed beside other text must not get lost.
    return broken('standard output has a verdict inside other text; print the object alone');
  }
  const lost = role === 'gate' ? lostVerdict({ text, cut }) : undefined;
  if (lost !== undefined) return broken(lost);
  const answer = { ...NO_ANSWER, text: tidy(text, LONGEST_CONTEXT) };
  if (event !== 'WorktreeCreate') return { answer };
  if (cut === true) return broken('standard output is too long; its last line is not known');
  const worktreePath = text.slice(text.lastIndexOf('\n') + 1).trim();
  return { answer: { ...answer, fields: { worktreePath } } };
}

/** Why the text of a guard may be a verdict that cannot be read. */
function lostVerdict({ text, cut }: Printed): string | undefined {
  // fail-closed: what is missing, or was lost on the way to UTF-8, may have been the refusal.
  if (cut === true) return 'standard output is too long to be searched for a verdict';
  if (/[\u0000\ufffd]/.test(text)) return 'standard output is not UTF-8 text';
  if (!holdsBrokenVerdict(text) && !holdsPlainVerdict(text)) return undefined;
  return 'standard output has something like a verdict that is not JSON';
}

/**
 * A first line `{"async": true}` announces that the rest is no verdict. Of a process that has ended
 * the rest is known: what it adds counts, and a refusal is an error of the hook.
 */
function afterAsync(hook: Reader, { text, cut }: Printed): ReadAnswer | undefined {
  const end = text.startsWith('{') ? text.indexOf('\n') : -1;
  if (end === -1) return undefined;
  const first = readJsonAt(text.slice(0, end), 0);
  if (!first.ok || text.slice(first.end, end).trim() !== '') return undefined;
  const { value } = first.node;
  if (!isRecord(value) || value.async !== true) return undefined;
  const twice = duplicateProblem(first.duplicates);
  if (twice !== undefined) return broken(twice);
  const announced = readObject(hook, value);
  if (announced.failure !== undefined) return announced;
  const rest = readOutput(hook, { text: text.slice(end + 1), cut });
  if (rest.failure !== undefined || rest.answer.asyncMs !== undefined) return rest;
  if (isRestraint(rest.answer)) {
    // fail-closed: its refusal would be void.
    return broken('it announced "async": true and gave a verdict; an async hook decides nothing');
  }
  const { context, systemMessage, text: other } = rest.answer;
  return { answer: { ...NO_ANSWER, context, systemMessage, text: other } };
}

/** Some events show the model what a hook prints that has come to its end well. */
function withTextAsContext({ event }: Pick<Hook, 'event'>, read: ReadAnswer): ReadAnswer {
  const { answer } = read;
  const isShown = hookEventFacts(event).textIsContext === true && answer.context === undefined;
  const context = isShown ? said(answer.text, LONGEST_CONTEXT) : undefined;
  return context === undefined ? read : { ...read, answer: { ...answer, context } };
}

function broken(message: string): ReadAnswer {
  return noAnswer(failure('broken-output', message));
}

/** Of two equal keys a parser keeps the last value without a word, so that a refusal could be lost. */
export function duplicateProblem(
  duplicates: readonly Pick<Duplicate, 'path'>[],
): string | undefined {
  const key = duplicates[0]?.path.at(-1);
  return key === undefined
    ? undefined
    : `the key ${JSON.stringify(String(key).slice(0, 60))} occurs twice in one object`;
}
