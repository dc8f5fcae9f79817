import type { EventDeps } from '../answers/round.js';
import { askInBackground, createBackgroundRounds, type Scene } from '../dispatch/scene.js';

export type NotificationType =
  | 'permission_prompt'
  | 'idle_prompt'
  | 'auth_success'
  | 'elicitation_dialog'
  | 'elicitation_url_dialog'
  | 'elicitation_complete'
  | 'elicitation_response'
  | 'agent_needs_input'
  | 'agent_completed';

export interface Notification {
  readonly type: NotificationType;
  readonly message: string;
  readonly title?: string | undefined;
}

/** Hooks that call a person to the screen. Nobody waits for them, except `close`. */
export interface NotificationHooks {
  notify(notification: Notification, scene: Scene): void;
  close(): Promise<void>;
}

export interface NotificationHookDeps extends EventDeps {
  /** Milliseconds that `close` waits. */
  readonly closeMs?: number;
}

export function createNotificationHooks(deps: NotificationHookDeps): NotificationHooks {
  const { dispatch, tell, closeMs } = deps;
  const background = createBackgroundRounds({ tell, closeMs });
  return {
    notify({ type, message, title }, scene) {
      const fields = { message, title, notification_type: type };
      const question = { event: 'Notification', scene, fields, matched: [type] } as const;
      askInBackground(dispatch, background, question);
    },
    close: () => background.close(),
  };
}

export interface AttentionDeps {
  notify(notification: Notification): void;
  /** Milliseconds that a question may stay unanswered. */
  readonly afterMs?: number;
  /** Milliseconds that the session may wait for a prompt. */
  readonly idleMs?: number;
  /** Calls `run` later and returns the way to prevent it. */
  later?(ms: number, run: () => void): () => void;
}

/** Notices that a person keeps something waiting. */
export interface Attention {
  /** A question is put; what it returns is called when it is answered or withdrawn. */
  asked(message: string, title?: string): () => void;
  /** The session waits for a prompt; what it returns is called when one comes. */
  idle(message: string, title?: string): () => void;
  /** Nobody is called any more. */
  close(): void;
}

export function createAttention(deps: AttentionDeps): Attention {
  const { notify, afterMs = 6_000, idleMs = 60_000, later = laterQuietly } = deps;
  const pending = new Set<() => void>();
  const wait = (ms: number, notification: Notification): (() => void) => {
    const prevent = later(ms, () => {
      pending.delete(cancel);
      notify(notification);
    });
    const cancel = (): void => {
      // Answered twice, or after the notification: there is nothing left to prevent.
      if (pending.delete(cancel)) prevent();
    };
    pending.add(cancel);
    return cancel;
  };
  return {
    asked: (message, title) => wait(afterMs, { type: 'permission_prompt', message, title }),
    idle: (message, title) => wait(idleMs, { type: 'idle_prompt', message, title }),
    close() {
      for (const cancel of [...pending]) cancel();
    },
  };
}

/** Does not keep the process alive. */
function laterQuietly(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
