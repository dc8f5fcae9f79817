import { orAbort } from '../../lib/abort.js';
import { err, ok, type Result } from '../../lib/result.js';
import { abortableDelay } from '../../platform/turns.js';
import type {
  ConnectionState,
  ElicitAnswer,
  ElicitRequest,
  ListKind,
  McpEntry,
  SafeError,
  ServerDeclaration,
} from '../server.js';
import { StderrLog } from '../transport/stderr-log.js';
import { classify, type Failure } from './classify.js';
import type { ConnectionDeps } from './deps.js';
import { loadLibrary } from './library.js';
import { Backoff } from './restart-policy.js';
import { crashed, errorOf, isSessionError, type SafeWords, safeError } from './safe-error.js';
import { type Era, openSession, type Session } from './session.js';
import { type ConnectionTimeouts, timeoutsFor } from './timeouts.js';

export interface LinkParts {
  readonly deps: ConnectionDeps;
  readonly words: SafeWords;
  elicit(request: Omit<ElicitRequest, 'server'>, signal: AbortSignal): Promise<ElicitAnswer>;
  onChange(change: ListKind | 'state'): void;
}

type Refusal = Extract<Failure, { kind: 'auth' }>;

/** Attempts per connect and per automatic reconnect. */
const FIRST_ATTEMPTS = 3;
const REOPEN_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 250;
const TOO_LATE = ['connect-timeout', 'did not answer in time.'] as const;

const NO_ENTRY: McpEntry = { type: 'sdk' };

/**
 * The connection to one server with restarts and back-off; the auth provider remembers a missing sign-in. The
 * library has no reconnect policy and keeps a session that the server has lost (typescript-sdk#1708).
 */
export class Link {
  readonly timeouts: ConnectionTimeouts;
  state: ConnectionState = 'pending';
  error: SafeError | undefined;
  readonly #declaration: ServerDeclaration;
  readonly #parts: LinkParts;
  readonly #backoff: Backoff;
  readonly #log: StderrLog | undefined;
  readonly #ending = new AbortController();
  #session: { readonly open: Session; readonly since: number } | undefined;
  #attempt: Promise<Result<Session, SafeError>> | undefined;
  #clearing: Promise<void> = Promise.resolve();
  #knownEra: Era | undefined;
  #lastStderr = '';
  #reopening: NodeJS.Timeout | undefined;
  /** Why a flooding server was disconnected; set until a person reconnects it. */
  #cut: SafeError | undefined;

  constructor(declaration: ServerDeclaration, parts: LinkParts) {
    const { deps } = parts;
    this.#declaration = declaration;
    this.#parts = parts;
    this.timeouts = timeoutsFor(declaration.entry ?? NO_ENTRY, deps.env, deps.timeouts);
    this.#backoff = new Backoff({ ...this.timeouts, monotonic: () => deps.clock.monotonic() });
    this.#log = deps.log === undefined ? undefined : new StderrLog(deps.log);
  }

  get session(): Session | undefined {
    return this.#session?.open;
  }

  /** Aborts when the link closes for good. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  stderr(): string {
    return this.#session?.open.stderr() ?? this.#lastStderr;
  }

  /** Connects if necessary and shares a running attempt; `late` is the error when the signal aborts first. */
  async connect(
    signal?: AbortSignal,
    late: readonly [SafeError['code'], string] = TOO_LATE,
  ): Promise<Result<Session, SafeError>> {
    const { standing } = this.#declaration;
    const { words } = this.#parts;
    if (standing.kind !== 'ready') {
      // fail-closed: an unapproved server is never started.
      return err(safeError(words, 'refused', `may not be used: ${standing.reason}`));
    }
    if (signal?.aborted) return err(safeError(words, ...late));
    if (this.#session !== undefined) return ok(this.#session.open);
    const held = this.#attempt === undefined ? this.#heldBack() : undefined;
    if (held !== undefined) return err(held);
    this.#attempt ??= this.#connect().finally(() => {
      this.#attempt = undefined;
    });
    if (signal === undefined) return await this.#attempt;
    return await orAbort(this.#attempt, signal).catch(() => err(safeError(words, ...late)));
  }

