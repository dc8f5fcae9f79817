import { messageOf } from '../errors.js';
import type { InputMessage } from '../loop/types.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { type ReportWords, taskNotification } from './child-words.js';
import type { AgentReport } from './report.js';
import type { AgentTask } from './task.js';

/** How the reports of agents arrive that nobody waits for. */
export interface Deliveries {
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

export interface DeliveryDeps {
  readonly words: ReportWords;
  /** Says something to an agent. False: it is not there any more. */
  tell(id: string, message: InputMessage): boolean;
  /** Who hears what somebody who has gone was to be told. */
  readonly last: AgentRef;
  uuid(): string;
  warn(text: string): void;
}

export function createDeliveries(deps: DeliveryDeps): Deliveries {
  const pending = new Set<Promise<void>>();
  return {
    deliver(report, address) {
      const delivering = say(deps, report, address)
        .catch((thrown: unknown) =>
          deps.warn(`the report of ${report.agent.path} could not be given: ${messageOf(thrown)}`),
        )
        .finally(() => pending.delete(delivering));
      pending.add(delivering);
    },
    async settled() {
      await Promise.all(pending);
    },
  };
}

async function say(
  { words, tell, last, uuid }: DeliveryDeps,
  report: AgentReport,
  { to, task }: Parameters<Deliveries['deliver']>[1],
): Promise<void> {
  const text = await taskNotification(report, { ...words, outputFile: task.outputFile });
  const message: InputMessage = { uuid: uuid(), content: [{ type: 'text', text }], meta: true };
  if (!tell(to.id, message)) tell(last.id, message);
}
