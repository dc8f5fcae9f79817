import {
  agentPattern,
  inheritedPattern,
  patternProblem,
} from '../../permissions/rules/agent-rules.js';
import { gateMatcher } from '../../permissions/rules/name-matcher.js';
import { basename } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { type HookEventName, hookEventFacts } from '../../protocol/hook-events.js';
import type { Occasion } from './hook.js';

/** What an occasion is compared by. */
export type OccasionKey = Pick<Occasion, 'agent' | 'matched'>;

/** For which occasions of its event a hook is meant. */
export interface Matching {
  matches(occasion: OccasionKey): boolean;
  /** Whether it is asked about an agent only because it guards one above it. Absent: never. */
  inherits?(agent: AgentRef): boolean;
  /** Where it does not mean what was written, and what it is taken to mean. */
  readonly notes: readonly string[];
  /** Why it is not in force at all: an observer that nobody can tell what to look at. */
  readonly lost?: string;
}

export interface MatchingSpec {
  readonly event: HookEventName;
  readonly matcher?: string | undefined;
  /** Pattern over agents. */
  readonly agents?: string | undefined;
  /** The one agent it is for. */
  readonly agentId?: string | undefined;
}

type Fits = (names: readonly string[]) => boolean;

/** Compiles once what is compared at every occasion. */
export function matchingOf({ event, matcher, agents, agentId }: MatchingSpec): Matching {
  const names = namesFit(event, matcher);
  const who = agents === undefined ? undefined : agentsFit(agents);
  const problems = [names.problem, who?.problem].filter((one) => one !== undefined);
  const ofWhom = who?.fits;
  const { role, matches } = hookEventFacts(event);
  // fail-closed: a guard is not passed by delegating.
  const inherits = role === 'gate' && matches === 'tool' ? who?.inherits : undefined;
  return {
    inherits,
    notes: problems,
    // A guard that cannot tell whom it guards guards everybody; one that only watches is not let loose.
    ...(role === 'observe' && (names.unreadable === true || who?.unreadable)
      ? { lost: problems.join('; ') }
      : {}),
    matches: ({ agent, matched }) =>
      (agentId === undefined || agent.id === agentId) &&
      (ofWhom === undefined || ofWhom(agent) || inherits?.(agent) === true) &&
      (matched.length === 0 || names.fits(matched)),
  };
}

interface NamesFit {
  readonly fits: Fits;
  readonly problem?: string;
  readonly unreadable?: boolean;
}

function namesFit(event: HookEventName, matcher: string | undefined): NamesFit {
  if (hookEventFacts(event).matches === 'nothing') return { fits: () => true };
  if (event === 'FileChanged') return { fits: fileNames(matcher) };
  const made = gateMatcher(matcher, { ofTools: hookEventFacts(event).matches === 'tool' });
  return {
    fits: (names) => made.matches(names),
    problem: made.problem,
    ...(made.unreadable === true ? { unreadable: true } : {}),
  };
}

/** Literal names of files, whatever their directory. */
function fileNames(matcher: string | undefined): Fits {
  const text = matcher?.trim() ?? '';
  if (text === '' || text === '*') return () => true;
  const wanted = new Set(
    text
      .split('|')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ''),
  );
  return (names) => names.some((name) => wanted.has(basename(name).toLowerCase()));
}

function agentsFit(pattern: string): {
  readonly fits: (agent: AgentRef) => boolean;
  readonly inherits?: (agent: AgentRef) => boolean;
  readonly problem?: string;
  readonly unreadable?: true;
} {
  const why = patternProblem(pattern);
  if (why === undefined) {
    return { fits: agentPattern(pattern), inherits: inheritedPattern(pattern) };
  }
  // fail-closed: a guard for agents that cannot be is a guard for all.
  const problem = `the agents "${pattern}" name no agent (${why}); it is taken to mean every agent`;
  return { fits: () => true, problem, unreadable: true };
}