  /** Drops the connection and clears failures and back-off. */
  async forget(): Promise<void> {
    this.#backoff.reset();
    this.#cut = undefined;
    clearTimeout(this.#reopening);
    await this.#attempt;
    this.#drop();
    await this.#clearing;
    // A failed refresh is ignored: the following attempt reports what is missing.
    if (this.state === 'needs-auth') await this.#parts.deps.refreshAuth?.().catch(() => {});
  }

  async close(): Promise<void> {
    clearTimeout(this.#reopening);
    this.#ending.abort();
    await this.#attempt;
    this.#drop();
    await this.#clearing;
    this.#log?.close();
    this.#set('disabled', undefined);
  }

  /** Decides after a failed request whether the session is still usable. */
  failed(session: Session, failure: Failure): void {
    if (this.#session?.open !== session) return;
    if (failure.kind === 'auth') {
      this.#drop();
      this.#missesAuth(failure);
    } else if (failure.kind === 'network' ? failure.network !== 'aborted' : OVER.has(failure.kind))
      this.#lost(session);
    // A JSON-RPC session error may follow partial work, so the session is dropped and the call is not
    // repeated.
    else if ((failure.kind === 'http' && failure.isSessionGone) || isSessionError(failure))
      this.#drop();
  }

  #heldBack(): SafeError | undefined {
    const { words } = this.#parts;
    if (this.#ending.signal.aborted) return safeError(words, 'closed', 'has been closed.');
    // fail-closed: a reconnected server would flood again.
    if (this.#cut !== undefined) return this.#cut;
    const waitMs = this.#backoff.waitMs();
    if (waitMs === 0) return undefined;
    const seconds = Math.ceil(waitMs / 1000);
    const code = this.error?.code === 'connect-failed' ? 'connect-failed' : 'crashed';
    return safeError(
      words,
      code,
      `keeps ending and is started again in ${seconds} s at the earliest.`,
    );
  }

  async #connect(): Promise<Result<Session, SafeError>> {
    const { clock } = this.#parts.deps;
    const { connectMs, stableMs } = this.timeouts;
    this.#set('pending', this.error);
    await this.#clearing;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), connectMs);
    const startedAt = clock.monotonic();
    const result = await this.#attempts(deadline.signal).finally(() => clearTimeout(timer));
    if (!result.ok && this.#declaration.entry?.type === 'stdio')
      this.#backoff.ended(Math.min(clock.monotonic() - startedAt, stableMs / 2));
    return result;
  }

  async #attempts(deadline: AbortSignal): Promise<Result<Session, SafeError>> {
    const { words } = this.#parts;
    const signal = AbortSignal.any([deadline, this.ending]);
    for (let attempt = 1; ; attempt++) {
      try {
        return ok(this.#up(await this.#open(signal)));
      } catch (thrown) {
        if (this.ending.aborted)
          return this.#gaveUp(safeError(words, 'closed', 'has been closed.'));
        const failure: Failure = deadline.aborted
          ? { kind: 'timeout' }
          : classify(await loadLibrary(), thrown);
        if (failure.kind === 'flooded') return this.#gaveUp(this.#cutFor(failure.message));
        if (failure.kind === 'auth') return err(this.#missesAuth(failure));
        const error = errorOf(words, failure, 'connect');
        if (!this.#isRemote() || attempt >= FIRST_ATTEMPTS || !isPassing(failure))
          return this.#gaveUp(error);
        await abortableDelay(FIRST_PAUSE_MS * 4 ** (attempt - 1), signal).catch(() => {});
        if (signal.aborted) return this.#gaveUp(error);
      }
    }
  }

  async #open(signal: AbortSignal): Promise<Session> {
    const { deps, elicit, onChange } = this.#parts;
    const { name, entry } = this.#declaration;
    if (entry === undefined) throw new Error('it has no entry');
    let opened: Session | undefined;
    opened = await openSession(
      {
        name,
        entry,
        deps,
        timeouts: this.timeouts,
        log: this.#log,
        knownEra: this.#knownEra,
        elicit,
        changed: onChange,
        closed: () => {
          if (opened !== undefined) this.#lost(opened);
        },
      },
      signal,
    );
    return opened;
  }

  #up(session: Session): Session {
    this.#session = { open: session, since: this.#parts.deps.clock.monotonic() };
    this.#knownEra = session.era;
    this.#set('connected', undefined);
    return session;
  }

  #gaveUp(error: SafeError): Result<Session, SafeError> {
    this.#set('failed', error);
    return err(error);
  }

  /** Records the disconnect, so that later connects fail with its reason. */
  #cutFor(why: string): SafeError {
    const { words } = this.#parts;
    const remedy = `Look at what is wrong with it; /mcp reconnect ${words.server} connects it anew.`;
    this.#cut = safeError(words, 'protocol', `was disconnected: ${why}. ${remedy}`);
    return this.#cut;
  }

  #missesAuth(refusal: Refusal): SafeError {
    const error = errorOf(this.#parts.words, refusal, 'connect');
    // fail-closed: refused configured credentials are a failure, not a reason to try others.
    this.#set(refusal.isOwn ? 'failed' : 'needs-auth', error);
    return error;
  }

  /** Handles a connection that ended unexpectedly. */
  #lost(session: Session): void {
    const current = this.#session;
    if (current?.open !== session) return;
    const livedMs = this.#parts.deps.clock.monotonic() - current.since;
    this.#drop();
    if (this.#ending.signal.aborted) return;
    const cutFor = session.cutFor();
    if (cutFor !== undefined) {
      const error = this.#cutFor(cutFor);
      this.#set('failed', error);
      this.#parts.deps.onNote?.(error.message);
      return;
    }
    this.#set('failed', crashed(this.#parts.words, false));
    if (this.#declaration.entry?.type === 'stdio') this.#backoff.ended(livedMs);
    else if (this.#isRemote()) this.#reopen(1);
  }

  /** Reconnects remote servers automatically, because they may have notifications. */
  #reopen(attempt: number): void {
    const { backoffMs, maxBackoffMs } = this.timeouts;
    const waitMs = Math.min(backoffMs * 2 ** (attempt - 1), maxBackoffMs);
    this.#set('pending', this.error);
    clearTimeout(this.#reopening);
    this.#reopening = setTimeout(async () => {
      const result = await this.connect();
      const isOver = result.ok || this.state === 'needs-auth' || this.#ending.signal.aborted;
      if (!isOver && attempt < REOPEN_ATTEMPTS) this.#reopen(attempt + 1);
    }, waitMs);
    // The timer does not keep the process alive.
    this.#reopening.unref();
  }

  /** Drops the session and closes it in the background. */
  #drop(): void {
    const session = this.#session?.open;
    if (session === undefined) return;
    this.#session = undefined;
    this.#lastStderr = session.stderr();
    const before = this.#clearing;
    this.#clearing = Promise.all([before, session.close()]).then(() => {});
  }

  #isRemote(): boolean {
    const type = this.#declaration.entry?.type;
    return type !== undefined && type !== 'stdio' && type !== 'sdk';
  }

  #set(state: ConnectionState, error: SafeError | undefined): void {
    const isNew = this.state !== state;
    this.state = state;
    this.error = error;
    if (isNew) this.#parts.onChange('state');
  }
}

/** Failures that make the connection unusable. */
const OVER: ReadonlySet<Failure['kind']> = new Set([
  ...(['closed', 'ended', 'not-sent', 'flooded', 'too-long'] as const),
]);

/** Failures worth a retry, because the server may be starting or busy. */
function isPassing(thrown: Failure): boolean {
  if (thrown.kind === 'network') {
    return ['refused', 'reset', 'timeout', 'unreachable', 'other'].includes(thrown.network);
  }
  return thrown.kind === 'closed' || (thrown.kind === 'http' && thrown.status >= 500);
}
