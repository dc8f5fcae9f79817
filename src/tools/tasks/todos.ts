import type { ToolInputs } from '../../protocol/tools.schema.js';

export type Todo = ToolInputs['TodoWrite']['todos'][number];

/** The to-do list of each agent, for as long as the session runs. */
export interface TodoStore {
  get(agentId: string): readonly Todo[];
  /** Replaces the list and returns the one before. */
  replace(agentId: string, todos: readonly Todo[]): readonly Todo[];
  forget(agentId: string): void;
}

export function createTodoStore(): TodoStore {
  const lists = new Map<string, readonly Todo[]>();
  const get = (agentId: string): readonly Todo[] => lists.get(agentId) ?? [];
  return {
    get,
    replace(agentId, todos) {
      const before = get(agentId);
      lists.set(agentId, [...todos]);
      return before;
    },
    forget: (agentId) => void lists.delete(agentId),
  };
}
