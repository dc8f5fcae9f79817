import type { HookEventFacts } from '../../protocol/hook-event-facts.js';

/** What the checks of settings need to know of parts that the settings know nothing about. */
export interface CheckOptions {
  /** Names that a hook's matcher may mean; without them matchers are not compared with tools. */
  readonly knownTools?: readonly string[];
  /** Why a text is no permission rule; undefined when it is one. */
  checkRule?(text: string): string | undefined;
  /** Why a pattern names no agent there could be; undefined when it may name one. */
  checkAgents?(pattern: string): string | undefined;
}

/** One event of a file, as its hooks are checked. */
export interface EventCheck extends CheckOptions {
  readonly event: string;
  readonly facts: HookEventFacts;
}
