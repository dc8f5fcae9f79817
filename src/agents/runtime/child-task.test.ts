import { describe, expect, it } from 'vitest';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { createChildTask } from './child-task.js';
import type { AgentReport } from './report.js';
import type { AgentRunPlan } from './run-plan.js';

const REPORT = { end: { kind: 'done' } } as AgentReport;
const FROM = { path: 'main' } as AgentRef;

function taskOf(id: string, signal?: AbortSignal) {
  const order = { ref: { id }, output: { path: '/o' }, choice: { model: 'm' } } as AgentRunPlan;
  return createChildTask(order, { startedAt: 1, uuid: () => 'u', signal });
}

describe('agents that end with a signal', () => {
  it('all do, each of them once', () => {
    const outer = new AbortController();
    const tasks = ['a', 'b', 'c'].map((id) => taskOf(id, outer.signal));
    tasks[1]?.settle(REPORT);
    tasks[2]?.cancel('parent', 'enough');
    outer.abort();
    expect(tasks.map(({ line }) => line.signal.aborted)).toEqual([true, false, true]);
    expect(tasks.map(({ line }) => line.cancelled()?.by)).toEqual(['person', undefined, 'parent']);
  });

  it('do at once when it is over before they begin, also beside one that was there', () => {
    const outer = new AbortController();
    const first = taskOf('a', outer.signal);
    outer.abort();
    const late = taskOf('b', outer.signal);
    expect([first, late].map(({ line }) => line.cancelled()?.by)).toEqual(['person', 'person']);
    expect(taskOf('c').line.signal.aborted).toBe(false);
  });
});

describe('a task', () => {
  it('has begun when its model was asked, whoever waits for that and whenever', async () => {
    const task = taskOf('a');
    let begun = 0;
    const early = task.atWork.then(() => begun++);
    await Promise.resolve();
    expect(begun).toBe(0);
    task.line.atWork();
    await early;
    await task.atWork;
    const late = taskOf('b');
    late.line.atWork();
    await late.atWork;
    const never = taskOf('c');
    never.settle(REPORT);
    await never.atWork;
    expect(begun).toBe(1);
  });

  it('gives what was said to it once, and hears nothing once it has left', async () => {
    const task = taskOf('a');
    expect(task.line.take()).toEqual([]);
    const heard = task.line.heard(new AbortController().signal);
    expect(task.say('one', FROM)).toBe(true);
    expect(task.say('two', FROM)).toBe(true);
    await heard;
    expect(task.line.take()).toHaveLength(2);
    expect(task.line.take()).toEqual([]);
    task.line.close();
    expect(task.isListening()).toBe(false);
    expect(task.say('late', FROM)).toBe(false);
    task.settle(REPORT);
    expect(await task.ended).toBe(REPORT);
    task.cancel('person', 'too late');
    expect(task.line.signal.aborted).toBe(false);
  });
});
