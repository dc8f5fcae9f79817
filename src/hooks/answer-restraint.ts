import { type Restriction, strictest } from '../protocol/permissions.js';
import { isRecord } from '../util/own.js';
import type { HookAnswer } from './hook.js';

const WORDS: ReadonlyMap<unknown, Restriction> = new Map<unknown, Restriction>([
  ['deny', 'deny'],
  ['block', 'deny'],
  ['defer', 'defer'],
  ['ask', 'ask'],
]);

/** The strictest word in an answer, wherever people put it, understood or not. */
export function restraintIn(value: unknown): Restriction {
  if (Array.isArray(value)) return strictest(value.map(restraintIn));
  if (!isRecord(value)) return 'none';
  const specific = isRecord(value.hookSpecificOutput) ? value.hookSpecificOutput : {};
  const places = [value, specific];
  if (places.some((place) => place.continue === false)) return 'deny';
  return strictest(
    places
      .flatMap((place) => [place.decision, place.permissionDecision])
      .map((word) => (isRecord(word) ? word.behavior : word))
      .map((word) => WORDS.get(typeof word === 'string' ? word.toLowerCase() : word) ?? 'none'),
  );
}

/** Whether an answer that was read holds anything up. */
export function isRestraint({ decision, stop, fields }: HookAnswer): boolean {
  if (decision !== 'none' && decision !== 'allow') return true;
  return stop !== undefined || fields.action === 'decline' || fields.action === 'cancel';
}

/** What is left of an answer when nothing in it may open, change or add anything. */
export function restraintOnly(answer: HookAnswer): HookAnswer {
  const { decision, reason, stop, systemMessage, text, fields } = answer;
  const holds = decision !== 'none' && decision !== 'allow';
  return {
    decision: holds ? decision : 'none',
    fields: withoutGrants(Object.fromEntries(Object.entries(fields).filter(isVerdictField))),
    ...(reason === undefined || !holds ? {} : { reason }),
    ...(stop === undefined ? {} : { stop }),
    ...(systemMessage === undefined ? {} : { systemMessage }),
    ...(text === undefined ? {} : { text }),
  };
}

function isVerdictField([name]: readonly [string, unknown]): boolean {
  return name === 'decision' || name === 'permissionDecision' || name === 'action';
}

/** Fields of a hook that says no: whatever in them says yes is gone. */
export function withoutGrants(fields: HookAnswer['fields']): HookAnswer['fields'] {
  const accepts = fields.action === 'accept';
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => {
      if (name === 'permissionDecision') return value !== 'allow';
      if (name === 'decision') return !isRecord(value) || value.behavior !== 'allow';
      return !accepts || (name !== 'action' && name !== 'content');
    }),
  );
}
