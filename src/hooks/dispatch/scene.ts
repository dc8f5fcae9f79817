import type { BaseHookInput, HookInput } from '../../../build/generated/sdk-types.js';
import { messageOf } from '../../errors.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { type EventDeps, tellIgnored } from '../answers/round.js';
import {
  type HookDispatch,
  type HookEventName,
  type HookRound,
  NO_ROUND,
  type Occasion,
} from '../registry/hook.js';
import { seconds, settlesWithin } from './timeout.js';

type Lists<V> = V extends readonly (infer I)[] ? readonly I[] : V;
type OwnFields<T> = Omit<T, keyof BaseHookInput | 'hook_event_name'>;

/** What an event's input has beside the common fields, by the names that hooks read. */
export type HookFields<E extends HookInput['hook_event_name']> =
  OwnFields<Extract<HookInput, { hook_event_name: E }>> extends infer T
    ? { readonly [K in keyof T]: Lists<T[K]> }
    : never;

/** The agent that an event is about, where it happens, and until when its hooks are waited for. */
export interface Scene {
  readonly agent: AgentRef;
  readonly cwd: string;
  /** Only for events that carry it. */
  readonly mode?: PermissionMode | undefined;
  readonly signal: AbortSignal;
}

/** What the hooks of an event are asked that is about no tool call. */
interface EventQuestion {
  readonly scene: Scene;
  /** The event's own input; fields without a value are left out. */
  readonly fields: Occasion['fields'];
  /** What matchers are compared with. Absent: every hook of the event is asked. */
  readonly matched?: readonly string[];
  readonly toolUseId?: string;
}

/** For events without a matcher: every hook of theirs is meant. */
export const EVERY_HOOK: readonly string[] = Object.freeze([]) as readonly [];

/** Asks the hooks of an event; without any the round is empty. */
export async function ask(
  dispatch: HookDispatch,
  event: HookEventName,
  { scene, fields, matched = EVERY_HOOK, toolUseId }: EventQuestion,
): Promise<HookRound> {
  const { agent, cwd, mode, signal } = scene;
  if (!dispatch.has(event, { agent, matched })) return NO_ROUND;
  const own = Object.entries(fields).filter(([, value]) => value !== undefined);
  const about = { agent, cwd, matched, signal, mode, toolUseId };
  return await dispatch.fire(event, { ...about, fields: Object.fromEntries(own) });
}

/** Asks the hooks of an event that they cannot hold up, and tells of those that wanted to. */
export async function askObservers(
  deps: EventDeps,
  event: HookEventName,
  question: EventQuestion,
): Promise<HookRound> {
  const round = await ask(deps.dispatch, event, question);
  tellIgnored(deps, event, round);
  return round;
}

/** Hooks that nothing waits for: a few rounds at a time, and the rest of them at the close. */
export interface BackgroundRounds {
  /** Asks the hooks of an event until they answer or the rounds are closed. */
  ask(dispatch: HookDispatch, event: HookEventName, question: EventQuestion): void;
  /** False if the work is left out: too much waits, or the rounds are closed. */
  run(work: Work): boolean;
  /** Takes no more, waits for what is under way, and cuts it short when that takes too long. */
  close(): Promise<void>;
}

type Work = (signal: AbortSignal) => Promise<void>;

export function createBackgroundRounds(options: {
  tell(text: string): void;
  /** Rounds at the same time. */
  readonly most?: number;
  /** Rounds that may wait for their turn. */
  readonly mostWaiting?: number;
  /** Milliseconds that the close waits. */
  readonly closeMs?: number;
}): BackgroundRounds {
  const { tell, most = 4, mostWaiting = 256, closeMs = 10_000 } = options;
  const over = new AbortController();
  const waiting: Work[] = [];
  const running = new Set<Promise<void>>();
  let isClosed = false;
  let isFullTold = false;
  const next = (): void => {
    while (running.size < most) {
      const work = waiting.shift();
      if (work === undefined) return;
      const one = (async () => work(over.signal))()
        .catch((thrown: unknown) => tell(`a hook could not be run: ${messageOf(thrown)}`))
        .finally(() => {
          running.delete(one);
          next();
        });
      running.add(one);
    }
  };
  const idle = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running);
  };
  const run = (work: Work): boolean => {
    if (isClosed) return false;
    if (waiting.length >= mostWaiting) {
      if (!isFullTold) tell('too much happens at once: some hooks that watch are left out');
      isFullTold = true;
      return false;
    }
    waiting.push(work);
    next();
    return true;
  };
  return {
    run,
    ask(dispatch, event, question) {
      const { scene, matched = EVERY_HOOK } = question;
      if (!dispatch.has(event, { agent: scene.agent, matched })) return;
      run(async (closing) => {
        const signal = AbortSignal.any([scene.signal, closing]);
        await ask(dispatch, event, { ...question, scene: { ...scene, signal } });
      });
    },
    async close() {
      isClosed = true;
      if (await settlesWithin(idle(), closeMs)) return;
      const unasked = waiting.splice(0).length;
      const rest = unasked === 0 ? '' : `, and ${unasked} more were not run`;
      tell(
        `hooks were still running ${seconds(closeMs)} after the session ended and were ended${rest}`,
      );
      over.abort(new Error('the session is over'));
    },
  };
}
