import { COMMON_HOOK_OUTPUT, HOOK_OUTPUTS } from '../../../build/generated/hook-events.js';
import { isRecord } from '../../lib/own.js';
import { readAskAnswer } from '../../permissions/gate/questions.js';
import type { SettingTable } from '../../protocol/settings/setting-node.js';
import { checkValue, DETACHED_FILE } from '../../settings/schema/type-check.js';
import {
  type Hook,
  type HookAnswer,
  type HookEventName,
  NO_ANSWER,
  noAnswer,
  type ReadAnswer,
} from '../registry/hook.js';
import {
  DECIDING,
  isHomemadeNo,
  isRestraint,
  meantField,
  restraintAnywhere,
  restraintIn,
  withoutGrants,
} from './restraint.js';
import { failure, LONGEST_CONTEXT, said } from './text.js';

type Fields = HookAnswer['fields'];
type Decision = HookAnswer['decision'];

/** Milliseconds for a hook that goes on by itself and names no limit. */
const ASYNC_LIMIT_MS = 15_000;

const LADDER: readonly Decision[] = ['none', 'allow', 'ask', 'defer', 'deny'];

/** Reads an answer in the form of the event's output. A part that cannot be understood spoils the whole. */
export function readObject(
  { event, role }: Pick<Hook, 'event' | 'role'>,
  value: unknown,
): ReadAnswer {
  if (!isRecord(value)) return invalid('the answer is not an object');
  const specific = value.hookSpecificOutput ?? {};
  if (!isRecord(specific)) return invalid('hookSpecificOutput must be an object');
  if ((value.hookSpecificOutput ?? undefined) !== undefined && specific.hookEventName !== event) {
    return noAnswer(failure('wrong-event', wrongEvent(event, specific.hookEventName)));
  }
  const keys = outputKeys(event);
  const known = { common: Object.keys(keys), own: Object.keys(keys.hookSpecificOutput.keys) };
  // fail-closed: a verdict that is misspelt was still meant.
  const unread =
    role === 'observe' ? undefined : unreadVerdict({ output: value, specific, role, known });
  const problem = outputProblem(keys, value) ?? unread;
  if (problem !== undefined) return invalid(problem);
  // `null` is how some languages write "absent".
  const given = known.own.map((name) => [name, specific[name] ?? undefined] as const);
  const own = Object.fromEntries(given.filter(([, one]) => one !== undefined));
  if (event === 'PermissionRequest' && own.decision !== undefined) {
    const decision = readAskAnswer(own.decision);
    if (!decision.ok) return invalid(`hookSpecificOutput.decision: ${decision.error}`);
  }
  const answer = answerOf(event, value, own);
  // A guard that says no anywhere means it; elsewhere such words may be about something else.
  const meant = role === 'gate' ? restraintAnywhere(value) : restraintIn(value);
  const { asyncMs, systemMessage } = answer;
  if (asyncMs !== undefined) {
    if (!isRestraint(answer) && meant === 'none') {
      return { answer: { ...NO_ANSWER, asyncMs, systemMessage } };
    }
    // fail-closed: its refusal would be void.
    return invalid('it says "async": true, and a verdict besides; an async hook decides nothing');
  }
  const counts = answer.stop === undefined ? answer.decision : 'deny';
  // fail-closed: a refusal in the wrong place is still meant as one.
  if (LADDER.indexOf(meant) <= LADDER.indexOf(counts)) return { answer };
  return invalid(`it says ${meant}, but not in a place where that counts`);
}

