import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { hookEventFacts } from '../../protocol/hook-events.js';
import { readJsonAt } from '../../settings/files/json.js';
import { type Hook, type HookAnswer, type HookFailure, NO_ANSWER } from '../registry/hook.js';
import { duplicateProblem } from './json.js';
import { readObject } from './object.js';
import { failure } from './report-step.js';
import { isRestraint } from './restraint.js';
import { holdsBrokenVerdict, holdsPlainVerdict, holdsVerdict } from './search.js';
import { LONGEST_CONTEXT, said, tidy } from './text.js';

/** What a hook printed. */
export interface Printed {
  readonly text: string;
  /** It is not all. */
  readonly cut?: boolean | undefined;
}

type Reader = Pick<Hook, 'event' | 'role'>;

/**
 * Reads standard output. What starts with a brace must be one valid object and nothing else; other
 * text is text, unless a verdict stands inside it. (`trim` takes a byte order mark away as well.)
 */
export function readOutput(hook: Reader, { text, cut }: Printed): Result<HookAnswer, HookFailure> {
  const printed = { text: text.trim(), cut };
  return afterAsync(hook, printed) ?? readPrinted(hook, printed);
}

function readPrinted(hook: Reader, { text, cut }: Printed): Result<HookAnswer, HookFailure> {
  if (text === '') return ok(NO_ANSWER);
  if (!text.startsWith('{')) return readText(hook, { text, cut });
  // fail-closed: what is missing may have been the no.
  if (cut === true) return broken('standard output is too long to be read as JSON');
  const read = readJsonAt(text, 0);
  // fail-closed: nobody knows what a broken object was going to say.
  if (!read.ok) return broken(`standard output starts like JSON and is none: ${read.message}`);
  if (read.end < text.length) {
    return broken('there is more on standard output than one JSON object');
  }
  const twice = duplicateProblem(read.duplicates);
  // fail-closed: one of the two values may be the no.
  return twice === undefined ? readObject(hook, read.node.value) : broken(twice);
}

function readText(
  { event, role }: Reader,
  { text, cut }: Printed,
): Result<HookAnswer, HookFailure> {
  if (holdsVerdict(text)) {
    // fail-closed: a no that is printed beside other text must not get lost.
    return broken('a verdict stands inside other text on standard output; print the object alone');
  }
  const lost = role === 'gate' ? lostVerdict({ text, cut }) : undefined;
  if (lost !== undefined) return broken(lost);
  if (event !== 'WorktreeCreate') return ok({ ...NO_ANSWER, text: tidy(text, LONGEST_CONTEXT) });
  if (cut === true) return broken('standard output is too long; its last line is not known');
  const worktreePath = text.slice(text.lastIndexOf('\n') + 1).trim();
  return ok({ decision: 'none', fields: { worktreePath }, text: tidy(text, LONGEST_CONTEXT) });
}

/** Why the text of a guard may be a verdict that nobody can read. */
function lostVerdict({ text, cut }: Printed): string | undefined {
  // fail-closed: what is missing, or was lost on the way to UTF-8, may have been the no.
  if (cut === true) return 'standard output is too long to be searched for a verdict';
  if (/[\u0000\ufffd]/.test(text)) return 'standard output is no text in UTF-8';
  if (!holdsBrokenVerdict(text) && !holdsPlainVerdict(text)) return undefined;
  return 'something like a verdict stands on standard output, and it is no JSON';
}

/**
 * A first line `{"async": true}` announces that the rest is no verdict. Of a process that has ended
 * the rest is known: what it adds counts, and a no is an error of the hook.
 */
function afterAsync(
  hook: Reader,
  { text, cut }: Printed,
): Result<HookAnswer, HookFailure> | undefined {
  const end = text.startsWith('{') ? text.indexOf('\n') : -1;
  if (end === -1) return undefined;
  const first = readJsonAt(text.slice(0, end), 0);
  if (!first.ok || text.slice(first.end, end).trim() !== '') return undefined;
  const { value } = first.node;
  if (!isRecord(value) || value.async !== true) return undefined;
  const twice = duplicateProblem(first.duplicates);
  if (twice !== undefined) return broken(twice);
  const announced = readObject(hook, value);
  if (!announced.ok) return announced;
  const rest = readPrinted(hook, { text: text.slice(end + 1).trim(), cut });
  if (!rest.ok || rest.value.asyncMs !== undefined) return rest;
  if (isRestraint(rest.value)) {
    // fail-closed: its no would be void.
    return broken('it announced "async": true and gave a verdict; an async hook decides nothing');
  }
  const { context, systemMessage, text: other } = rest.value;
  return ok({ decision: 'none', fields: {}, context, systemMessage, text: other });
}

/** Some events show the model what a hook prints, where the hook has come to its end well. */
export function withTextAsContext({ event }: Pick<Hook, 'event'>, answer: HookAnswer): HookAnswer {
  if (hookEventFacts(event).textIsContext !== true || answer.context !== undefined) return answer;
  const context = said(answer.text, LONGEST_CONTEXT);
  return context === undefined ? answer : { ...answer, context };
}

function broken(message: string): Result<never, HookFailure> {
  return err(failure('broken-output', message));
}
