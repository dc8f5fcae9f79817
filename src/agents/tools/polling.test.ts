import { describe, expect, it } from 'vitest';
import type { CallView } from '../../permissions/gate/view.js';
import { pollingGuard } from './polling.js';

const task = {
  id: 'a123',
  description: 'count things',
  outputFile: '/s/tool-results/a123.output',
};

let serial = 0;
function viewOf(tool: string, input: Record<string, unknown>, agentId = 'main'): CallView {
  const { command, file_path: path = input.path } = input;
  return {
    call: {
      toolUseId: `t${++serial}`,
      tool: { name: tool },
      input,
      agent: { id: agentId },
      subject: {
        paths: typeof path === 'string' ? [{ path, access: 'read' }] : [],
        summary: '',
        ...(typeof command === 'string' ? { command } : {}),
      },
    },
  } as unknown as CallView;
}

describe('looking at a running agent', () => {
  it.each([
    ['Bash', { command: 'tail -f /s/tool-results/a123.output' }],
    ['Bash', { command: 'sleep 30 && cat "/s/tool-results"/a123.output' }],
    ['Bash', { command: 'cd /s/tool-results; cat a123.output' }],
    ['Bash', { command: 'wc -l /s/subagents/agent-a123.jsonl' }],
    ['Grep', { pattern: 'DONE', path: '/s/tool-results/a123.output' }],
    ['Read', { file_path: '/s/tool-results/a123.output' }],
    ['BashOutput', { task_id: 'a123' }],
  ])('with %s %j is answered, then refused', async (tool, input) => {
    const guard = pollingGuard(() => [task]);
    const first = viewOf(tool, input);
    for (const view of [first, first]) {
      const said = await guard.decide(view);
      expect(said).toMatchObject({ decision: 'deny' });
      expect(said.reason).toContain('still running, and you will be told');
      expect(said.reason).not.toContain('WaitForAgents');
    }
    expect((await guard.decide(viewOf(tool, input))).reason).toContain('WaitForAgents');
    // Another agent has had no answer yet.
    expect((await guard.decide(viewOf(tool, input, 'a9'))).reason).not.toContain('WaitForAgents');
  });

  it.each([
    ['Bash', { command: 'git checkout -b worktree-a123' }],
    ['Bash', { command: 'sleep 5' }],
    ['Bash', { command: 'grep -r DONE /s/tool-results' }],
    ['Grep', { pattern: 'DONE', path: '/w' }],
    ['TaskStop', { task_id: 'a123' }],
    ['Read', { file_path: '/s/tool-results/b1.output' }],
  ])('is not what %s %j does', async (tool, input) => {
    expect(await pollingGuard(() => [task]).decide(viewOf(tool, input))).toEqual({
      decision: 'none',
    });
  });

  it('is seen wherever agents write, and one’s own output is one’s own', async () => {
    const beside = { ...task, id: 'b7', outputFile: '/s/tool-results/b7.output' };
    const elsewhere = { ...task, id: 'c1', outputFile: '/t/out/agent-a123.jsonl' };
    const unwritten = { ...task, id: 'd0', outputFile: '' };
    const running = [task, beside, elsewhere, unwritten];
    const guard = pollingGuard(() => running);
    const said = async (tool: string, input: Record<string, unknown>, agentId: string) =>
      (await guard.decide(viewOf(tool, input, agentId))).reason?.match(/agent (\w+)/)?.[1];
    expect(await said('Read', { file_path: beside.outputFile }, 'a123')).toBe('b7');
    expect(await said('Read', { file_path: '/s/tool-results/a123.output' }, 'a123')).toBe(
      undefined,
    );
    // It is one agent's output under the other's name.
    expect(await said('Read', { file_path: '/t/out/agent-a123.jsonl' }, 'c1')).toBe('a123');
    expect(await said('Read', { file_path: '/t/out/agent-a123.jsonl' }, 'a123')).toBe('c1');
    expect(await said('Read', { file_path: '/w/a.txt' }, 'a123')).toBeUndefined();
  });

  it('is seen of agents that come later, and no more of those that have ended', async () => {
    const later = { ...task, id: 'e5', outputFile: '/t/out/e5.output' };
    let running: (typeof task)[] = [task];
    const guard = pollingGuard(() => running);
    const decision = async (path: string) =>
      (await guard.decide(viewOf('Read', { file_path: path }))).decision;
    for (const path of ['/w/a.txt', later.outputFile, '/w/agent-e5.jsonl']) {
      expect(await decision(path)).toBe('none');
    }
    running = [task, later];
    for (const path of [task.outputFile, later.outputFile, '/w/agent-e5.jsonl']) {
      expect(await decision(path)).toBe('deny');
    }
    expect(await decision('/w/a.txt')).toBe('none');
    running = [later];
    expect(await decision(task.outputFile)).toBe('none');
    expect(await decision('/s/subagents/agent-a123.jsonl')).toBe('none');
    expect(await decision(later.outputFile)).toBe('deny');
    running = [later, { ...task }];
    expect(await decision(task.outputFile)).toBe('deny');
  });

  it('is nobody’s business once it has ended', async () => {
    const view = viewOf('Read', { file_path: task.outputFile });
    expect(await pollingGuard(() => []).decide(view)).toEqual({ decision: 'none' });
  });
});
