import { linearPattern } from '../../lib/linear-pattern.js';
import { matcherParts } from '../../lib/matcher-parts.js';
import { isRecord, own } from '../../lib/own.js';
import { HOOK_EVENTS } from '../../protocol/hook-events.js';
import type { SettingsFile } from '../types.js';
import { checkMatcher } from './matcher.js';

/** Something about a matcher among the hooks in the head of a skill or an agent. */
export interface MatcherFault {
  readonly matcher: string;
  /** A guard would be asked about nothing that was meant. */
  readonly stops: boolean;
  readonly message: string;
}

/** Holds the matchers of a `hooks` object against the tools that there are, as those of settings are. */
export function matcherFaults(
  hooks: unknown,
  knownTools: readonly string[],
): readonly MatcherFault[] {
  if (!isRecord(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, groups]) => {
    const facts = own(HOOK_EVENTS, event);
    if (facts === undefined) return [];
    const restricts = facts.role !== 'observe';
    return (Array.isArray(groups) ? groups : [groups]).flatMap((group: unknown, index) => {
      const matcher = isRecord(group) ? group.matcher : undefined;
      if (typeof matcher !== 'string') return [];
      const way = ['hooks', event, index, 'matcher'];
      const problems = checkMatcher(
        matcher,
        { file: HEAD, way, restricts },
        { event, facts, knownTools },
      );
      return problems.map(({ severity, message, remedy }) => ({
        matcher,
        // One that cannot be read guards every call.
        stops: severity === 'fatal' && isReadable(matcher),
        message: `${message} ${remedy}`,
      }));
    });
  });
}

function isReadable(matcher: string): boolean {
  return matcherParts(matcher).every(
    ({ kind, text }) => kind !== 'expression' || linearPattern(text, { ignoreCase: true }).ok,
  );
}

/** Whoever has the text says where in it the matcher stands. */
const HEAD: SettingsFile = {
  source: 'project',
  file: '',
  root: '',
  trusted: true,
  content: {},
  duplicates: [],
  lineOf: () => undefined,
};
