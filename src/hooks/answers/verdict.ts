import {
  type Hook,
  type HookAnswer,
  type HookEventName,
  type HookRaw,
  NO_ANSWER,
} from '../registry/hook.js';
import { said } from './text.js';

type Verdict = Extract<HookRaw, { kind: 'verdict' }>;

/** A no ends the turn, whoever gave it: nothing is left to go on with. */
const ENDS_ALWAYS: readonly HookEventName[] = [
  'PostToolBatch',
  'UserPromptSubmit',
  'UserPromptExpansion',
];
/** A no of a prompt hook ends the turn as well, unless it has `continueOnBlock`. */
const ENDS_BY_DEFAULT: readonly HookEventName[] = ['PreToolUse', 'PostToolUse', 'TeammateIdle'];
const STOPS: readonly HookEventName[] = ['Stop', 'SubagentStop'];

/** What a model decided. Its yes says only that it has no objection: it opens nothing. */
export function readVerdict({ event, handler }: Hook, verdict: Verdict): HookAnswer {
  if (verdict.ok === true) return NO_ANSWER;
  const isPrompt = handler.type === 'prompt';
  const ends =
    ENDS_ALWAYS.includes(event) ||
    (ENDS_BY_DEFAULT.includes(event) && isPrompt && handler.continueOnBlock !== true);
  return {
    decision: 'deny',
    reason: said(verdict.reason) ?? 'the model that was asked said no without saying why',
    fields: {},
    ...(ends ? { endsTurn: true } : {}),
    ...(isPrompt && verdict.impossible === true && STOPS.includes(event)
      ? { impossible: true }
      : {}),
  };
}
