import {
  type HookFailure,
  type HookFailureCause,
  type HookReport,
  NO_ANSWER,
} from '../registry/hook.js';
import { firstLine } from './text.js';

/** What was read of a hook's answer: the part of its report that the answer decides. */
export type ReadAnswer = Pick<HookReport, 'answer' | 'failure' | 'complaint' | 'redacts'>;

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
