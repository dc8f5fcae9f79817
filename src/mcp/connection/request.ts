import { isRecord } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';
import type { Elicit, ElicitAnswer, ElicitRequest, RawTool } from '../server.js';
import { AS_IT_IS, isSafeValue } from './results.js';
import { NEVER_ARRIVED } from './safe-error.js';
import type { Session } from './session.js';
import { readThrown, type Thrown } from './thrown.js';
import { type ConnectionTimeouts, LONGEST_TIMER_MS } from './timeouts.js';

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
  | { readonly kind: 'stopped'; readonly by: StoppedBy }
  | { readonly kind: 'failed'; readonly thrown: Thrown };

/** Questions of one server that may be open at a time, and that one refused call may carry. */
const MAX_OPEN = 8;
const MAX_URLS = 5;

type Question = Omit<ElicitRequest, 'server'>;
type StoppedBy = 'abort' | 'total' | 'idle';

interface OpenCallsParts {
  readonly server: string;
  readonly elicit: Elicit;
  readonly timeouts: ConnectionTimeouts;
  readonly monotonic: () => number;
}

/** What one server is asked, and what it wants to know of a person. While one is asked, no call runs out of time. */
export class OpenCalls {
  readonly #parts: OpenCallsParts;
  readonly #running = new Set<CallTimers>();
  readonly #questions = new Set<AbortController>();

  constructor(parts: OpenCallsParts) {
    this.#parts = parts;
  }

