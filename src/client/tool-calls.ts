import { type AgentRef, MAIN_AGENT } from '../protocol/agent-ref.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import type { SessionEvent, ToolCallState, ToolCallView } from './events.js';

/** Derives the life of each tool call from the events of the session. */
export class ToolCalls {
  readonly #calls = new Map<string, ToolCallView>();
  readonly #emit: (event: SessionEvent) => void;

  constructor(emit: (event: SessionEvent) => void) {
    this.#emit = emit;
  }

  /** Calls that have no result yet. */
  open(): readonly ToolCallView[] {
    return [...this.#calls.values()];
  }

  follow(event: SessionEvent, agent: AgentRef = MAIN_AGENT): void {
    switch (event.type) {
      case 'child':
        this.follow(event.event, event.agent);
        return;
      case 'answer':
        for (const block of event.answer.message.content) {
          if (block.type !== 'tool_use') continue;
          const { id, name, input } = block;
          this.#calls.set(id, { toolUseId: id, tool: name, input, agent });
          this.#tell(id, { kind: 'pending' });
        }
        return;
      case 'shell': {
        const { call, result } = event;
        if (result !== undefined) this.#end(call.toolUseId, result);
        else {
          this.#calls.set(call.toolUseId, call);
          this.#tell(call.toolUseId, { kind: 'pending' });
        }
        return;
      }
      case 'decision': {
        const { toolUseId, decision, reason } = event.receipt;
        this.#tell(
          toolUseId,
          decision === 'allow' ? { kind: 'running' } : { kind: 'denied', reason },
        );
        return;
      }
      case 'progress':
        this.#tell(event.toolUseId, { kind: 'output', text: event.text });
        return;
      case 'tool_result':
        this.#end(event.call.id, event.result);
        return;
      case 'turn_finished':
        for (const [id, call] of this.#calls) if (call.agent.depth === 0) this.#calls.delete(id);
        return;
      case 'task_finished':
        for (const [id, call] of this.#calls) {
          if (call.agent.id === event.taskId) this.#calls.delete(id);
        }
        return;
      case 'replacing':
      case 'closed':
        this.#calls.clear();
    }
  }

  #end(id: string, { block }: ToolCallResult): void {
    this.#tell(id, { kind: block.is_error === true ? 'failed' : 'done' });
    this.#calls.delete(id);
  }

  #tell(id: string, state: ToolCallState): void {
    const call = this.#calls.get(id);
    if (call !== undefined) this.#emit({ type: 'tool', call, state });
  }
}
