import {
  type HookAnswer,
  type HookFailure,
  type HookFailureCause,
  NO_ANSWER,
} from '../registry/hook.js';
import { firstLine } from './text.js';

export interface ReadAnswer {
  /** `NO_ANSWER` with a failure. */
  readonly answer: HookAnswer;
  /** It gave no verdict that can be understood. */
  readonly failure?: HookFailure;
  /** The documented error that does not block: the last lines of what it printed. */
  readonly complaint?: string;
  /** It meant to put another output in the place of a tool's, and no replacement came of it. */
  readonly redacts?: boolean;
}

/** Parts of the message may be the hook's own words, so it is made fit to be shown. */
export function failure(cause: HookFailureCause, message: string): HookFailure {
  return { cause, message: firstLine(message) };
}

/** A program that is not there or may not be run, with what a person can do about it. */
export function cannotStart(
  message: string,
  { program, kind }: { readonly program: string; readonly kind: 'missing' | 'not-executable' },
): HookFailure {
  const name = firstLine(program);
  const repair =
    kind === 'missing'
      ? `Install ${name} or correct its path`
      : `Make ${name} executable (chmod +x)`;
  return {
    ...failure('cannot-start', message),
    remedy: `${repair}, or switch this hook off there with "enabled": false.`,
    repeated: `${name} still cannot be started`,
  };
}

export function noAnswer(failed: HookFailure): ReadAnswer {
  return { answer: NO_ANSWER, failure: failed };
}
