import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LoopEvent } from '../app.js';
import { createToolProgress } from './tool-progress.js';
import type { Frame } from './wire.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const call = { type: 'tool_use', id: 't1', name: 'Bash', input: {} };
const started = {
  type: 'answer',
  answer: { message: { role: 'assistant', content: [call] } },
} as unknown as LoopEvent;
const finished = { type: 'tool_result', call } as unknown as LoopEvent;

function open() {
  const told: Frame[] = [];
  const progress = createToolProgress({
    write: (frame) => told.push(frame),
    now: () => Date.now(),
    uuid: () => 'u',
    sessionId: () => 's',
  });
  return { told, progress };
}

describe('a call that takes long', () => {
  it('is told of every now and then, until it ends', () => {
    const { told, progress } = open();
    progress.heard(started);
    vi.advanceTimersByTime(29_000);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(31_000);
    expect(told).toMatchObject([
      { type: 'tool_progress', tool_use_id: 't1', tool_name: 'Bash', elapsed_time_seconds: 30 },
      { parent_tool_use_id: null, heartbeat: true, elapsed_time_seconds: 60 },
    ]);
    progress.heard(finished);
    vi.advanceTimersByTime(120_000);
    expect(told).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is told of when it says something, not more than once a second', () => {
    const { told, progress } = open();
    const say = (): void =>
      progress.heard({ type: 'progress', toolUseId: 't1', toolName: 'Bash', text: 'half' });
    say();
    progress.heard(started);
    vi.advanceTimersByTime(1_500);
    say();
    say();
    expect(told).toMatchObject([{ tool_use_id: 't1', summary: 'half' }]);
  });

  it('of an agent goes on when the turn ends, one of the turn does not', () => {
    const { told, progress } = open();
    const agent = { spawnedBy: 'parent' };
    progress.heard({ type: 'child', agent, event: started } as unknown as LoopEvent);
    progress.turnEnded();
    vi.advanceTimersByTime(30_000);
    expect(told).toMatchObject([{ parent_tool_use_id: 'parent' }]);
    const other = open();
    other.progress.heard(started);
    other.progress.turnEnded();
    vi.advanceTimersByTime(60_000);
    expect(other.told).toEqual([]);
  });
});
