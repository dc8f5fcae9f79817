import { nearest } from '../lib/nearest.js';
import { own } from '../lib/own.js';
import { FOREIGN_HOOK_EVENTS, HOOK_EVENTS } from './hook-events.js';

/** A name among hooks that is no event of ours: what stands there never runs. */
export type OddHookEvent =
  /** Plainly one of another program, which is told. */
  | { readonly kind: 'foreign' }
  /** A guard may have been meant. */
  | { readonly kind: 'unknown'; readonly near?: string };

/** Undefined: it is an event. fail-closed: what is near to one of ours was meant for it. */
export function oddHookEvent(name: string): OddHookEvent | undefined {
  if (own(HOOK_EVENTS, name) !== undefined) return undefined;
  const near = nearest(name, Object.keys(HOOK_EVENTS));
  if (near !== undefined) return { kind: 'unknown', near };
  return { kind: FOREIGN_HOOK_EVENTS.includes(name) ? 'foreign' : 'unknown' };
}
