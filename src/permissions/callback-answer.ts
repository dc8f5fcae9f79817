import { readAnswerScope, readPermissionUpdates } from '../protocol/permission-updates.js';
import { isRecord } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';
import type { AskAnswer } from './types.js';

type Input = Readonly<Record<string, unknown>>;

/** What a callback said about a call. */
export interface Opinion {
  readonly decision: 'none' | 'allow' | 'ask' | 'defer' | 'deny';
  readonly reason?: string;
  readonly updatedInput?: Input;
  /** For the person, never for the model. */
  readonly systemMessage?: string;
  /** The turn is to end, and why. */
  readonly stop?: string;
}

/** `misdirected`: it answers another question than the one that was asked. */
export interface BadAnswer {
  readonly kind: 'invalid' | 'misdirected';
  readonly message: string;
}

export const NO_OPINION: Opinion = { decision: 'none' };

const DECISIONS = ['allow', 'ask', 'defer', 'deny'] as const;

/** Reads the answer to PreToolUse. A part that cannot be understood may have been a no, so it spoils the whole. */
export function readPreToolUse(answer: unknown): Result<Opinion, BadAnswer> {
  if (answer === undefined || answer === null) return ok(NO_OPINION);
  const common = readCommon(answer);
  if (!common.ok) return common;
  const { fields, isAsync, ...shared } = common.value;
  if (isAsync) return ok(NO_OPINION);
  const specific = specificOf(fields, 'PreToolUse');
  if (!specific.ok) return specific;
  const { permissionDecision, permissionDecisionReason, updatedInput } = specific.value;
  const given = permissionDecision ?? undefined;
  const decision = DECISIONS.find((known) => known === given);
  if (given !== undefined && decision === undefined) {
    return invalid(`unknown permissionDecision ${JSON.stringify(given)}`);
  }
  if (!isText(permissionDecisionReason)) return invalid('permissionDecisionReason is no text');
  // Some hooks put the new input at the top, under the name that it has in their own input.
  const rewritten = updatedInput ?? fields.tool_input ?? undefined;
  if (rewritten !== undefined && !isRecord(rewritten)) return invalid('updatedInput is no object');
  const legacy = shared.decision;
  const worst = legacy === 'deny' ? 'deny' : (decision ?? legacy ?? 'none');
  const reason = permissionDecisionReason ?? shared.reason;
  return ok({
    decision: worst,
    ...(reason === undefined ? {} : { reason }),
    ...(rewritten === undefined ? {} : { updatedInput: rewritten }),
    ...(shared.systemMessage === undefined ? {} : { systemMessage: shared.systemMessage }),
    ...(shared.stop === undefined ? {} : { stop: shared.stop }),
  });
}

export interface RequestOpinion {
  readonly answer?: AskAnswer;
  readonly systemMessage?: string;
}

/** Reads the answer to PermissionRequest: a decision, or none. */
export function readPermissionRequest(answer: unknown): Result<RequestOpinion, BadAnswer> {
  if (answer === undefined || answer === null) return ok({});
  const common = readCommon(answer);
  if (!common.ok) return common;
  const { fields, isAsync, systemMessage, stop, decision, reason } = common.value;
  if (isAsync) return ok({});
  const specific = specificOf(fields, 'PermissionRequest');
  if (!specific.ok) return specific;
  const note = systemMessage === undefined ? {} : { systemMessage };
  const message = reason ?? 'a PermissionRequest callback said no';
  if (stop !== undefined) {
    return ok({ ...note, answer: { behavior: 'deny', message: stop, interrupt: true } });
  }
  if (decision === 'deny') return ok({ ...note, answer: { behavior: 'deny', message } });
  const given = specific.value.decision ?? undefined;
  if (given === undefined) return ok(note);
  const read = readAskAnswer(given);
  return read.ok ? ok({ ...note, answer: read.value }) : invalid(read.error);
}

