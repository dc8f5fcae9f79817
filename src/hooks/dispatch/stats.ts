import type { Hook, HookEventName } from '../registry/hook.js';

/** How often a hook ran in this session, and how long it took. Milliseconds. */
export interface HookStat {
  readonly id: string;
  readonly label: string;
  readonly event: HookEventName;
  readonly runs: number;
  /** Runs that gave no verdict. */
  readonly failures: number;
  readonly totalMs: number;
  readonly maxMs: number;
  readonly lastMs: number;
}

export interface HookStats {
  count(hook: Hook, run: { readonly ms: number; readonly failed: boolean }): void;
  list(): readonly HookStat[];
}

export function createHookStats(): HookStats {
  const known = new Map<string, HookStat>();
  return {
    count({ id, label, event }, { ms, failed }) {
      const before = known.get(id);
      known.set(id, {
        id,
        label,
        event,
        runs: (before?.runs ?? 0) + 1,
        failures: (before?.failures ?? 0) + (failed ? 1 : 0),
        totalMs: (before?.totalMs ?? 0) + ms,
        maxMs: Math.max(before?.maxMs ?? 0, ms),
        lastMs: ms,
      });
    },
    list: () => [...known.values()],
  };
}
