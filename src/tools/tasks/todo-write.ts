import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import type { Tool } from '../tool.js';
import description from './todo-write.md';

type Todos = ToolInputs['TodoWrite']['todos'];

/** The to-do list of each agent, by its id, for as long as the session runs. */
export type TodoLists = Map<string, Todos>;

export function todoWriteTool({
  lists,
}: {
  readonly lists: TodoLists;
}): Tool<ToolInputs['TodoWrite']> {
  return defineTool({
    name: 'TodoWrite',
    kind: 'control',
    description,
    subject: (input) => ({ paths: [], summary: `${input.todos.length} to-do items` }),
    async run({ todos }, { agent }) {
      const oldTodos = lists.get(agent.id) ?? [];
      lists.set(agent.id, todos);
      const count = (status: string): number =>
        todos.filter((todo) => todo.status === status).length;
      const content = `To-do list saved: ${count('completed')} completed, ${count('in_progress')} in progress, ${count('pending')} pending.`;
      return { content, structured: { oldTodos, newTodos: todos } };
    },
  });
}
