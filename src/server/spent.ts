import type { LoopEvent, RunResult, SessionNews } from '../harness.js';

/** What a session has taken so far, for hosts that ask. */
export interface Spent {
  /** Sees everything that the session tells. */
  heard(event: LoopEvent | SessionNews): void;
  add(run: RunResult): void;
  readonly apiMs: number;
  readonly durationMs: number;
  /** The provider's count of the last answer. */
  readonly lastUsage: Extract<LoopEvent, { type: 'answer' }>['answer']['usage'] | undefined;
}

export function createSpent(): Spent {
  let apiMs = 0;
  let durationMs = 0;
  let lastUsage: Spent['lastUsage'];
  return {
    heard(event) {
      if (event.type === 'answer') lastUsage = event.answer.usage;
    },
    add(run) {
      apiMs += run.apiMs;
      durationMs += run.durationMs;
    },
    get apiMs() {
      return Math.round(apiMs);
    },
    get durationMs() {
      return Math.round(durationMs);
    },
    get lastUsage() {
      return lastUsage;
    },
  };
}
