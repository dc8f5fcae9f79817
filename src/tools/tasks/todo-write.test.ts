import { describe, expect, it } from 'vitest';
import { callTool } from '../../../test/support/permitted-call.js';
import { type TodoLists, todoWriteTool } from './todo-write.js';

const item = (content: string, status: 'pending' | 'in_progress' | 'completed') => ({
  content,
  status,
  activeForm: `${content}ing`,
});

describe('TodoWrite', () => {
  it('replaces the list of the agent that calls, and returns old and new', async () => {
    const lists: TodoLists = new Map();
    const tool = todoWriteTool({ lists });
    const first = [item('a', 'in_progress'), item('b', 'pending')];
    const second = [item('a', 'completed'), item('b', 'in_progress')];
    expect(await callTool(tool, { todos: first })).toEqual({
      content: 'To-do list saved: 0 completed, 1 in progress, 1 pending.',
      structured: { oldTodos: [], newTodos: first },
    });
    const other = await callTool(tool, { todos: [] }, { agentId: 'sub' });
    expect(other.structured).toEqual({ oldTodos: [], newTodos: [] });
    const output = await callTool(tool, { todos: second });
    expect(output.structured).toEqual({ oldTodos: first, newTodos: second });
    expect(lists.get('main')).toEqual(second);
    expect(lists.get('sub')).toEqual([]);
  });

  it('refuses unknown states and fields', async () => {
    const tool = todoWriteTool({ lists: new Map() });
    expect(
      await tool.validate({ todos: [{ ...item('a', 'pending'), status: 'done' }] }),
    ).toHaveLength(1);
    expect(await tool.validate({ todos: [{ ...item('a', 'pending'), id: 1 }] })).toHaveLength(1);
  });
});
