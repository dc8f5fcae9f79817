import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type {
  CallRequest,
  ConnectionState,
  ListKind,
  RawCallResult,
  RawPrompt,
  RawPromptMessage,
  RawResource,
  RawResourceContent,
  RawTool,
  SafeError,
  ServerDeclaration,
  ServerStatus,
} from '../server.js';
import type { Failure } from './classify.js';
import type { ClientConnection, ConnectionDeps } from './deps.js';
import { Link } from './link.js';
import { fetchList, type ListItems, unusableText } from './lists.js';
import {
  isTransient,
  type Job,
  OpenCalls,
  PAGES_REQUIRED,
  repeatReason,
  requiredPages,
} from './request.js';
import { readCallResult, readContents, readMessages } from './results.js';
import { errorOf, type SafeWords, safeError, safeWords, scopeError } from './safe-error.js';

export type {
  ClientConnection,
  ConnectionDeps,
  SdkBridge,
  StepUpChallenge,
} from './deps.js';
export type { ConnectionTimeouts } from './timeouts.js';

/** Starts or contacts the server at its first use. */
export function createConnection(
  declaration: ServerDeclaration,
  deps: ConnectionDeps,
): ClientConnection {
  return new Connection(declaration, deps);
}

const LIST_ATTEMPTS = 3;
const UNKNOWN_METHOD = -32601;
const INSTRUCTIONS = 16_384;
const NOT_ASKED = ['aborted', 'was not asked: the call was cancelled.'] as const;

class Connection implements ClientConnection {
  readonly declaration: ServerDeclaration;
  readonly #deps: ConnectionDeps;
  readonly #words: SafeWords;
  readonly #calls: OpenCalls;
  readonly #link: Link;
  /** Unusable resources and prompts, for the server's status. */
  readonly #leftOut = new Map<ListKind, string>();
  readonly #told = new Set<string>();
  readonly #listeners: ((change: ListKind | 'state') => void)[] = [];
  readonly #lists: { -readonly [K in ListKind]?: readonly ListItems[K][] } = {};

