import type { RequestOptions } from '@modelcontextprotocol/client';
import { isRecord } from '../../lib/own.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { Elicit, ElicitAnswer, ElicitRequest, RawTool } from '../server.js';
import type { Failure } from './classify.js';
import { AS_IT_IS, isSafeValue } from './results.js';
import { NEVER_ARRIVED } from './safe-error.js';
import type { Session } from './session.js';
import { type ConnectionTimeouts, LONGEST_TIMER_MS } from './timeouts.js';

export interface Job {
  readonly method: 'tools/call' | 'resources/read' | 'prompts/get';
  readonly params: Readonly<Record<string, unknown>>;
  /** As the server listed it last; some of its parameters may have to go into headers. */
  readonly tool?: RawTool | undefined;
  onProgress?(text: string): void;
}

/** Questions of one server that may be open at a time, and that one refused call may carry. */
const MAX_OPEN = 8;
const MAX_URLS = 5;

type Question = Omit<ElicitRequest, 'server'>;
type Stopped = Extract<Failure, { kind: 'stopped' }>;

interface OpenCallsParts {
  readonly server: string;
  readonly elicit: Elicit;
  readonly timeouts: ConnectionTimeouts;
  readonly monotonic: () => number;
}

/** What one server is asked, and what it wants to know of a person. While one is asked, no call runs out of time. */
export class OpenCalls {
  readonly #parts: OpenCallsParts;
  #running = 0;
  readonly #questions = new Set<AbortController>();

  constructor(parts: OpenCallsParts) {
    this.#parts = parts;
  }

