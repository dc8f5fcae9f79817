import { effectiveAnswer } from '../../src/hooks/dispatch/run.js';
import type { Scene } from '../../src/hooks/dispatch/scene.js';
import {
  type Hook,
  type HookAnswer,
  type HookDispatch,
  type HookEventName,
  type HookReport,
  NO_ANSWER,
  type Occasion,
} from '../../src/hooks/registry/hook.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { hookEventFacts } from '../../src/protocol/hooks/hook-events.js';

/** What one hook of an event comes to. */
export interface EventHook extends Partial<HookAnswer> {
  readonly label?: string;
  readonly matcher?: string;
  readonly restrictOnly?: boolean;
  /** Facts about how it ended. */
  readonly report?: Partial<Omit<HookReport, 'hook' | 'answer'>>;
  /** It answers when this does. */
  readonly after?: Promise<unknown>;
}

export interface EventHooks {
  readonly dispatch: HookDispatch;
  /** Everything that was fired, in order. */
  readonly fired: { readonly event: HookEventName; readonly occasion: Occasion }[];
  /** What a person was told. */
  readonly told: string[];
  tell(text: string): void;
}

/** Hooks that only have their answers, behind the interface that the program asks. */
export function eventHooks(
  scripts: Partial<Record<HookEventName, readonly EventHook[]>> = {},
): EventHooks {
  const fired: EventHooks['fired'] = [];
  const told: string[] = [];
  const matching = (event: HookEventName, { matched }: Pick<Occasion, 'matched'>) =>
    (scripts[event] ?? []).filter(
      ({ matcher }) => matcher === undefined || matched.length === 0 || matched.includes(matcher),
    );
  return {
    fired,
    told,
    tell: (text) => void told.push(text),
    dispatch: {
      has: (event, occasion) => matching(event, occasion).length > 0,
      async fire(event, occasion) {
        fired.push({ event, occasion });
        const reports = matching(event, occasion).map(async (hook, index) => {
          await hook.after;
          return reportOf(event, hook, index);
        });
        return { reports: await Promise.all(reports) };
      },
    },
  };
}

/** A guard that gave no verdict in time. */
export const FAILED: EventHook = {
  label: 'guard.sh',
  report: {
    ms: 1200.4,
    failure: { cause: 'timeout', message: 'no answer within 1 s' },
    refuses: true,
  },
};

/** One that failed where a trusted file says that this does not matter. */
export const FAILED_OPEN: EventHook = {
  ...FAILED,
  report: { ...FAILED.report, refuses: false },
};

export const scene: Scene = {
  agent: MAIN_AGENT,
  cwd: '/there',
  signal: new AbortController().signal,
};

function reportOf(event: HookEventName, scripted: EventHook, index: number): HookReport {
  const {
    label = `hook ${index + 1}`,
    matcher,
    restrictOnly,
    report,
    after: _,
    ...said
  } = scripted;
  const hook: Hook = {
    id: `${event} ${index}`,
    event,
    role: hookEventFacts(event).role,
    handler: { type: 'command', command: label },
    source: 'user',
    timeoutMs: 1_000,
    onFailure: 'block',
    label,
    ...(matcher === undefined ? {} : { matcher }),
    ...(restrictOnly === undefined ? {} : { restrictOnly }),
  };
  return { hook, ms: 5, answer: effectiveAnswer(hook, { ...NO_ANSWER, ...said }), ...report };
}
