import type { SessionEnvironment } from '../../config/session-environment.js';
import { messageOf } from '../../errors.js';
import { fatalOf } from '../../settings/files/load.js';
import type { LiveSettings } from '../../settings/files/watch.js';
import type { SessionEvents } from './session-events.js';
import type { Parts } from './session-parts.js';

/** The parts of a session with a conversation. */
export interface JoinedParts extends Parts {
  readonly events: SessionEvents;
  readonly rules: LiveSessionSettings;
}

export interface LiveSessionSettings {
  readonly live: LiveSettings;
  /** Resolves once the files' content at the time of the call is in force; reports its own failures. */
  refresh(): Promise<void>;
  /** The same before a call of the host. */
  refreshForHost(): Promise<void>;
}

/** Follows changes of settings and instruction files during a session. */
export function openLiveSessionSettings(
  environment: Pick<SessionEnvironment, 'watch'>,
  { toolRuntime, hooks, instructions, features }: Parts,
  events: Pick<SessionEvents, 'veto' | 'refreshWatch'>,
): LiveSessionSettings {
  let isVetoAsked = false;
  const live = environment.watch({
    async veto(changed) {
      isVetoAsked = true;
      try {
        return await events.veto(changed);
      } finally {
        isVetoAsked = false;
      }
    },
    apply(settings) {
      const unfit = fatalOf(features.flatMap((one) => one.check?.(settings) ?? []));
      if (unfit.length > 0) return unfit;
      const problems = toolRuntime.permissions.replaceSettings(
        settings.permissions,
        settings.strictness,
      );
      if (problems.every(({ severity }) => severity !== 'fatal')) {
        for (const feature of features) feature.replace?.(settings);
        events.refreshWatch();
      }
      return problems;
    },
  });
  const refresh = sharedLook(async () => {
    try {
      await live.refresh();
      await instructions.refresh();
    } catch (thrown) {
      hooks.tell(`changed rules could not be read, those of before hold: ${messageOf(thrown)}`);
    }
  });
  return {
    live,
    refresh,
    // The caller may be a hook that is asked about this very change, which is not in force until it answers.
    refreshForHost: async () => (isVetoAsked ? undefined : await refresh()),
  };
}

/** Runs one scan at a time; calls during a scan share the next one. */
export function sharedLook(look: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    return look();
  };
  return () => {
    if (next === undefined) {
      next = last.then(begin, begin);
      last = next;
    }
    return next;
  };
}
