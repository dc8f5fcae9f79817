import type { AgentRef } from '../protocol/agent-ref.js';
import type { WorkingTrees } from './working-trees.js';

/** What is true of the whole session and shapes how calls are judged. */
export interface GateFacts {
  /** Names of the variables that commands find in their environment. Absent: any may be among them. */
  exported?(): ReadonlySet<string>;
  /** Whether commands that only look are asked about too. */
  askReadOnly?(): boolean;
  /** Directories of our own: settings of the user and of administrators, our state, plugins. */
  readonly own?: readonly string[];
  /** Directories in which this agent keeps notes: what protects settings does not protect those from it. */
  notes?(agent: AgentRef): readonly string[];
  /** Working trees of agents. Absent: those that are known by their place. */
  readonly trees?: WorkingTrees;
}

export const NO_FACTS: GateFacts = {};