  /** One request with its limits. Never rejects. */
  async request(session: Session, job: Job, signal: AbortSignal): Promise<Outcome> {
    const { timeouts, monotonic } = this.#parts;
    const stop = new AbortController();
    let stopped: StoppedBy | undefined;
    const end = (by: StoppedBy): void => {
      stopped ??= by;
      stop.abort(STOP_REASONS[by]);
    };
    const onAbort = (): void => end('abort');
    signal.addEventListener('abort', onAbort, { once: true });
    const timers = new CallTimers({
      ...timeouts,
      monotonic,
      onExpire: end,
      onStillRunning: (seconds) => job.onProgress?.(`still running, ${seconds} s`),
    });
    this.#running.add(timers);
    if (this.#questions.size > 0) timers.pause();
    const tell = throttled(job, timeouts.progressGapMs, monotonic);
    try {
      const result = await send(session, job, stop.signal, (progress) => {
        timers.heard();
        tell(progress);
      });
      const isBad = session.isRemote && !isSafeValue(result);
      return isBad ? { kind: 'failed', thrown: { kind: 'protocol' } } : { kind: 'done', result };
    } catch (thrown) {
      if (stopped !== undefined) return { kind: 'stopped', by: stopped };
      return { kind: 'failed', thrown: readThrown(session.library, thrown) };
    } finally {
      signal.removeEventListener('abort', onAbort);
      timers.stop();
      this.#running.delete(timers);
      // What it still asks belongs to a call that nobody waits for.
      if (stopped !== undefined && this.#running.size === 0) this.withdraw();
    }
  }

  async ask(question: Question, signal: AbortSignal): Promise<ElicitAnswer> {
    // fail-closed: a server that asks without end is not answered.
    if (this.#questions.size >= MAX_OPEN || signal.aborted) return { action: 'decline' };
    const own = new AbortController();
    this.#questions.add(own);
    for (const timers of this.#running) timers.pause();
    try {
      const { server, elicit } = this.#parts;
      return await elicit({ ...question, server }, AbortSignal.any([signal, own.signal]));
    } catch {
      // fail-closed: it promises never to reject; whoever breaks that has not agreed to anything.
      return { action: 'cancel' };
    } finally {
      this.#questions.delete(own);
      if (this.#questions.size === 0) for (const timers of this.#running) timers.resume();
    }
  }

  /** Nobody waits for the answers any more. */
  withdraw(): void {
    for (const question of this.#questions) question.abort();
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
  { client, era, isRemote }: Session,
  { method, params, tool }: Job,
  signal: AbortSignal,
  onprogress: (progress: Progress) => void,
): Promise<unknown> {
  const options = { signal, timeout: LONGEST_TIMER_MS };
  if (method !== 'tools/call')
    return client.request({ method, params: { ...params } }, AS_IT_IS, options);
  const withProgress = { ...options, onprogress };
  if (era !== 'modern' || !isRemote || tool === undefined)
    return client.request({ method, params: { ...params } }, AS_IT_IS, withProgress);
  // The library puts marked parameters into headers. It gets no output schema, or it would check by it.
  const { name, inputSchema } = tool;
  const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } };
  return client.callTool({ ...params, name }, { ...withProgress, toolDefinition });
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

interface CallTimerOptions {
  readonly totalMs: number;
  readonly idleMs: number;
  readonly stillRunningMs: number;
  readonly monotonic: () => number;
  readonly onExpire: (limit: 'total' | 'idle') => void;
  /** The server has been silent for a while, once more. */
  readonly onStillRunning: (seconds: number) => void;
}

/** The two limits of one call on one timer. While a person is asked, neither runs. */
export class CallTimers {
  readonly #options: CallTimerOptions;
  #timer: NodeJS.Timeout | undefined;
  #startedAt: number;
  #heardAt: number;
  #toldAt: number;
  #pausedAt: number | undefined;

  constructor(options: CallTimerOptions) {
    this.#options = options;
    const now = options.monotonic();
    this.#startedAt = now;
    this.#heardAt = now;
    this.#toldAt = now;
    this.#arm(now);
  }

  /** The server gave a sign of life. */
  heard(): void {
    this.#heardAt = this.#options.monotonic();
    this.#toldAt = this.#heardAt;
  }

  pause(): void {
    if (this.#pausedAt !== undefined) return;
    this.#pausedAt = this.#options.monotonic();
    clearTimeout(this.#timer);
  }

  resume(): void {
    if (this.#pausedAt === undefined) return;
    const now = this.#options.monotonic();
    const pausedMs = now - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#startedAt += pausedMs;
    this.#heardAt += pausedMs;
    this.#toldAt += pausedMs;
    this.#arm(now);
  }

  stop(): void {
    clearTimeout(this.#timer);
    // A late resume must not arm it again.
    this.#pausedAt = undefined;
  }

  #arm(now: number): void {
    const { totalMs, idleMs, stillRunningMs } = this.#options;
    const next = Math.min(
      this.#startedAt + totalMs,
      this.#heardAt + idleMs,
      this.#toldAt + stillRunningMs,
    );
    this.#timer = setTimeout(() => this.#look(), Math.max(1, next - now));
  }

  #look(): void {
    const { totalMs, idleMs, stillRunningMs, monotonic, onExpire, onStillRunning } = this.#options;
    const now = monotonic();
    if (now >= this.#startedAt + totalMs) {
      onExpire('total');
      return;
    }
    if (now >= this.#heardAt + idleMs) {
      onExpire('idle');
      return;
    }
    if (now >= this.#toldAt + stillRunningMs) {
      this.#toldAt = now;
      onStillRunning(Math.round((now - this.#startedAt) / 1000));
    }
    this.#arm(now);
  }
}

const HEADER_MISMATCH = -32020;
/** The server wants a person to visit pages first. */
export const PAGES_REQUIRED = -32042;

/** Why the request may be sent once more; undefined when it may not, or when that would not help. */
export function repeatReason(
  session: Session,
  thrown: Thrown,
): 'session' | 'pages' | 'headers' | undefined {
  switch (thrown.kind) {
    case 'not-sent':
      return 'session';
    case 'http':
      // The refusal is of the message itself, before anything in it was looked at.
      return thrown.isSessionGone && session.hasSession() ? 'session' : undefined;
    case 'rpc':
      if (thrown.code === PAGES_REQUIRED) return 'pages';
      return thrown.code === HEADER_MISMATCH ? 'headers' : undefined;
    default:
      return undefined;
  }
}

/** Whether the same question, asked of a server that changes nothing by it, may be answered the next time. */
export function isTransient(session: Session, thrown: Thrown): boolean {
  switch (thrown.kind) {
    case 'closed':
    case 'ended':
    case 'not-sent':
    case 'timeout':
      return true;
    case 'network':
      return !NEVER_ARRIVED.has(thrown.network) || thrown.network === 'refused';
    case 'http':
      return thrown.status >= 500 || (thrown.isSessionGone && session.hasSession());
    default:
      return false;
  }
}

/** The pages that a call wants visited before it runs (error -32042); empty when it names none that can be. */
export function requiredPages(data: unknown): readonly (Question & { readonly url: string })[] {
  const listed = isRecord(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
  const pages = listed.slice(0, MAX_URLS).flatMap((item) => {
    if (!isRecord(item) || typeof item.url !== 'string' || !isWebAddress(item.url)) return [];
    return [
      {
        mode: 'url' as const,
        url: item.url,
        message: typeof item.message === 'string' ? item.message : '',
        ...(typeof item.elicitationId === 'string' ? { elicitationId: item.elicitationId } : {}),
      },
    ];
  });
  // fail-closed: with one of them left out, the call could not go on anyway.
  return pages.length === listed.length ? pages : [];
}

function isWebAddress(url: string): boolean {
  return /^https?:$/.test(parseUrl(url)?.protocol ?? '');
}
