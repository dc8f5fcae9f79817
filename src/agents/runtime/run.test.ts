import { describe, expect, it } from 'vitest';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentReport } from './report.js';
import { AgentRun, type AgentRunPlan, agentMessage } from './run.js';

const REPORT = { end: { kind: 'done' } } as AgentReport;
const FROM = { path: 'main' } as AgentRef;
const said = (text: string) => ({
  uuid: 'u',
  content: [{ type: 'text' as const, text: agentMessage(text, FROM) }],
});

function taskOf(id: string, signal = new AbortController().signal) {
  return new AgentRun({ ref: { id }, request: { signal } } as AgentRunPlan);
}

describe('agents that end with a signal', () => {
  it('all do, each of them once', () => {
    const outer = new AbortController();
    const tasks = ['a', 'b', 'c'].map((id) => taskOf(id, outer.signal));
    tasks[1]?.settle(REPORT);
    tasks[2]?.cancel('parent', 'enough');
    outer.abort();
    expect(tasks.map(({ signal }) => signal.aborted)).toEqual([true, false, true]);
    expect(tasks.map(({ cancelled }) => cancelled?.by)).toEqual(['person', undefined, 'parent']);
  });

  it('do at once when it is over before they begin, also beside one that was there', () => {
    const outer = new AbortController();
    const first = taskOf('a', outer.signal);
    outer.abort();
    const late = taskOf('b', outer.signal);
    expect([first, late].map(({ cancelled }) => cancelled?.by)).toEqual(['person', 'person']);
    expect(taskOf('c').signal.aborted).toBe(false);
  });
});

describe('a task', () => {
  it('has begun when its model was asked, whoever waits for that and whenever', async () => {
    const task = taskOf('a');
    let begun = 0;
    const early = task.atWork.then(() => begun++);
    await Promise.resolve();
    expect(begun).toBe(0);
    task.begin();
    await early;
    await task.atWork;
    const late = taskOf('b');
    late.begin();
    await late.atWork;
    const never = taskOf('c');
    never.settle(REPORT);
    await never.atWork;
    expect(begun).toBe(1);
  });

  it('gives what was said to it once, and hears nothing once it has left', async () => {
    const task = taskOf('a');
    expect(task.take()).toEqual([]);
    const heard = task.heard(new AbortController().signal);
    expect(task.hear(said('one'))).toBe(true);
    expect(task.hear(said('two'))).toBe(true);
    await heard;
    expect(task.take()).toHaveLength(2);
    expect(task.take()).toEqual([]);
    task.isListening = false;
    expect(task.isListening).toBe(false);
    expect(task.hear(said('late'))).toBe(false);
    task.settle(REPORT);
    expect(await task.ended).toBe(REPORT);
    task.cancel('person', 'too late');
    expect(task.signal.aborted).toBe(false);
  });
});