/** Where the old words (`block`, `approve`) and the new ones disagree, the stricter one counts. */
function answerOf(event: HookEventName, output: Fields, own: Fields): HookAnswer {
  const request = isRecord(own.decision) ? own.decision : {};
  const word = own.permissionDecision ?? request.behavior;
  const stated = LADDER.find((known) => known === word) ?? 'none';
  const isYes = output.decision === 'approve' && event === 'PreToolUse';
  const old: Decision = output.decision === 'block' ? 'deny' : isYes ? 'allow' : 'none';
  const isOld = LADDER.indexOf(old) > LADDER.indexOf(stated);
  const decision = isOld ? old : stated;
  const newReason = said(own.permissionDecisionReason) ?? said(request.message);
  const oldReason = said(output.reason);
  const fields = { ...own };
  // Some hooks put the new input at the top, under the name that it has in their own input.
  const alias = event === 'PreToolUse' ? (output.tool_input ?? undefined) : undefined;
  if (alias !== undefined) fields.updatedInput ??= alias;
  const ends = output.continue === false;
  return {
    decision,
    fields: decision === 'deny' ? withoutGrants(fields) : fields,
    reason: isOld ? (oldReason ?? newReason) : (newReason ?? oldReason),
    stop: ends
      ? (said(output.stopReason) ?? 'a hook ended the turn without saying why')
      : undefined,
    systemMessage: said(output.systemMessage),
    context: said(own.additionalContext, LONGEST_CONTEXT),
    asyncMs: output.async === true ? Number(output.asyncTimeout ?? ASYNC_LIMIT_MS) : undefined,
  };
}

function wrongEvent(event: HookEventName, named: unknown): string {
  if (typeof named !== 'string') {
    return `hookSpecificOutput has no hookEventName; it must be "${event}"`;
  }
  return `hookSpecificOutput.hookEventName is ${JSON.stringify(named.slice(0, 60))}, but the event is "${event}"`;
}

function invalid(message: string): ReadAnswer {
  return noAnswer(failure('invalid-output', message));
}

/** The fields that the output of an event's hooks may have. */
export function outputKeys(event: HookEventName) {
  const { top, own } = HOOK_OUTPUTS[event];
  return { ...COMMON_HOOK_OUTPUT, ...top, hookSpecificOutput: own };
}

/** The first fault of an output; unknown fields are no fault. */
export function outputProblem(keys: SettingTable, output: Fields): string | undefined {
  const context = { file: DETACHED_FILE, path: [], restricts: true };
  const [problem] = checkValue({ type: 'object', keys, open: true }, present(output), context);
  return problem?.message.replace(/^`([^`]*)`/, '$1').replace(/\.$/, '');
}

/** A value without the fields of its objects that are null. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null);
  return Object.fromEntries(fields.map(([name, inner]) => [name, present(inner)]));
}

/**
 * A verdict in a form that only hooks of other kinds have, or under a misspelt name. Only fields of the
 * answer itself and of `hookSpecificOutput` are compared, and only with fields that the event knows.
 */
function unreadVerdict(answer: {
  readonly output: Fields;
  readonly specific: Fields;
  readonly role: Hook['role'];
  readonly known: { readonly common: readonly string[]; readonly own: readonly string[] };
}): string | undefined {
  const { output, specific, role } = answer;
  const { common, own } = answer.known;
  if ((output.ok ?? true) !== true) {
    return '`ok` is the verdict of prompt and agent hooks; other hooks say no by "decision": "block" or exit code 2';
  }
  const places = [
    { fields: output, known: common, prefix: '' },
    { fields: specific, known: [...own, 'hookEventName'], prefix: 'hookSpecificOutput.' },
  ];
  for (const { fields, known, prefix } of places) {
    for (const [key, value] of Object.entries(fields)) {
      if (known.includes(key)) continue;
      // A field of this or another place is judged by its place.
      const isField = Object.hasOwn(DECIDING, key);
      const meant = isField ? undefined : meantField(key, value, [...common, ...own]);
      if (meant !== undefined) return `\`${prefix}${key}\` is not a field; did you mean ${meant}?`;
      if (role === 'gate' && isHomemadeNo(key, value)) {
        return `\`${prefix}${key}\` says no, but is not a field; say no by "decision": "block" or exit code 2`;
      }
    }
  }
  return undefined;
}
