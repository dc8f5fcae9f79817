import type { BackgroundTaskSummary } from '../../../build/generated/sdk-types.js';
import { contextsOf, deniedBy, stopOf } from '../answers/round.js';
import { ask, EVERY_HOOK, type Scene } from '../dispatch/scene.js';
import type { HookDispatch, HookRound } from '../registry/hook.js';

/** A piece of background work, as hooks are shown it. */
export type BackgroundTaskFacts = Readonly<BackgroundTaskSummary>;

/** An agent that has nothing more to do. */
export interface Leaving extends Scene {
  readonly event: 'Stop' | 'SubagentStop';
  readonly lastMessage?: string | undefined;
  readonly backgroundTasks: readonly BackgroundTaskFacts[];
  readonly crons: readonly Readonly<Record<string, unknown>>[];
  /** Only of a subagent. */
  readonly agentTranscriptPath?: string | undefined;
}

type LeavingMove =
  | {
      readonly kind: 'leave';
      /** For the person: a hook was overridden, or gave up. */
      readonly notice?: string;
    }
  /** One more turn, with this message. */
  | {
      readonly kind: 'go-on';
      readonly message: string;
      /** No hook objects; one adds context. */
      readonly onlyContext?: true;
    }
  /** A hook ends the run here, whatever others say. */
  | { readonly kind: 'end'; readonly stop: string };

/** A turn that ended with an error of the model. */
interface FailedTurn extends Scene {
  /** The kind of error: `rate_limit`, `overloaded`, `server_error` … */
  readonly error: string;
  readonly details?: string | undefined;
  readonly lastMessage?: string | undefined;
}

/** The stop hooks of one agent. */
interface StopHooks {
  /** A new prompt: whatever was counted before is forgotten. */
  beginPrompt(): void;
  beforeLeaving(leaving: Leaving): Promise<LeavingMove>;
  /** StopFailure: it takes the place of Stop and changes nothing. */
  failure(failed: FailedTurn): Promise<void>;
}

export interface StopHookOptions {
  /** How often in a row an agent is sent on. */
  readonly cap?: number;
  /** A number that moves whenever the agent has changed something. */
  changes(): number;
}

const STOP_HOOK_CAP = 8;
/** The same words this often, and nothing changed in between: more turns change nothing either. */
const SAME_WORDS = 3;

const LEAVE: LeavingMove = Object.freeze({ kind: 'leave' });

/** The cap that the environment asks for; what is no positive number is passed over. */
export function stopHookCap(env: Readonly<Record<string, string | undefined>>): number {
  const text = env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP?.trim() ?? '';
  const cap = /^\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(cap) && cap > 0 ? cap : STOP_HOOK_CAP;
}

/** How often hooks have sent the agent on since it was last allowed to leave. */
interface Streak {
  readonly times: number;
  readonly message: string;
  /** How often this message came without a change in between. */
  readonly repeats: number;
  readonly changes: number;
}

/**
 * Stop and SubagentStop: hooks look at an agent that wants to leave and may send it on. They are
 * the exception among hooks that hold things up: a crash lets the agent leave, and so do endless
 * objections. What counts are objections in a row within one prompt, whatever the agent did in
 * between; being let go starts the count anew.
 */
export function createStopHooks(dispatch: HookDispatch, options: StopHookOptions): StopHooks {
  const { cap = STOP_HOOK_CAP } = options;
  let streak: Streak | undefined;
  let isActive = false;
  return {
    beginPrompt() {
      streak = undefined;
      isActive = false;
    },
    async beforeLeaving(leaving) {
      const { event, agent, signal, lastMessage, agentTranscriptPath } = leaving;
      const isChild = event === 'SubagentStop';
      if (signal.aborted) return LEAVE;
      const round = await ask(dispatch, event, {
        scene: leaving,
        matched: isChild ? [agent.type] : EVERY_HOOK,
        fields: {
          stop_hook_active: isActive,
          stop_hook_feedback: streak?.message,
          agent_id: isChild ? agent.id : undefined,
          agent_type: isChild ? agent.type : undefined,
          agent_transcript_path: isChild ? agentTranscriptPath : undefined,
          last_assistant_message: lastMessage,
          background_tasks: leaving.backgroundTasks,
          session_crons: leaving.crons,
        },
      });
      if (signal.aborted) return LEAVE;
      const stop = stopOf(round);
      if (stop !== undefined) return { kind: 'end', stop };
      // What the hooks said that can be answered by going on.
      const heard = {
        reports: round.reports.filter(({ answer }) => answer.impossible !== true),
      };
      const objections = deniedBy(heard).map(({ by, reason }) => `- [${by}]: ${reason}`);
      const message = [
        ...(objections.length === 0 ? [] : ['Stop hook feedback:', ...objections]),
        ...contextsOf(heard, event),
      ].join('\n');
      if (message === '') {
        streak = undefined;
        return leaveAfter(round, event);
      }
      streak = longer(streak, message, options.changes());
      const why = overrideOf(streak, cap);
      if (why !== undefined) {
        const notice = `${event} hooks were overridden: ${why}. The last words were:\n${message}`;
        return { kind: 'leave', notice };
      }
      isActive = true;
      return { kind: 'go-on', message, ...(objections.length === 0 ? { onlyContext: true } : {}) };
    },
    async failure(failed) {
      const { error, details, lastMessage } = failed;
      const fields = { error, error_details: details, last_assistant_message: lastMessage };
      await ask(dispatch, 'StopFailure', { scene: failed, fields, matched: [error] });
    },
  };
}

/** A model that says that its goal is out of reach lets the agent leave, and the person reads of it. */
function leaveAfter({ reports }: HookRound, event: Leaving['event']): LeavingMove {
  const given = reports.find(({ answer }) => answer.impossible === true);
  if (given === undefined) return LEAVE;
  const { hook, answer } = given;
  const why = answer.reason === undefined ? '' : `: ${answer.reason}`;
  const notice = `${event} hook ${hook.label} says that what it asks for cannot be reached${why}`;
  return { kind: 'leave', notice };
}

function longer(before: Streak | undefined, message: string, changes: number): Streak {
  const isSame = before?.message === message && before.changes === changes;
  return {
    times: (before?.times ?? 0) + 1,
    message,
    repeats: isSame ? before.repeats + 1 : 1,
    changes,
  };
}

function overrideOf({ times, repeats }: Streak, cap: number): string | undefined {
  if (times > cap) {
    return `they sent the agent on ${cap} times in a row, which is the limit (CLAUDE_CODE_STOP_HOOK_BLOCK_CAP changes it)`;
  }
  if (repeats >= SAME_WORDS) return `they said the same ${repeats} times and nothing had changed`;
  return undefined;
}
