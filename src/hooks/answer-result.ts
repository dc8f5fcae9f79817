import { firstLine } from './answer-text.js';
import { type HookAnswer, type HookFailure, type HookFailureCause, NO_ANSWER } from './hook.js';

export interface ReadAnswer {
  /** `NO_ANSWER` with a failure. */
  readonly answer: HookAnswer;
  /** It gave no verdict that can be understood. */
  readonly failure?: HookFailure;
  /** The documented error that does not block: the first line of what it said. */
  readonly complaint?: string;
  /** It meant to put another output in the place of a tool's, and no replacement came of it. */
  readonly redacts?: boolean;
}

/** Parts of the message may be the hook's own words, so it is made fit to be shown. */
export function failure(cause: HookFailureCause, message: string): HookFailure {
  return { cause, message: firstLine(message) };
}

export function noAnswer(failed: HookFailure): ReadAnswer {
  return { answer: NO_ANSWER, failure: failed };
}
