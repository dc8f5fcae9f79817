import type { AgentRef } from '../protocol/agent-ref.js';
import type { Receipt } from '../protocol/permissions.js';
import type { BackgroundTask } from '../protocol/session-events.js';
import type { SessionEvent } from './events.js';

interface WorkingAgent {
  readonly agent: AgentRef;
  readonly description: string;
}

const MAX_RECEIPTS = 1_000;

/** What is true of the session now, derived from its events. */
export class SessionState {
  phase: 'opening' | 'idle' | 'running' | 'requires_action' | 'closed' = 'opening';
  contextTokens: number | undefined;
  #agentTasks: readonly BackgroundTask[] = [];
  readonly #shells = new Map<string, BackgroundTask>();
  readonly #agents = new Map<string, WorkingAgent>();
  readonly #receipts: Receipt[] = [];

  get tasks(): readonly BackgroundTask[] {
    return [...this.#agentTasks, ...this.#shells.values()];
  }

  /** The newest decisions about tool calls, oldest first. */
  get receipts(): readonly Receipt[] {
    return this.#receipts;
  }

  /** The agents that work for another one now. */
  get agents(): readonly WorkingAgent[] {
    return [...this.#agents.values()];
  }

  get hasBackgroundAgents(): boolean {
    return this.agents.some(({ agent }) => agent.background);
  }

  follow(event: SessionEvent): void {
    switch (event.type) {
      case 'opened':
        if (this.phase === 'opening') this.phase = 'idle';
        return;
      case 'state':
        this.phase = event.state;
        return;
      case 'answer': {
        const { usage } = event.answer;
        this.contextTokens =
          usage.input_tokens +
          usage.output_tokens +
          (usage.cache_read_input_tokens ?? 0) +
          (usage.cache_creation_input_tokens ?? 0);
        return;
      }
      case 'compacted':
        this.contextTokens = event.postTokens;
        return;
      case 'decision':
        this.#receipts.push(event.receipt);
        if (this.#receipts.length > MAX_RECEIPTS) this.#receipts.shift();
        return;
      case 'background_tasks':
        this.#agentTasks = event.tasks;
        return;
      case 'task_started': {
        const { taskId, description, agent } = event;
        if (agent !== undefined) this.#agents.set(taskId, { agent, description });
        else this.#shells.set(taskId, { taskId, taskType: 'local_bash', description });
        return;
      }
      case 'task_finished':
        this.#shells.delete(event.taskId);
        this.#agents.delete(event.taskId);
        return;
      case 'replacing':
        this.#agentTasks = [];
        this.#shells.clear();
        this.#agents.clear();
        this.contextTokens = undefined;
        return;
      case 'closed':
        this.phase = 'closed';
    }
  }
}
