import type { Client } from '@modelcontextprotocol/client';
import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import type { RawTool } from '../server.js';
import { type ConnectionTimeouts, LONGEST_TIMER_MS } from './deps.js';
import { AS_IT_IS, isSafeValue } from './results.js';
import type { Session } from './session.js';
import { readThrown, type Thrown } from './thrown.js';
import { CallTimers } from './timers.js';

export interface Job {
  readonly method: 'tools/call' | 'resources/read' | 'prompts/get';
  readonly params: Readonly<Record<string, unknown>>;
  /** As the server listed it last; some of its parameters may have to go into headers. */
  readonly tool?: RawTool | undefined;
  onProgress?(text: string): void;
}

export type Outcome =
  | { readonly kind: 'done'; readonly result: unknown }
  /** Called off by us, and the server told so. */
  | { readonly kind: 'stopped'; readonly by: 'abort' | 'total' | 'idle' }
  | { readonly kind: 'failed'; readonly thrown: Thrown };

export interface RequestParts {
  readonly session: Session;
  readonly timeouts: ConnectionTimeouts;
  readonly monotonic: () => number;
  /** The timers of all that runs, so that they can be held while a person is asked. */
  readonly running: Set<CallTimers>;
  /** Somebody is being asked right now. */
  readonly isHeld: () => boolean;
}

/** One request with its limits. Never rejects. */
export async function runRequest(
  parts: RequestParts,
  job: Job,
  signal: AbortSignal,
): Promise<Outcome> {
  const { session, timeouts, running } = parts;
  const stop = new AbortController();
  let stopped: 'abort' | 'total' | 'idle' | undefined;
  const end = (by: 'abort' | 'total' | 'idle'): void => {
    stopped ??= by;
    stop.abort(STOP_REASONS[by]);
  };
  const onAbort = (): void => end('abort');
  signal.addEventListener('abort', onAbort, { once: true });
  const timers = new CallTimers({
    ...timeouts,
    monotonic: parts.monotonic,
    onExpire: end,
    onStillRunning: (seconds) => job.onProgress?.(`still running, ${seconds} s`),
  });
  running.add(timers);
  if (parts.isHeld()) timers.pause();
  const tell = throttled(job, timeouts.progressGapMs, parts.monotonic);
  try {
    const result = await send(session, job, stop.signal, (progress) => {
      timers.heard();
      tell(progress);
    });
    if (session.isRemote && !isSafeValue(result)) {
      return { kind: 'failed', thrown: { kind: 'protocol' } };
    }
    return { kind: 'done', result };
  } catch (thrown) {
    if (stopped !== undefined) return { kind: 'stopped', by: stopped };
    return { kind: 'failed', thrown: readThrown(session.library, thrown) };
  } finally {
    signal.removeEventListener('abort', onAbort);
    timers.stop();
    running.delete(timers);
  }
}

const STOP_REASONS = {
  abort: 'cancelled by the user',
  total: 'the call took too long',
  idle: 'the server was silent for too long',
} as const;

interface Progress {
  readonly progress?: unknown;
  readonly total?: unknown;
  readonly message?: unknown;
}

function send(
  session: Session,
  job: Job,
  signal: AbortSignal,
  onprogress: (progress: Progress) => void,
): Promise<unknown> {
  const { client } = session;
  const options = { signal, timeout: LONGEST_TIMER_MS };
  if (job.method !== 'tools/call') {
    return client.request({ method: job.method, params: { ...job.params } }, AS_IT_IS, options);
  }
  const withProgress = { ...options, onprogress };
  if (session.era === 'modern' && session.isRemote && job.tool !== undefined) {
    return mirrored(client, job, job.tool, withProgress);
  }
  return client.request({ method: job.method, params: { ...job.params } }, AS_IT_IS, withProgress);
}

/** The library puts marked parameters into headers. It gets no output schema, or it would check by it. */
function mirrored(
  client: Client,
  job: Job,
  tool: RawTool,
  options: { signal: AbortSignal; timeout: number; onprogress: (progress: Progress) => void },
): Promise<unknown> {
  const toolDefinition = {
    name: tool.name,
    inputSchema: { ...tool.inputSchema, type: 'object' as const },
  };
  return client.callTool({ ...job.params, name: tool.name }, { ...options, toolDefinition });
}

/** Characters of the server's own words that people see while a call runs. */
const PROGRESS_TEXT = 200;

function throttled(job: Job, gapMs: number, monotonic: () => number): (progress: Progress) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    const now = monotonic();
    if (job.onProgress === undefined || now - toldAt < gapMs) return;
    toldAt = now;
    const share = [progress, total].filter((part) => typeof part === 'number').join('/');
    const words = typeof message === 'string' ? visible(sliceWhole(message, 0, PROGRESS_TEXT)) : '';
    job.onProgress(words === '' ? share : `${words} (${share})`);
  };
}
