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
  /** The tool as last listed, because some parameters may have to go into headers. */
  readonly tool?: RawTool | undefined;
  onProgress?(text: string): void;
}

/** Questions of one server that may be open at once, and pages that one refused call may name. */
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

/** Runs requests to one server and the questions it asks people; call timeouts pause while a question is open. */
export class OpenCalls {
  readonly #parts: OpenCallsParts;
  #running = 0;
  readonly #questions = new Set<AbortController>();

  constructor(parts: OpenCallsParts) {
    this.#parts = parts;
  }

  /** Sends one request with its time limits. Never rejects. */
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
      // Open questions belong to a cancelled call.
      if (stopped !== undefined && this.#running === 0) this.withdraw();
    }
  }

  async ask(question: Question, signal: AbortSignal): Promise<ElicitAnswer> {
    // fail-closed: questions over the limit are declined.
    if (this.#questions.size >= MAX_OPEN || signal.aborted) return { action: 'decline' };
    const own = new AbortController();
    this.#questions.add(own);
    try {
      const { server, elicit } = this.#parts;
      return await elicit({ ...question, server }, AbortSignal.any([signal, own.signal]));
    } catch {
      // fail-closed: `elicit` must not reject; if it does, the person has not agreed.
      return { action: 'cancel' };
    } finally {
      this.#questions.delete(own);
    }
  }

  /** Aborts the open questions. */
  withdraw(): void {
    for (const question of this.#questions) question.abort();
  }
}

interface Progress {
  readonly progress?: unknown;
  readonly total?: unknown;
  readonly message?: unknown;
}

/** Lets the library copy marked parameters into headers; without the output schema it does not validate the result. */
function callWithHeaders(
  { client }: Session,
  { name, inputSchema }: RawTool,
  { params }: Job,
  options: RequestOptions,
): Promise<unknown> {
  const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } };
  return client.callTool({ ...params, name }, { ...options, toolDefinition });
}

/** Characters of a progress message shown to people. */
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
  /** Pauses the limits; the library's own timeouts cannot pause. */
  isPaused(): boolean;
  onExpire(limit: 'total' | 'idle'): void;
  /** Called repeatedly while the server stays silent. */
  onStillRunning(seconds: number): void;
}

/** Measures the call's duration and the server's silence in steps of at most a second. */
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
/** The server requires a person to visit pages first. */
export const PAGES_REQUIRED = -32042;

/** Why the request may be repeated; undefined when it may not or that would not help. */
export function repeatReason(failure: Failure): 'session' | 'pages' | 'headers' | undefined {
  if (failure.kind === 'not-sent') return 'session';
  // An HTTP refusal precedes any processing of the message.
  if (failure.kind === 'http') return failure.isSessionGone ? 'session' : undefined;
  if (failure.kind !== 'rpc') return undefined;
  if (failure.code === PAGES_REQUIRED) return 'pages';
  return failure.code === HEADER_MISMATCH ? 'headers' : undefined;
}

/** Whether a retry of a read-only request may succeed. */
export function isTransient(failure: Failure): boolean {
  if (failure.kind === 'network')
    return !NEVER_ARRIVED.has(failure.network) || failure.network === 'refused';
  if (failure.kind === 'http') return failure.status >= 500 || failure.isSessionGone;
  return ['closed', 'ended', 'not-sent', 'timeout'].includes(failure.kind);
}

/** The pages to visit before the call; empty when the server names none or an unusable one. */
export function requiredPages(failure: Failure): readonly (Question & { readonly url: string })[] {
  const data = failure.kind === 'rpc' && failure.code === PAGES_REQUIRED ? failure.data : undefined;
  const listed = isRecord(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
  const pages = listed.slice(0, MAX_URLS).flatMap((item) => {
    if (!isRecord(item) || typeof item.url !== 'string' || !isWebAddress(item.url)) return [];
    const { url, message = '', elicitationId } = item;
    const id = typeof elicitationId === 'string' ? elicitationId : undefined;
    return [{ mode: 'url' as const, url, message: String(message), elicitationId: id }];
  });
  // fail-closed: skipping one required page would not let the call run.
  return pages.length === listed.length ? pages : [];
}

function isWebAddress(url: string): boolean {
  return /^https?:$/.test(parseUrl(url)?.protocol ?? '');
}
