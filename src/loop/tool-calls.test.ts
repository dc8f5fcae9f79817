import { describe, expect, it } from 'vitest';
import type { ToolUseBlock } from '../protocol/content.js';
import { runBatch } from './tool-calls.js';
import type { LoopDeps } from './types.js';

const callsOf = (name: string, count: number): ToolUseBlock[] =>
  Array.from({ length: count }, (_, at) => ({
    type: 'tool_use',
    id: `${name}${at}`,
    name,
    input: {},
  }));

/** The most calls of each tool that ran at once, and the order in which calls started. */
async function played(calls: readonly ToolUseBlock[], mostAgents: number) {
  const running = new Map<string, number>();
  const most: Record<string, number> = {};
  const begun: string[] = [];
  const deps = {
    isConcurrencySafe: () => true,
    maxConcurrency: ({ name }: ToolUseBlock) => (name === 'Agent' ? mostAgents : undefined),
    async runTool({ id, name }: ToolUseBlock) {
      begun.push(id);
      const now = (running.get(name) ?? 0) + 1;
      running.set(name, now);
      most[name] = Math.max(most[name] ?? 0, now);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running.set(name, (running.get(name) ?? 0) - 1);
      return { uuid: id, block: { type: 'tool_result', tool_use_id: id, content: '' } };
    },
    recordResult: () => {},
    emit: () => {},
    uuid: () => 'u',
  } as unknown as LoopDeps;
  const results = await runBatch(
    deps,
    { calls, malformed: new Map() },
    new AbortController().signal,
  );
  return { most, begun, results: results.map(({ block }) => block.tool_use_id) };
}

describe('calls that run beside each other', () => {
  it('are ten at a time, unless a tool says otherwise', async () => {
    const calls = [...callsOf('Agent', 40), ...callsOf('WebFetch', 40)];
    const { most, results } = await played(calls, 30);
    expect(most).toEqual({ Agent: 30, WebFetch: 10 });
    expect(results).toEqual(calls.map(({ id }) => id));
  });

  it('begin in their order, also where a later one would have room', async () => {
    const calls = [...callsOf('WebFetch', 11), ...callsOf('Agent', 2)];
    const { begun } = await played(calls, 30);
    expect(begun).toEqual(calls.map(({ id }) => id));
  });

  it('are one alone as well: it runs, is recorded, and is not begun after an abort', async () => {
    const log: string[] = [];
    const deps = {
      isConcurrencySafe: () => true,
      runTool: async ({ id }: ToolUseBlock) => {
        log.push(`run ${id}`);
        return { uuid: id, block: { type: 'tool_result', tool_use_id: id, content: '' } };
      },
      recordResult: ({ id }: ToolUseBlock) => log.push(`recorded ${id}`),
      emit: () => log.push('told'),
      uuid: () => 'u',
    } as unknown as LoopDeps;
    const batch = { calls: callsOf('Read', 1), malformed: new Map() };
    const controller = new AbortController();
    await runBatch(deps, batch, controller.signal);
    expect(log).toEqual(['run Read0', 'recorded Read0', 'told']);
    controller.abort();
    const [result] = await runBatch(deps, batch, controller.signal);
    expect(result?.block).toMatchObject({ tool_use_id: 'Read0', is_error: true });
    expect(log).toEqual(['run Read0', 'recorded Read0', 'told', 'recorded Read0', 'told']);
  });

  it('end in the failure to record the one that stands alone', async () => {
    const deps = {
      runTool: async ({ id }: ToolUseBlock) => ({ uuid: id, block: {} }),
      recordResult: () => {
        throw new Error('disk full');
      },
      emit: () => {},
    } as unknown as LoopDeps;
    const batch = { calls: callsOf('Read', 1), malformed: new Map() };
    const { signal } = new AbortController();
    await expect(runBatch(deps, batch, signal)).rejects.toThrow('disk full');
  });
});

describe('an answer with one call', () => {
  it('records its result before anything follows, unless the call was deferred', async () => {
    const [call] = callsOf('Read', 1);
    const told: string[] = [];
    const deps = {
      runTool: ({ id }: ToolUseBlock) => ({
        uuid: id,
        block: { type: 'tool_result', tool_use_id: id, content: '' },
        deferred: true,
      }),
      recordResult: () => void told.push('recorded'),
      emit: () => void told.push('told'),
      uuid: () => 'u',
    } as unknown as LoopDeps;
    const { signal } = new AbortController();
    const batch = { calls: call === undefined ? [] : [call], malformed: new Map() };
    expect(await runBatch(deps, batch, signal)).toMatchObject([{ uuid: 'Read0' }]);
    expect(told).toEqual(['recorded', 'told']);
    expect(await runBatch({ ...deps, mayDefer: true }, batch, signal)).toHaveLength(1);
    expect(told).toHaveLength(2);
    const aborted = AbortSignal.abort();
    expect(await runBatch(deps, batch, aborted)).toMatchObject([{ block: { is_error: true } }]);
  });
});