/** Reads allow or deny as `can_use_tool` and PermissionRequest give it. */
export function readAskAnswer(answer: unknown): Result<AskAnswer, string> {
  if (!isRecord(answer)) return err('the answer is no object');
  const { behavior, message, interrupt } = answer;
  if (behavior === 'deny') {
    const text = typeof message === 'string' && message !== '' ? message : 'The user said no';
    return ok({ behavior: 'deny', message: text, interrupt: interrupt === true });
  }
  if (behavior !== 'allow') return err(`unknown behavior ${JSON.stringify(behavior)}`);
  const updatedInput = answer.updatedInput ?? undefined;
  if (updatedInput !== undefined && !isRecord(updatedInput)) {
    return err('updatedInput is no object');
  }
  const updates = readPermissionUpdates(answer.updatedPermissions);
  if (!updates.ok) return updates;
  const scope = readAnswerScope(answer.scope);
  if (!scope.ok) return scope;
  return ok({
    behavior: 'allow',
    ...(scope.value === undefined ? {} : { scope: scope.value }),
    ...(updatedInput === undefined ? {} : { updatedInput }),
    ...(updates.value.length === 0 ? {} : { updatedPermissions: updates.value }),
  });
}

interface Common {
  readonly fields: Input;
  readonly isAsync: boolean;
  readonly decision?: 'allow' | 'deny';
  readonly reason?: string;
  readonly systemMessage?: string;
  readonly stop?: string;
}

/** The fields that every event's answer may have. */
function readCommon(answer: unknown): Result<Common, BadAnswer> {
  if (!isRecord(answer)) return invalid('the answer is no object');
  const { decision, reason, systemMessage, stopReason } = answer;
  const goOn = answer.continue ?? true;
  if (typeof goOn !== 'boolean') return invalid('continue is neither true nor false');
  if (!isText(reason)) return invalid('reason is no text');
  if (!isText(systemMessage)) return invalid('systemMessage is no text');
  if (!isText(stopReason)) return invalid('stopReason is no text');
  const word = decision ?? undefined;
  if (word !== undefined && word !== 'approve' && word !== 'block') {
    return invalid(`unknown decision ${JSON.stringify(word)}`);
  }
  return ok({
    fields: answer,
    isAsync: answer.async === true,
    ...(word === undefined ? {} : { decision: word === 'block' ? 'deny' : 'allow' }),
    ...(reason === undefined || reason === null ? {} : { reason }),
    ...(systemMessage === undefined || systemMessage === null ? {} : { systemMessage }),
    ...(goOn ? {} : { stop: stopReason ?? 'a callback ended the turn' }),
  });
}

/** What the answer says for this event alone; it must say for which event. */
function specificOf(fields: Input, event: string): Result<Input, BadAnswer> {
  const specific = fields.hookSpecificOutput ?? undefined;
  if (specific === undefined) return ok({});
  if (!isRecord(specific)) return invalid('hookSpecificOutput is no object');
  if (specific.hookEventName === event) return ok(specific);
  const named = JSON.stringify(specific.hookEventName ?? null);
  return err({ kind: 'misdirected', message: `hookEventName is ${named}, not "${event}"` });
}

/** Whether an answer, however broken, holds a word of restraint: such an answer never counts as none. */
export function holdsBack(answer: unknown): boolean {
  if (!isRecord(answer)) return false;
  const { hookSpecificOutput: specific } = answer;
  const words = [answer.decision, answer.permissionDecision];
  if (isRecord(specific)) {
    words.push(specific.permissionDecision, specific.decision);
    if (isRecord(specific.decision)) words.push(specific.decision.behavior);
  }
  return answer.continue === false || words.some((word) => RESTRAINTS.has(word));
}

const RESTRAINTS: ReadonlySet<unknown> = new Set(['deny', 'block', 'ask', 'defer']);

function isText(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string';
}

function invalid(message: string): Result<never, BadAnswer> {
  return err({ kind: 'invalid', message });
}
