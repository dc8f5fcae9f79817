import type { HookSet } from '../hooks/captured.js';
import type { HookStat } from '../hooks/dispatch-stats.js';
import { table } from '../util/table.js';
import { visible } from '../util/visible.js';

export type { HookSet, HookStat };

/** How long the hooks of a session took, those that cost most time first. */
export function hookStatsText(stats: readonly HookStat[]): string {
  if (stats.length === 0) return 'No hook has run yet.\n';
  const head = ['runs', 'failed', 'mean', 'longest', 'last', 'together', 'hook'];
  const rows = [...stats]
    .sort((a, b) => b.totalMs - a.totalMs)
    .map(({ event, label, runs, failures, totalMs, maxMs, lastMs }) => [
      String(runs),
      String(failures),
      milliseconds(totalMs / runs),
      milliseconds(maxMs),
      milliseconds(lastMs),
      milliseconds(totalMs),
      `${event}: ${visible(label)}`,
    ]);
  return `${table([head, ...rows])}\n`;
}

/** Persistent hooks answer within fractions of one. */
function milliseconds(ms: number): string {
  return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
}
