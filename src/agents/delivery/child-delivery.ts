import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentReport } from '../runtime/report.js';
import type { AgentTask } from '../runtime/task.js';

/** How the reports of agents arrive that nobody waits for. */
export interface Deliveries {
  /** An agent is about to run: from here on, a crash is reported as its end. */
  started(task: AgentTask): void;
  /** It has ended, whether somebody waits for it or not. Called before anybody is told. */
  ended(report: AgentReport, task: AgentTask): void;
  deliver(
    report: AgentReport,
    address: {
      /** Who started the agent, or the nearest one above that still lives. */
      readonly to: AgentRef;
      readonly task: AgentTask;
    },
  ): void;
  /** Resolves once everything given so far has been said. */
  settled(): Promise<void>;
}
