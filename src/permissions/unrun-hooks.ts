import type { Sourced } from '../util/sourced.js';
import { originOf } from '../util/sourced.js';
import { type Guard, NOTHING } from './guard.js';
import { gateMatcher } from './name-matcher.js';

/** fail-closed: a hook that guards a call and cannot be run refuses it. */
export function unrunHooks(matchers: () => readonly Sourced<string>[]): Guard {
  return {
    name: 'hooks',
    onFailure: 'deny',
    decide({ names }) {
      const hook = matchers().find(({ value }) => gateMatcher(value).matches(names));
      if (hook === undefined) return NOTHING;
      const reason = `the hook at ${originOf(hook)} guards it and hooks of settings files cannot be run by this version`;
      return { decision: 'deny', refusal: 'guard-failed', reason, source: originOf(hook) };
    },
  };
}
