/** The acting agent, on every hook input, callback, receipt, message and cost row. */
export interface AgentRef {
  readonly id: string;
  /** Agent type, `main` for the root. */
  readonly type: string;
  readonly name?: string;
  /** Address by lineage, `main/planner#2/reviewer#1`. */
  readonly path: string;
  readonly parentId?: string;
  readonly depth: number;
  /** The tool call that started this agent. */
  readonly spawnedBy?: string;
  readonly background: boolean;
  /** Works in a tree of its own. */
  readonly isolation?: 'worktree' | 'scratch';
  /** The directory it works in, where that is not the session's. */
  readonly workspace?: string;
  /** Its definition is from an untrusted folder: grants for its type do not apply to it. */
  readonly untrusted?: true;
}

/** The default agent type, and the alias that other programs use for it. */
export const DEFAULT_AGENT = 'general-purpose';
export const DEFAULT_AGENT_ALIAS = 'claude';

/** No agent in particular: only rules that hold for all agents apply to it. */
export const ANY_AGENT: AgentRef = { id: '', type: '', path: '', depth: 0, background: false };

export const MAIN_AGENT: AgentRef = {
  id: 'main',
  type: 'main',
  path: 'main',
  depth: 0,
  background: false,
};
