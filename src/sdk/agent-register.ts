import type { LoopEvent, SessionNews } from '../app.js';
import { type AgentRef, MAIN_AGENT } from '../protocol/agent-ref.js';

/** The agents that a session has spoken of, by their ids. */
export interface AgentRegister {
  hear(event: LoopEvent | SessionNews): void;
  /** Undefined is the main agent. An agent that no event has mentioned is known by its id alone. */
  find(id: string | undefined): AgentRef;
  knows(id: string): boolean;
}

export function createAgentRegister(): AgentRegister {
  const known = new Map<string, AgentRef>([[MAIN_AGENT.id, MAIN_AGENT]]);
  return {
    hear(event) {
      if ('agent' in event && event.agent !== undefined) known.set(event.agent.id, event.agent);
    },
    knows: (id) => known.has(id),
    find(id) {
      if (id === undefined) return MAIN_AGENT;
      return known.get(id) ?? { id, type: 'unknown', path: id, depth: 1, background: false };
    },
  };
}
