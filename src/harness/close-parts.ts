import type { SessionConfig } from '../agents/session-config.js';
import { closeAll } from '../util/close-all.js';
import type { Parts } from './join.js';

/** Ends all that was opened. A step that fails does not keep the next from running. */
export function closeParts(
  config: Pick<SessionConfig, 'emit'>,
  { agents, hands, mcp, hooks, skills, processes, sandbox, checkpoints, log }: Partial<Parts>,
): Promise<void> {
  return closeAll([
    () => agents?.close(),
    () => hands?.builtins.shells.killAll(),
    () => mcp?.close(),
    () => hooks?.close(),
    () => skills?.close(),
    () => processes?.killAll(),
    () => sandbox?.close(),
    () => checkpoints?.close(),
    () => hands?.journal.close(),
    () => {
      const lost = log?.store.close() ?? 0;
      if (lost > 0) config.emit({ type: 'writes_lost', code: 'unsaved at exit', lost });
    },
  ]);
}
