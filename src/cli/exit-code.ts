import type { RunResult } from '../harness.js';

/** What each exit code means; `docs/headless.md` lists them. */
export const EXIT = {
  done: 0,
  error: 1,
  usage: 2,
  config: 3,
  denied: 4,
  maxTurns: 5,
  budget: 6,
  stuck: 7,
  interrupted: 130,
  terminated: 143,
} as const;

/** The exit code of a headless run that a person or script started. */
export function exitCodeOf(run: RunResult): number {
  switch (run.outcome.reason.kind) {
    case 'completed':
    case 'finished':
    case 'hook_stopped':
    case 'stop_prevented':
    case 'tool_deferred':
      // A refused run does not look like a done one.
      return run.unrecoveredDenials > 0 ? EXIT.denied : EXIT.done;
    case 'prompt_blocked':
      return run.outcome.reason.cause === 'unknown_command' ? EXIT.usage : EXIT.denied;
    case 'max_turns':
      return EXIT.maxTurns;
    case 'budget':
      return EXIT.budget;
    case 'stuck':
      return EXIT.stuck;
    case 'aborted':
      return EXIT.interrupted;
    case 'model_failure':
    case 'structured_output_missing':
      return EXIT.error;
  }
}
