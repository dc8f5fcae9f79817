type NotificationType =
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

/** Notices that a person keeps something waiting. */
export interface Attention {
  /** A question is put; what it returns is called when it is answered or withdrawn. */
  asked(message: string, title?: string): () => void;
  /** The session waits for a prompt; what it returns is called when one comes. */
  idle(message: string, title?: string): () => void;
  /** From now on no person is called. */
  close(): void;
}

export function createAttention(deps: {
  notify(notification: Notification): void;
  /** Milliseconds that a question may stay unanswered. */
  readonly afterMs?: number;
  /** Milliseconds that the session may wait for a prompt. */
  readonly idleMs?: number;
  /** Calls `run` later and returns the way to prevent it. */
  later?(ms: number, run: () => void): () => void;
}): Attention {
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
