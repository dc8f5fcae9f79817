import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import type { Tool } from '../tool.js';
import description from './todo-write.md';
import type { TodoStore } from './todos.js';

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