  constructor(declaration: ServerDeclaration, deps: ConnectionDeps) {
    this.declaration = declaration;
    this.#deps = deps;
    this.#words = safeWords(declaration.name, deps.env.HOME ?? deps.env.USERPROFILE);
    this.#link = new Link(declaration, {
      deps,
      words: this.#words,
      elicit: (question, signal) => this.#calls.ask(question, signal),
      onChange: (change) => {
        for (const listener of this.#listeners) quietly(() => listener(change));
      },
    });
    this.#calls = new OpenCalls({
      server: declaration.name,
      elicit: deps.elicit,
      timeouts: this.#link.timeouts,
      monotonic: () => deps.clock.monotonic(),
    });
  }

  status(): ServerStatus {
    const { name, scope, entry } = this.declaration;
    const client = this.#link.session?.client;
    const info = client?.getServerVersion();
    const instructions = client?.getInstructions();
    const protocolVersion = client?.getNegotiatedProtocolVersion();
    const error = this.#link.error?.message;
    const leftOut = [...this.#leftOut.values()];
    return {
      name,
      scope,
      transport: entry?.type ?? 'unknown',
      state: this.#state(),
      error,
      leftOut: leftOut.length === 0 ? undefined : leftOut,
      serverInfo: info && { name: short(info.name), version: short(info.version) },
      protocolVersion,
      instructions: instructions === undefined ? undefined : visibleLines(instructions),
    };
  }

  #state(): ConnectionState {
    const { standing } = this.declaration;
    if (standing.kind === 'ready') return this.#link.state;
    if (standing.kind === 'pending-approval') return 'pending';
    return standing.kind === 'invalid' ? 'failed' : 'disabled';
  }

  async connect(): Promise<Result<ServerStatus, SafeError>> {
    const session = await this.#link.connect();
    return session.ok ? ok(this.status()) : session;
  }

  async reconnect(): Promise<Result<ServerStatus, SafeError>> {
    await this.#link.forget();
    return this.connect();
  }

  listTools(): Promise<Result<readonly RawTool[], SafeError>> {
    return this.#list('tools');
  }

  listResources(): Promise<Result<readonly RawResource[], SafeError>> {
    return this.#list('resources');
  }

  listPrompts(): Promise<Result<readonly RawPrompt[], SafeError>> {
    return this.#list('prompts');
  }

  async call(request: CallRequest, signal: AbortSignal): Promise<Result<RawCallResult, SafeError>> {
    const { tool, toolUseId, idempotencyKey } = request;
    // The key is omitted instead of undefined, because in-process servers receive this object itself.
    const key = idempotencyKey !== undefined && { idempotencyKey };
    const meta = toolUseId !== undefined && {
      _meta: { 'claudecode/toolUseId': toolUseId, ...key },
    };
    const job: Job = {
      method: 'tools/call',
      params: { name: tool, arguments: request.arguments, ...meta },
      onProgress:
        request.onProgress === undefined
          ? undefined
          : (text: string) => quietly(() => request.onProgress?.(text)),
    };
    return this.#request(job, readCallResult, signal);
  }

  readResource(
    uri: string,
    signal: AbortSignal,
  ): Promise<Result<readonly RawResourceContent[], SafeError>> {
    return this.#request({ method: 'resources/read', params: { uri } }, readContents, signal);
  }

  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Result<readonly RawPromptMessage[], SafeError>> {
    const job: Job = { method: 'prompts/get', params: { name, arguments: args } };
    return this.#request(job, readMessages, signal);
  }

  onChange(listener: (change: ListKind | 'state') => void): void {
    this.#listeners.push(listener);
  }

  async rootsChanged(): Promise<void> {
    const session = this.#link.session;
    if (session?.era !== 'legacy' || this.declaration.entry?.type === 'sdk') return;
    // A disconnected server asks for the roots when it reconnects.
    await session.client.sendRootsListChanged().catch(() => {});
  }

  stderr(): string {
    return this.#link.stderr();
  }

  async close(): Promise<void> {
    this.#calls.withdraw();
    await this.#link.close();
  }

  /** Retries only when the server cannot have done anything, and once per reason. */
  async #request<T>(
    job: Job,
    read: (result: unknown) => T | undefined,
    signal: AbortSignal,
  ): Promise<Result<T, SafeError>> {
    const repeated = new Set<'session' | 'pages' | 'headers'>();
    for (;;) {
      const open = signal.aborted ? undefined : this.#link.session;
      const session = open ? ok(open) : await this.#link.connect(signal, NOT_ASKED);
      if (!session.ok) return session;
      const outcome = await this.#calls.request(session.value, this.#withTool(job), signal);
      if (outcome.ok) {
        const value = read(outcome.value);
        return value === undefined ? err(this.#errorOf({ kind: 'protocol' }, job)) : ok(value);
      }
      const failure = outcome.error;
      // Without a `stepUp` handler or with configured credentials the missing scope is an ordinary refusal.
      if (failure.kind === 'auth' && !failure.isOwn && failure.lacks && this.#deps.stepUp)
        return err(scopeError(this.#words, failure.lacks.scope));
      this.#link.failed(session.value, failure);
      const reason = repeatReason(failure);
      const isLast = reason === undefined || repeated.has(reason);
      if (isLast || (reason === 'pages' && !(await this.#visitPages(failure, signal))))
        return err(this.#errorOf(failure, job));
      repeated.add(reason);
      // The server expects other headers than its last tool list declared.
      if (reason === 'headers') await this.#list('tools');
    }
  }

  #withTool(job: Job): Job {
    const { name } = job.params;
    if (job.method !== 'tools/call') return job;
    const known = this.#lists.tools?.filter((tool) => tool.name === name);
    // An unreadable tool in the list may have the same name.
    return { ...job, tool: known?.find(({ inputSchema }) => inputSchema !== undefined) };
  }

  async #visitPages(failure: Failure, signal: AbortSignal): Promise<boolean> {
    const pages = requiredPages(failure);
    for (const page of pages) {
      const answer = await this.#calls.ask(page, signal);
      if (answer.action !== 'accept') return false;
    }
    return pages.length > 0;
  }

  #errorOf(failure: Failure, job?: Job): SafeError {
    const isCall = job?.method === 'tools/call';
    if (this.#link.ending.aborted && failure.kind !== 'stopped') {
      const text = 'was closed while it was being asked.';
      return safeError(this.#words, 'closed', text, { mayHaveRun: isCall });
    }
    if (failure.kind !== 'rpc' || failure.code !== PAGES_REQUIRED)
      return errorOf(this.#words, failure, isCall ? 'call' : 'request');
    const [page] = requiredPages(failure);
    const text =
      'wants a person to visit a page first, and no person did. The call was not carried out.';
    return safeError(this.#words, 'refused', text, { url: page?.url });
  }

  async #list<K extends ListKind>(kind: K): Promise<Result<readonly ListItems[K][], SafeError>> {
    let last: SafeError | undefined;
    let isOfList = false;
    let until = Number.POSITIVE_INFINITY;
    const left = (): number => until - this.#deps.clock.monotonic();
    for (let attempt = 0; attempt < LIST_ATTEMPTS && left() > 0; attempt++) {
      const limit = attempt === 0 ? undefined : AbortSignal.timeout(Math.ceil(left()));
      const session = await this.#link.connect(limit);
      if (!session.ok) {
        last ??= session.error;
        break;
      }
      // One time limit covers all pages and attempts; the first connect has its own.
      if (attempt === 0) until = this.#deps.clock.monotonic() + this.#link.timeouts.listMs;
      try {
        const options = { left, signal: this.#link.ending };
        const { items, unusable } = await fetchList(session.value, kind, options);
        this.#noteLeftOut(kind, unusableText(kind, this.#words.server, unusable));
        Object.assign(this.#lists, { [kind]: items });
        return ok(items);
      } catch (thrown) {
        const failure = session.value.failure(thrown);
        this.#link.failed(session.value, failure);
        last = this.#errorOf(failure);
        // An unknown method means an empty list, and a disconnect is reported as such.
        const isUnknown = failure.kind === 'rpc' && failure.code === UNKNOWN_METHOD;
        isOfList = !isUnknown && failure.kind !== 'flooded';
        if (!isTransient(failure)) break;
      }
    }
    const old: readonly ListItems[K][] | undefined = this.#lists[kind];
    if (old !== undefined) return ok(old);
    const error = last ?? safeError(this.#words, 'protocol', 'gave no list.');
    if (isOfList && OF_THE_LIST.has(error.code))
      this.#noteLeftOut(kind, `no ${kind} are offered: ${error.message}`);
    return err(error);
  }

  /** Unusable tools are reported by the check of definitions instead. */
  #noteLeftOut(kind: ListKind, text: string | undefined): void {
    if (kind === 'tools') return;
    if (text === undefined) {
      this.#leftOut.delete(kind);
      return;
    }
    this.#leftOut.set(kind, text);
    if (this.#told.has(text) || this.#told.size >= MOST_TOLD) return;
    this.#told.add(text);
    quietly(() => this.#deps.onNote?.(text));
  }
}

/** Limits the notes about a server whose lists fail differently each time. */
const MOST_TOLD = 10;

/** Only these failures concern the list; connection failures are reported separately. */
const OF_THE_LIST: ReadonlySet<SafeError['code']> = new Set([
  'protocol',
  'server-error',
  'call-timeout',
]);

function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // An error in a listener must not disturb the connection.
  }
}

function short(text: string): string {
  return visible(sliceWhole(text, 0, 200));
}

function visibleLines(text: string): string {
  return sliceWhole(text, 0, INSTRUCTIONS).split('\n').map(visible).join('\n');
}
