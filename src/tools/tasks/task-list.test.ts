import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CallOptions, callTool } from '../../../test/support/permitted-call.js';
import { temporaryDirectory } from '../../../test/support/tool-call.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { type TaskWatch, taskListTools } from './task-list.js';
import { createTaskStore } from './task-store.js';

function setUp(directory = temporaryDirectory(), watch?: Partial<TaskWatch>) {
  const tasks = createTaskStore({ fs: nodeFileSystem, directory });
  const quiet = async () => undefined;
  const watched = watch && { created: quiet, completed: quiet, ...watch };
  const tools = new Map(taskListTools({ tasks, watch: watched }).map((tool) => [tool.name, tool]));
  const call = async (name: string, input: Record<string, unknown>, options?: CallOptions) => {
    const tool = tools.get(name);
    if (tool === undefined) throw new Error(name);
    return callTool(tool, input, options);
  };
  const create = (subject: string) => call('TaskCreate', { subject, description: `do ${subject}` });
  return { directory, call, create };
}

describe('task tools', () => {
  it('create, show, change and list', async () => {
    const { call, create } = setUp();
    expect(await create('one')).toEqual({
      content: 'Task 1 created: one',
      structured: { task: { id: '1', subject: 'one', description: 'do one' } },
    });
    await create('two');
    const update = await call('TaskUpdate', {
      taskId: '1',
      status: 'in_progress',
      owner: 'me',
      addBlocks: ['2'],
      metadata: { a: 1, b: 2 },
    });
    expect(update).toEqual({
      content: 'Task 1 updated (owner, status, metadata, blocks); it is now in_progress.',
      structured: {
        success: true,
        taskId: '1',
        updatedFields: ['owner', 'status', 'metadata', 'blocks'],
        statusChange: { from: 'pending', to: 'in_progress' },
      },
    });
    await call('TaskUpdate', { taskId: '1', metadata: { a: null, c: 3 } });
    expect((await call('TaskGet', { taskId: '1' })).structured).toEqual({
      task: {
        id: '1',
        subject: 'one',
        description: 'do one',
        status: 'in_progress',
        owner: 'me',
        metadata: { b: 2, c: 3 },
        blocks: ['2'],
        blockedBy: [],
      },
    });
    const list = await call('TaskList', {});
    expect(list.content).toBe('1. [in_progress] one (me)\n2. [pending] two [blocked by 1]');
    await call('TaskUpdate', { taskId: '1', status: 'completed' });
    expect((await call('TaskList', {})).structured).toEqual({
      tasks: [
        { id: '1', subject: 'one', status: 'completed', owner: 'me', blockedBy: [] },
        { id: '2', subject: 'two', status: 'pending', blockedBy: [] },
      ],
    });
  });

  it('says when a change changes nothing', async () => {
    const { call, create } = setUp();
    await create('one');
    const same = await call('TaskUpdate', { taskId: '1', status: 'pending', subject: 'one' });
    expect(same.structured).toEqual({ success: true, taskId: '1', updatedFields: [] });
  });

  it('names the known tasks when one is unknown, and changes nothing', async () => {
    const { call, create } = setUp();
    expect((await call('TaskGet', { taskId: '7' })).content).toBe(
      'No task "7". There are none yet.',
    );
    await create('one');
    await create('two');
    expect(await call('TaskGet', { taskId: '7' })).toEqual({
      content: 'No task "7". Known: 1, 2.',
      isError: true,
      structured: { task: null },
    });
    const half = await call('TaskUpdate', { taskId: '1', subject: 'new', addBlocks: ['2', '9'] });
    expect(half).toEqual({
      content: 'No task "9". Known: 1, 2.',
      isError: true,
      structured: {
        success: false,
        taskId: '1',
        updatedFields: [],
        error: 'No task "9". Known: 1, 2.',
      },
    });
    expect((await call('TaskList', {})).content).toBe('1. [pending] one\n2. [pending] two');
  });

  it('keeps both sides of a block and refuses circles', async () => {
    const { call, create } = setUp();
    for (const subject of ['a', 'b', 'c']) await create(subject);
    await call('TaskUpdate', { taskId: '1', addBlocks: ['2'] });
    await call('TaskUpdate', { taskId: '3', addBlockedBy: ['2', '2'] });
    const again = await call('TaskUpdate', { taskId: '2', addBlockedBy: ['1'] });
    expect(again.structured).toMatchObject({ updatedFields: [] });
    const two = await call('TaskGet', { taskId: '2' });
    expect(two.structured).toMatchObject({ task: { blocks: ['3'], blockedBy: ['1'] } });
    for (const [input, circle] of [
      [{ taskId: '3', addBlocks: ['1'] }, '3 → 1 → 2 → 3'],
      [{ taskId: '1', addBlockedBy: ['3'] }, '3 → 1 → 2 → 3'],
      [{ taskId: '2', addBlocks: ['2'] }, '2 → 2'],
      [{ taskId: '2', addBlocks: ['1'] }, '2 → 1 → 2'],
    ] as const) {
      const refused = await call('TaskUpdate', input);
      expect(refused.isError).toBe(true);
      expect(refused.content).toContain(`(${circle})`);
    }
    const both = await call('TaskUpdate', { taskId: '3', addBlocks: ['1'], status: 'completed' });
    expect(both.isError).toBe(true);
    expect((await call('TaskGet', { taskId: '3' })).structured).toMatchObject({
      task: { status: 'pending', blocks: [] },
    });
  });

  it('removes a deleted task from all edges and does not give its id again', async () => {
    const { call, create } = setUp();
    for (const subject of ['a', 'b', 'c']) await create(subject);
    await call('TaskUpdate', { taskId: '2', addBlocks: ['3'], addBlockedBy: ['1'] });
    const gone = await call('TaskUpdate', { taskId: '2', status: 'deleted' });
    expect(gone.structured).toMatchObject({ statusChange: { from: 'pending', to: 'deleted' } });
    expect((await call('TaskGet', { taskId: '1' })).structured).toMatchObject({
      task: { blocks: [] },
    });
    expect((await call('TaskGet', { taskId: '3' })).structured).toMatchObject({
      task: { blockedBy: [] },
    });
    await call('TaskUpdate', { taskId: '3', status: 'deleted' });
    expect((await create('d')).content).toBe('Task 4 created: d');
  });

  it('survives a restart and keeps sessions apart', async () => {
    const first = setUp();
    await first.create('one');
    const second = setUp(first.directory);
    expect((await second.create('two')).content).toBe('Task 2 created: two');
    const other = await second.call('TaskList', {}, { sessionId: '../../elsewhere' });
    expect(other.content).toBe('No tasks.');
    const file = JSON.parse(readFileSync(path.join(first.directory, 'session-1.json'), 'utf8'));
    expect(file).toMatchObject({ nextId: 3, tasks: [{ id: '1' }, { id: '2' }] });
  });

  it('loses nothing when many calls come at once', async () => {
    const { call, create } = setUp();
    const made = await Promise.all(Array.from({ length: 30 }, (_, n) => create(`t${n}`)));
    const ids = made.map((output) => (output.structured as { task: { id: string } }).task.id);
    expect(new Set(ids).size).toBe(30);
    const list = await call('TaskList', {});
    expect((list.structured as { tasks: unknown[] }).tasks).toHaveLength(30);
  });

  it.each([
    '{"nextId": 1, "tasks": [',
    '[]',
    '{"nextId":1,"tasks":[{"id":1}]}',
    '{"nextId":"1","tasks":[]}',
  ])('does not overwrite a damaged list: %s', async (text) => {
    const { directory, call, create } = setUp();
    mkdirSync(directory, { recursive: true });
    const file = path.join(directory, 'session-1.json');
    writeFileSync(file, text);
    const output = await create('x');
    expect(output.isError).toBe(true);
    expect(output.content).toContain(file);
    expect((await call('TaskUpdate', { taskId: '1' })).isError).toBe(true);
    expect((await call('TaskGet', { taskId: '1' })).isError).toBe(true);
    expect((await call('TaskList', {})).isError).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('refuses what it could not read back, and goes on', async () => {
    const { call, create } = setUp();
    const metadata = JSON.parse('{"a":{"__proto__":1}}');
    const refused = await call('TaskCreate', { subject: 'x', description: 'y', metadata });
    expect(refused.isError).toBe(true);
    expect((await create('one')).content).toBe('Task 1 created: one');
  });
});

describe('a watch over tasks', () => {
  const watched = (watch: Partial<TaskWatch>) => setUp(temporaryDirectory(), watch);
  const statusOf = async ({ call }: ReturnType<typeof setUp>) => {
    const { structured } = await call('TaskGet', { taskId: '1' });
    return (structured as { task: { status: string } | null }).task?.status;
  };

  it('sees new tasks and their author, and lets them be', async () => {
    const seen: unknown[] = [];
    const { create } = watched({
      created: async ({ id, subject }, { agent }) => void seen.push([id, subject, agent.id]),
    });
    expect((await create('one')).isError).toBeUndefined();
    expect(seen).toEqual([['1', 'one', 'main']]);
  });

  it('takes a task back to which it objects, and its number is not given again', async () => {
    const { call, create } = watched({
      created: async ({ subject }) => (subject === 'bad' ? 'too vague' : undefined),
    });
    expect(await create('bad')).toEqual({
      content: 'The task "bad" was not created: too vague',
      isError: true,
    });
    expect((await create('good')).content).toBe('Task 2 created: good');
    expect((await call('TaskList', {})).content).toBe('2. [pending] good');
  });

  it('says so when a task cannot be taken back', async () => {
    const directory = temporaryDirectory();
    const { create } = setUp(directory, {
      created: async () => {
        writeFileSync(path.join(directory, 'session-1.json'), '{');
        return 'no';
      },
    });
    const { content, isError } = await create('x');
    expect(isError).toBe(true);
    expect(content).toContain('was not created: no\nTask 1 is still on the list');
  });

  it('is asked before a task is completed, about the task as it would be', async () => {
    const seen: unknown[] = [];
    const rig = watched({
      completed: async ({ id, status, owner }) => {
        seen.push([id, status, owner, await statusOf(rig)]);
        return undefined;
      },
    });
    await rig.create('one');
    const done = await rig.call('TaskUpdate', { taskId: '1', status: 'completed', owner: 'me' });
    expect(done.structured).toMatchObject({ success: true, updatedFields: ['owner', 'status'] });
    expect(seen).toEqual([['1', 'completed', 'me', 'pending']]);
    const again = await rig.call('TaskUpdate', { taskId: '1', status: 'completed' });
    expect(again.content).toBe('Task 1 was like that already.');
    await rig.call('TaskUpdate', { taskId: '1', status: 'in_progress' });
    await rig.call('TaskUpdate', { taskId: '9', status: 'completed' });
    expect(seen).toHaveLength(1);
  });

  it('keeps a task from being completed, with all that comes along', async () => {
    const rig = watched({ completed: async () => 'tests fail' });
    await rig.create('one');
    const update = { taskId: '1', status: 'completed', subject: 'renamed' };
    const refused = await rig.call('TaskUpdate', update);
    expect(refused).toEqual({
      content: 'Task 1 stays pending: tests fail',
      isError: true,
      structured: {
        success: false,
        taskId: '1',
        updatedFields: [],
        error: 'Task 1 stays pending: tests fail',
      },
    });
    expect((await rig.call('TaskList', {})).content).toBe('1. [pending] one');
  });

  it('is not outrun: a step that is another one by now is not made', async () => {
    const rig = watched({
      completed: async () => {
        await rig.call('TaskUpdate', { taskId: '1', status: 'in_progress' });
        return undefined;
      },
    });
    await rig.create('one');
    const late = await rig.call('TaskUpdate', { taskId: '1', status: 'completed' });
    expect(late.content).toBe('Task 1 is in_progress by now, not pending. Look at it again.');
    expect(await statusOf(rig)).toBe('in_progress');
  });

  it('that breaks objects', async () => {
    const broken = (): Promise<never> => Promise.reject(new Error('broken'));
    const rig = watched({ completed: broken });
    await rig.create('one');
    const update = await rig.call('TaskUpdate', { taskId: '1', status: 'completed' });
    expect(update.content).toContain('it could not be looked at (broken)');
    expect(await statusOf(rig)).toBe('pending');
    const other = watched({ created: broken });
    expect((await other.create('one')).isError).toBe(true);
    expect((await other.call('TaskList', {})).content).toBe('No tasks.');
  });
});
