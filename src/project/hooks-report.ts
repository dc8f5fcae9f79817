import { listOf } from './hooks-list-data.js';
import { listText } from './hooks-list-text.js';
import { type HookSet, type HookStat, hookStatsText } from './hooks-stats.js';

/** The hooks of an open session. */
export interface SessionHooks {
  /** All that is in force now, with the hooks of skills and agents. */
  readonly set: HookSet;
  readonly stats: readonly HookStat[];
}

/** What `/hooks` shows: the hooks in force, and how long they took so far. */
export async function hookListText({ set, stats }: SessionHooks, cwd: string): Promise<string> {
  return `${listText(await listOf(set), cwd)}\nTimes of this session\n${hookStatsText(stats)}`;
}
