import { effectiveAnswer } from '../../src/hooks/dispatch/run.js';
import type {
  Hook,
  HookAnswer,
  HookDispatch,
  HookEventName,
  HookReport,
  HookRound,
  Occasion,
} from '../../src/hooks/registry/hook.js';
import { NO_ANSWER } from '../../src/hooks/registry/hook.js';
import { hookEventFacts } from '../../src/protocol/hooks/hook-events.js';

/** What one hook says, and how it is told apart from others. */
export interface ScriptedHook extends Partial<HookAnswer> {
  readonly label?: string;
  readonly restrictOnly?: boolean;
  /** It gives no verdict. */
  readonly failure?: HookReport['failure'];
  readonly refuses?: boolean;
}

type Script = readonly ScriptedHook[] | ((occasion: Occasion) => readonly ScriptedHook[]);

export interface ScriptedHooks {
  readonly dispatch: HookDispatch;
  /** What was fired, in order. */
  readonly fired: readonly { readonly event: HookEventName; readonly occasion: Occasion }[];
  /** The input fields of what was fired last. */
  lastFields(): Readonly<Record<string, unknown>>;
}

/** Hooks that say what the test says, through the dispatch that the program uses. */
export function scriptedHooks(scripts: Partial<Record<HookEventName, Script>>): ScriptedHooks {
  const fired: { event: HookEventName; occasion: Occasion }[] = [];
  return {
    fired,
    lastFields: () => fired.at(-1)?.occasion.fields ?? {},
    dispatch: {
      has: (event) => scripts[event] !== undefined,
      async fire(event, occasion) {
        fired.push({ event, occasion });
        const script = scripts[event] ?? [];
        return roundOf(event, typeof script === 'function' ? script(occasion) : script);
      },
    },
  };
}

export function roundOf(event: HookEventName, hooks: readonly ScriptedHook[]): HookRound {
  return { reports: hooks.map((hook, index) => reportOf(event, hook, index)) };
}

function reportOf(event: HookEventName, scripted: ScriptedHook, index: number): HookReport {
  const { label = `hook ${index + 1}`, restrictOnly, failure, refuses, ...said } = scripted;
  const hook: Hook = {
    id: `${event}-${index}`,
    event,
    role: hookEventFacts(event).role,
    handler: { type: 'command', command: label },
    source: 'user',
    timeoutMs: 1_000,
    onFailure: refuses === true ? 'block' : 'continue',
    label,
    ...(restrictOnly === undefined ? {} : { restrictOnly }),
  };
  return {
    hook,
    ms: 5,
    answer: failure === undefined ? effectiveAnswer(hook, { ...NO_ANSWER, ...said }) : NO_ANSWER,
    ...(failure === undefined ? {} : { failure }),
    ...(refuses === undefined ? {} : { refuses }),
  };
}
