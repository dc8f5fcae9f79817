import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { readAskAnswer } from '../../permissions/gate/questions.js';
import type { Restriction } from '../../protocol/permissions.js';
import type { Hook, HookAnswer, HookEventName, HookFailure } from '../registry/hook.js';
import { misspeltVerdict, outputProblem, ownFields } from './check-output.js';
import { failure } from './report-step.js';
import { isRestraint, restraintAnywhere, restraintIn, withoutGrants } from './restraint.js';
import { LONGEST_CONTEXT, said } from './text.js';

type Fields = HookAnswer['fields'];
type Decision = HookAnswer['decision'];

/** Milliseconds for a hook that goes on by itself and names no limit. */
export const ASYNC_LIMIT_MS = 15_000;

/** Reads an answer in the form of the event's output. A part that cannot be understood spoils the whole. */
export function readObject(
  { event, role }: Pick<Hook, 'event' | 'role'>,
  value: unknown,
): Result<HookAnswer, HookFailure> {
  if (!isRecord(value)) return invalid('the answer is no object');
  const specific = value.hookSpecificOutput ?? undefined;
  if (specific !== undefined && !isRecord(specific)) {
    return invalid('hookSpecificOutput must be an object');
  }
  if (specific !== undefined && specific.hookEventName !== event) {
    return err(failure('wrong-event', wrongEvent(event, specific.hookEventName)));
  }
  // fail-closed: a verdict that is misspelt was still meant.
  const problem = outputProblem(event, value) ?? unreadVerdict(event, role, value);
  if (problem !== undefined) return invalid(problem);
  const own = ownFields(event, specific ?? {});
  if (event === 'PermissionRequest' && own.decision !== undefined) {
    const answer = readAskAnswer(own.decision);
    if (!answer.ok) return invalid(`hookSpecificOutput.decision: ${answer.error}`);
  }
  // A guard that says no anywhere means it; elsewhere such words may be about something else.
  const meant = role === 'gate' ? restraintAnywhere(value) : restraintIn(value);
  return checked(answerOf(event, value, own), meant);
}

/** A verdict in a form that only hooks of other kinds have, or under a misspelt name. */
function unreadVerdict(
  event: HookEventName,
  role: Hook['role'],
  output: Fields,
): string | undefined {
  if (role === 'observe') return undefined;
  const verdict = output.ok ?? true;
  if (verdict !== true) {
    return '`ok` is the verdict of prompt and agent hooks; other hooks say no by "decision": "block" or exit code 2';
  }
  return misspeltVerdict(event, output);
}

/** An answer that says more than was understood of it is no answer. */
function checked(answer: HookAnswer, meant: Restriction): Result<HookAnswer, HookFailure> {
  if (answer.asyncMs !== undefined) {
    if (!isRestraint(answer) && meant === 'none') return ok(onItsOwn(answer));
    // fail-closed: its no would be void.
    return invalid('it says "async": true, and a verdict besides; an async hook decides nothing');
  }
  const counts = answer.stop === undefined ? answer.decision : 'deny';
  // fail-closed: a no in the wrong place is still meant as a no.
  if (LADDER.indexOf(meant) <= LADDER.indexOf(counts)) return ok(answer);
  return invalid(`it says ${meant}, but not in a place where that counts`);
}

function onItsOwn({ asyncMs, systemMessage }: HookAnswer): HookAnswer {
  return { decision: 'none', fields: {}, asyncMs, systemMessage };
}

function answerOf(event: HookEventName, output: Fields, own: Fields): HookAnswer {
  const { decision, reason } = decided(event, output, own);
  const fields = { ...own };
  // Some hooks put the new input at the top, under the name that it has in their own input.
  const alias = event === 'PreToolUse' ? (output.tool_input ?? undefined) : undefined;
  if (alias !== undefined) fields.updatedInput ??= alias;
  const systemMessage = said(output.systemMessage);
  const context = said(own.additionalContext, LONGEST_CONTEXT);
  return {
    decision,
    fields: decision === 'deny' ? withoutGrants(fields) : fields,
    reason,
    ...(output.continue === false
      ? { stop: said(output.stopReason) ?? 'a hook ended the turn without saying why' }
      : {}),
    systemMessage,
    context,
    ...(output.async === true ? { asyncMs: Number(output.asyncTimeout ?? ASYNC_LIMIT_MS) } : {}),
  };
}

const LADDER: readonly Decision[] = ['none', 'allow', 'ask', 'defer', 'deny'];

/** The old words and the new ones; where they disagree, the stricter one counts. */
function decided(
  event: HookEventName,
  output: Fields,
  own: Fields,
): Pick<HookAnswer, 'decision' | 'reason'> {
  const request = isRecord(own.decision) ? own.decision : {};
  const word = own.permissionDecision ?? request.behavior;
  const stated = LADDER.find((known) => known === word) ?? 'none';
  const old = oldWord(event, output.decision);
  const decision = LADDER.indexOf(old) > LADDER.indexOf(stated) ? old : stated;
  const reasons = [
    said(own.permissionDecisionReason) ?? said(request.message),
    said(output.reason),
  ];
  const reason = (decision === stated ? reasons : reasons.reverse()).find(
    (text) => text !== undefined,
  );
  return { decision, reason };
}

function oldWord(event: HookEventName, word: unknown): Decision {
  if (word === 'block') return 'deny';
  return word === 'approve' && event === 'PreToolUse' ? 'allow' : 'none';
}

function wrongEvent(event: HookEventName, named: unknown): string {
  if (typeof named !== 'string') {
    return `hookSpecificOutput has no hookEventName; it must be "${event}"`;
  }
  return `hookSpecificOutput.hookEventName is ${JSON.stringify(named.slice(0, 60))}, but the event is "${event}"`;
}

function invalid(message: string): Result<never, HookFailure> {
  return err(failure('invalid-output', message));
}
