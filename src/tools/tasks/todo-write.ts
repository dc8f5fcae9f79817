import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import type { Tool } from '../tool.js';
import description from './todo-write.md';

export function todoWriteTool(deps: { readonly todos: TodoStore }): Tool<ToolInputs['TodoWrite']> {
  return defineTool({
    name: 'TodoWrite',
    kind: 'control',
    description,
    subject: (input) => ({ paths: [], summary: `${input.todos.length} to-do items` }),
    async run(input, context) {
      const oldTodos = deps.todos.replace(context.agent.id, input.todos);
      const count = (status: string): number =>
        input.todos.filter((todo) => todo.status === status).length;
      const content = `To-do list saved: ${count('completed')} completed, ${count('in_progress')} in progress, ${count('pending')} pending.`;
      return { content, structured: { oldTodos, newTodos: input.todos } };
    },
  });
}

type Todo = ToolInputs['TodoWrite']['todos'][number];

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
