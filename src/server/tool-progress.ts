import type { SessionNews } from '../app.js';
import type { AgentEvent } from '../client/events.js';
import type { Frame } from './wire.js';

export interface ToolProgressDeps {
  write(frame: Frame): void;
  /** Milliseconds from an arbitrary start. */
  now(): number;
  uuid(): string;
  sessionId(): string;
}

/** Tells hosts of calls that take long. */
export interface ToolProgress {
  heard(event: AgentEvent | SessionNews): void;
  /** No call of the main agent runs any more. */
  turnEnded(): void;
}

interface RunningCall {
  readonly name: string;
  readonly startedAt: number;
  /** The call that started the agent whose call this is. */
  readonly parent: string | null;
  toldAt: number;
}

/** Interval of progress frames for a call without output. */
const HEARTBEAT_MS = 30_000;
/** Shortest interval of progress frames for a call with much output. */
const MIN_GAP_MS = 1_000;

export function createToolProgress(deps: ToolProgressDeps): ToolProgress {
  const running = new Map<string, RunningCall>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const tell = (id: string, call: RunningCall, fields: object = {}): void => {
    const now = deps.now();
    call.toldAt = now;
    deps.write({
      type: 'tool_progress',
      tool_use_id: id,
      tool_name: call.name,
      parent_tool_use_id: call.parent,
      elapsed_time_seconds: Math.round((now - call.startedAt) / 1000),
      ...fields,
      uuid: deps.uuid(),
      session_id: deps.sessionId(),
    });
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const beat = (): void => {
    if (running.size === 0) stop();
    const now = deps.now();
    for (const [id, call] of running) {
      if (now - call.toldAt >= HEARTBEAT_MS) tell(id, call, { heartbeat: true });
    }
  };
  /** Left alone between the calls of a turn: most are over long before it would do anything. */
  const start = (): void => {
    if (timer !== undefined || running.size === 0) return;
    timer = setInterval(beat, HEARTBEAT_MS / 2);
    timer.unref();
  };
  const follow = (event: AgentEvent, parent: string | null): void => {
    if (event.type === 'child') follow(event.event, event.agent.spawnedBy ?? '');
    if (event.type === 'tool_result') running.delete(event.call.id);
    if (event.type !== 'answer') return;
    const startedAt = deps.now();
    for (const block of event.answer.message.content) {
      if (block.type !== 'tool_use') continue;
      running.set(block.id, { name: block.name, startedAt, parent, toldAt: startedAt });
    }
  };
  return {
    heard(event) {
      if (event.type === 'progress') {
        const call = running.get(event.toolUseId);
        const isDue = call !== undefined && deps.now() - call.toldAt >= MIN_GAP_MS;
        if (isDue) tell(event.toolUseId, call, { summary: event.text });
        return;
      }
      if (event.type !== 'answer' && event.type !== 'tool_result' && event.type !== 'child') return;
      follow(event, null);
      start();
    },
    turnEnded() {
      for (const [id, { parent }] of running) if (parent === null) running.delete(id);
      if (running.size === 0) stop();
    },
  };
}
