import type { Rule } from './rule.js';

/** A restriction that covers a call, or may. */
export interface RestrictionMatch {
  readonly rule: Rule;
  /** `maybe`: some course the command could take is covered, and nobody can tell which it takes. */
  readonly sure: 'yes' | 'maybe';
  /** What it covers where the call does not name it, and how to leave that out. */
  readonly detail?: string;
  /** The file, where the call does not name it. */
  readonly path?: string;
}
