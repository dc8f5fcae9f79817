import { messageOf } from '../errors.js';
import { fatalOf } from '../settings/files/refuse.js';
import type { LiveSettings } from '../settings/files/watch.js';
import type { OpenHooks } from './hooks.js';
import type { OpenInstructions } from './instructions.js';
import type { OpenSandboxing } from './sandbox.js';
import type { SessionEnvironment } from './session-environment.js';
import type { SessionEvents } from './session-events.js';
import type { OpenSkills } from './skills.js';
import type { ToolRuntime } from './tool-runtime.js';

export interface RuleParts {
  readonly toolRuntime: Pick<ToolRuntime, 'permissions'>;
  readonly hooks: Pick<OpenHooks, 'replace' | 'tell'>;
  readonly instructions: Pick<OpenInstructions, 'refresh' | 'replace'>;
  readonly skills: Pick<OpenSkills, 'replace'>;
  readonly sandbox: Pick<OpenSandboxing, 'check' | 'replace'>;
  readonly events: Pick<SessionEvents, 'veto' | 'refreshWatch'>;
}

export interface LiveSessionSettings {
  readonly live: LiveSettings;
  /** Once it is done, what the files said when it was asked for is in force. It tells of its failures. */
  refresh(): Promise<void>;
  /** The same before a call of the host's. */
  refreshForHost(): Promise<void>;
}

/** What settings and instruction files demand, and how that follows the files. */
export function openLiveSessionSettings(
  environment: Pick<SessionEnvironment, 'watch'>,
  parts: RuleParts,
): LiveSessionSettings {
  const { toolRuntime, hooks, instructions, skills, sandbox, events } = parts;
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
      const unfit = fatalOf(sandbox.check(settings));
      if (unfit.length > 0) return unfit;
      const problems = toolRuntime.permissions.replaceSettings(
        settings.permissions,
        settings.strictness,
      );
      if (problems.every(({ severity }) => severity !== 'fatal')) {
        sandbox.replace(settings);
        hooks.replace(settings);
        instructions.replace(settings);
        skills.replace(settings);
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
    // A hook that is asked about a change may be the one who calls: until it answers, nothing has changed.
    refreshForHost: async () => (isVetoAsked ? undefined : await refresh()),
  };
}

/** One look at a time. Who asks during one gets the next, together with all others who wait for it. */
export function sharedLook(look: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  /** Has not begun. */
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
