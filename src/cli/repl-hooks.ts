import type { HookSet, HookStat } from '../project/hooks-stats.js';

/** The hooks of an open session. */
export interface SessionHookFacts {
  /** All that is in force now, with the hooks of skills and agents. */
  readonly set: HookSet;
  readonly stats: readonly HookStat[];
}

/** What `/hooks` shows in a conversation: the hooks in force, and how long they took so far. */
export async function hooksText({ set, stats }: SessionHookFacts, cwd: string): Promise<string> {
  const [{ listOf }, { listText }, { hookStatsText }] = await Promise.all([
    import('../project/hooks-list-data.js'),
    import('../project/hooks-list-text.js'),
    import('../project/hooks-stats.js'),
  ]);
  return `${listText(await listOf(set), cwd)}\nTimes of this session\n${hookStatsText(stats)}`;
}
