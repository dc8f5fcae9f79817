import { HOOK_EVENTS } from '../../../build/generated/hook-events.js';
import { own } from '../../lib/own.js';
import { wordSet } from '../../lib/patterns/word-set.js';
import { nearest } from '../../lib/text/nearest.js';
import type { HookEventFacts } from './hook-event-facts.js';

export { HOOK_EVENTS };

export type HookEventName = keyof typeof HOOK_EVENTS;

export function hookEventFacts(event: HookEventName): HookEventFacts {
  return HOOK_EVENTS[event];
}

/** Whether hooks of this event may refuse a call. */
export function judgesCalls(event: string): boolean {
  const facts: HookEventFacts | undefined = own(HOOK_EVENTS, event);
  return facts?.role === 'gate' && facts.matches === 'tool';
}

/** Events of other programs whose files people copy. They never fire here; a warning says so. */
const FOREIGN_HOOK_EVENTS = wordSet(
  `BeforeTool AfterTool BeforeAgent AfterAgent BeforeModel AfterModel BeforeToolSelection PreCompress
   beforeShellExecution beforeMCPExecution beforeReadFile afterFileEdit beforeSubmitPrompt userPromptSubmitted
   errorOccurred TaskStart TaskResume TaskCancel`,
);

/** A hook event name that never fires. `foreign`: of another program. `unknown`: a guard may have been meant. */
type UnusableHookEvent = { readonly kind: 'foreign' | 'unknown'; readonly near?: string };

/** Undefined for a known event. fail-closed: a name near to a known one was meant for it. */
export function classifyHookEventName(name: string): UnusableHookEvent | undefined {
  if (own(HOOK_EVENTS, name) !== undefined) return undefined;
  const near = nearest(name, Object.keys(HOOK_EVENTS));
  if (near !== undefined) return { kind: 'unknown', near };
  return { kind: FOREIGN_HOOK_EVENTS.has(name) ? 'foreign' : 'unknown' };
}