  /** One request with its limits. Never rejects. */
  async request(
    session: Session,
    job: Job,
    signal: AbortSignal,
  ): Promise<Result<unknown, Failure>> {
    const { timeouts, monotonic } = this.#parts;
    const { totalMs, idleMs } = timeouts;
    const stop = new AbortController();
    let stopped: Stopped | undefined;
    const end = (code: Stopped['code'], what: string): void => {
      stopped ??= { kind: 'stopped', code, text: `${what}; the call was cancelled.` };
      stop.abort(what);
    };
    const onAbort = (): void => end('aborted', 'was told to stop');
    signal.addEventListener('abort', onAbort, { once: true });
    const limits = watchCall({
      ...timeouts,
      monotonic,
      isPaused: () => this.#questions.size > 0,
      onExpire: (limit) =>
        limit === 'total'
          ? end('call-timeout', `did not finish within ${totalMs / 1000} s`)
          : end('idle-timeout', `sent nothing for ${idleMs / 1000} s`),
      onStillRunning: (seconds) => job.onProgress?.(`still running, ${seconds} s`),
    });
    this.#running += 1;
    const tell = throttled(job, timeouts.progressGapMs, monotonic);
    try {
      const { method, params, tool } = job;
      const onprogress = (progress: Progress): void => {
        limits.heard();
        tell(progress);
      };
      const isCall = method === 'tools/call';
      const timeout = LONGEST_TIMER_MS;
      const options = { signal: stop.signal, timeout, ...(isCall && { onprogress }) };
      const result = await (tool !== undefined && session.isRemote && session.era === 'modern'
        ? callWithHeaders(session, tool, job, options)
        : session.client.request({ method, params: { ...params } }, AS_IT_IS, options));
      return session.isRemote && !isSafeValue(result) ? err({ kind: 'protocol' }) : ok(result);
    } catch (thrown) {
      return err(stopped ?? session.failure(thrown));
    } finally {
      signal.removeEventListener('abort', onAbort);
      limits.stop();
      this.#running -= 1;
      // What it still asks belongs to a call that nobody waits for.
      if (stopped !== undefined && this.#running === 0) this.withdraw();
    }
  }

  async ask(question: Question, signal: AbortSignal): Promise<ElicitAnswer> {
    // fail-closed: a server that asks without end is not answered.
    if (this.#questions.size >= MAX_OPEN || signal.aborted) return { action: 'decline' };
    const own = new AbortController();
    this.#questions.add(own);
    try {
      const { server, elicit } = this.#parts;
      return await elicit({ ...question, server }, AbortSignal.any([signal, own.signal]));
    } catch {
      // fail-closed: it promises never to reject; whoever breaks that has not agreed to anything.
      return { action: 'cancel' };
    } finally {
      this.#questions.delete(own);
    }
  }

  /** Nobody waits for the answers any more. */
  withdraw(): void {
    for (const question of this.#questions) question.abort();
  }
}

interface Progress {
  readonly progress?: unknown;
  readonly total?: unknown;
  readonly message?: unknown;
}

/** The library puts marked parameters into headers. It gets no output schema, or it would check by it. */
function callWithHeaders(
  { client }: Session,
  { name, inputSchema }: RawTool,
  { params }: Job,
  options: RequestOptions,
): Promise<unknown> {
  const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } };
  return client.callTool({ ...params, name }, { ...options, toolDefinition });
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

interface CallLimits extends Pick<ConnectionTimeouts, 'totalMs' | 'idleMs' | 'stillRunningMs'> {
  readonly monotonic: () => number;
  /** While it is true no time counts: the library's own limits know no such pause. */
  isPaused(): boolean;
  onExpire(limit: 'total' | 'idle'): void;
  /** The server has been silent for a while, once more. */
  onStillRunning(seconds: number): void;
}

/** Counts the time of one call, and the silence of the server in it, in steps of at most a second. */
export function watchCall(limits: CallLimits): { heard(): void; stop(): void } {
  const { totalMs, idleMs, stillRunningMs, monotonic } = limits;
  let lookedAt = monotonic();
  let total = 0;
  let silent = 0;
  let toldAt = 0;
  const look = (): void => {
    const passed = monotonic() - lookedAt;
    lookedAt += passed;
    if (limits.isPaused()) return;
    total += passed;
    silent += passed;
    if (total >= totalMs) limits.onExpire('total');
    else if (silent >= idleMs) limits.onExpire('idle');
    else if (silent - toldAt >= stillRunningMs) {
      toldAt = silent;
      limits.onStillRunning(Math.round(total / 1000));
    }
  };
  const stepMs = Math.min(1_000, totalMs / 10, idleMs / 10, stillRunningMs / 10);
  const timer = setInterval(look, Math.max(1, stepMs));
  return {
    heard() {
      silent = 0;
      toldAt = 0;
    },
    stop: () => clearInterval(timer),
  };
}

const HEADER_MISMATCH = -32020;
/** The server wants a person to visit pages first. */
export const PAGES_REQUIRED = -32042;

/** Why the request may be sent once more; undefined when it may not, or when that would not help. */
export function repeatReason(failure: Failure): 'session' | 'pages' | 'headers' | undefined {
  if (failure.kind === 'not-sent') return 'session';
  // The refusal is of the message itself, before anything in it was looked at.
  if (failure.kind === 'http') return failure.isSessionGone ? 'session' : undefined;
  if (failure.kind !== 'rpc') return undefined;
  if (failure.code === PAGES_REQUIRED) return 'pages';
  return failure.code === HEADER_MISMATCH ? 'headers' : undefined;
}

/** Whether the same question, asked of a server that changes nothing by it, may be answered the next time. */
export function isTransient(failure: Failure): boolean {
  if (failure.kind === 'network')
    return !NEVER_ARRIVED.has(failure.network) || failure.network === 'refused';
  if (failure.kind === 'http') return failure.status >= 500 || failure.isSessionGone;
  return ['closed', 'ended', 'not-sent', 'timeout'].includes(failure.kind);
}

/** The pages that a call wants visited before it runs; empty when it names none that can be. */
export function requiredPages(failure: Failure): readonly (Question & { readonly url: string })[] {
  const data = failure.kind === 'rpc' && failure.code === PAGES_REQUIRED ? failure.data : undefined;
  const listed = isRecord(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
  const pages = listed.slice(0, MAX_URLS).flatMap((item) => {
    if (!isRecord(item) || typeof item.url !== 'string' || !isWebAddress(item.url)) return [];
    const { url, message = '', elicitationId } = item;
    const id = typeof elicitationId === 'string' ? elicitationId : undefined;
    return [{ mode: 'url' as const, url, message: String(message), elicitationId: id }];
  });
  // fail-closed: with one of them left out, the call could not go on anyway.
  return pages.length === listed.length ? pages : [];
}

function isWebAddress(url: string): boolean {
  return /^https?:$/.test(parseUrl(url)?.protocol ?? '');
}
