import {
  type AgentSession,
  type LoopEvent,
  projectKeyOf,
  type SessionNews,
  systemClock,
} from '../app.js';
import { messageOf, PortcullisError } from '../errors.js';
import { handleRequest } from '../server/control.js';
import { ControlError, StartFailed } from '../server/control-request.js';
import {
  createHostSession,
  endedWell,
  type HostSession,
  refusedStart,
  type ServeResult,
} from '../server/serve-host.js';
import { readUserMessage } from '../server/user-message.js';
import type { Frame } from '../server/wire.js';
import { createAgentRegister } from './agent-register.js';
import { type CallbackChannel, createCallbackChannel } from './callback-channel.js';
import { readOptions } from './config.js';
import { plainCopy } from './copy.js';
import { AbortError, ResultError } from './errors.js';
import { initializeRequest, registerHooks } from './initialize.js';
import { HostServers } from './mcp-host.js';
import { MessageQueue } from './message-queue.js';
import { policyReport } from './policy.js';
import { createStoreWriter, type StoreWriter, withStore } from './store-session.js';
import type { Options, PolicyReport, SDKMessage, SDKResultMessage } from './types/index.js';

type Message = Readonly<Record<string, unknown>>;

/** More unread messages than this, and the model is read no faster than they are. */
const MANY_UNREAD = 1_000;

/** One session in this process, as the program that opened it sees it. */
export class InProcessSession {
  /** Resolves when all is over; never rejects. */
  readonly done: Promise<void>;
  /** Called with every message that the program reads, just before it gets it. */
  onRead: ((message: SDKMessage) => void) | undefined;
  readonly servers = new HostServers((server, message) =>
    this.#withHost(({ handling }) => handling.sdkServers.receive(server, plainCopy(message))),
  );
  readonly #options: Options;
  readonly #hooks;
  readonly #agents = createAgentRegister();
  readonly #messages = new MessageQueue<SDKMessage>();
  readonly #open = deferred<AgentSession>();
  /** Rejects with the reason for the end. */
  readonly #ended = deferred<never>();
  /** Requests that have no answer yet. */
  readonly #waiting = new Set<(reason: unknown) => void>();
  readonly #host: Promise<HostSession<CallbackChannel>>;
  #initialized: Promise<Message> | undefined;
  /** Another one than was opened first, once the conversation has been cleared. */
  #current: AgentSession | undefined;
  #channel: CallbackChannel | undefined;
  #writer: StoreWriter | undefined;
  #lastResult: SDKResultMessage | undefined;
  /** A prompt that could not be read. */
  #inputError: PortcullisError | undefined;
  #stopped = false;
  #behind: Deferred<void> | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#hooks = registerHooks(options.hooks);
    this.#messages.onTaken = (message) => {
      this.onRead?.(message);
      if (this.#messages.size < MANY_UNREAD / 2) this.#caughtUp();
    };
    this.#ended.promise.catch((reason: unknown) => {
      for (const reject of this.#waiting) reject(reason);
    });
    this.#host = this.#prepare();
    this.done = this.#serve();
    this.#watchAbort();
  }

  /** Messages for the program; ends or fails with the session. */
  next(): Promise<IteratorResult<SDKMessage, undefined>> {
    return this.#messages.next();
  }

  /** Puts a prompt into the session. */
  prompt(message: object): void {
    const copy = plainCopy(message) as Message;
    this.#withHost(({ runner }) => {
      if (this.#inputError !== undefined) return;
      try {
        runner.push(readUserMessage(copy, systemClock.uuid));
      } catch (thrown) {
        this.#inputError = asError(thrown);
        // What came before it is still done.
        runner.endInput('now');
      }
    });
  }

  /** No more prompts: the session ends when it has nothing left to do. */
  endInput(): void {
    this.#withHost(({ runner }) => runner.endInput());
  }

  /** Ends it, whatever it does. Resolves when everything is closed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#caughtUp();
    this.#withHost(({ channel, runner }) => {
      channel.close();
      runner.stop();
    });
    await this.done;
  }

  /** The same, and the program gets this error. */
  async fail(error: Error): Promise<void> {
    this.#messages.end(error);
    await this.stop();
  }

  /** Resolves when the session is open; rejects when it cannot be. */
  opened(): Promise<AgentSession> {
    return this.#current === undefined ? this.#open.promise : Promise.resolve(this.#current);
  }

  async initialized(): Promise<Message> {
    await this.#host;
    return await (this.#initialized ?? this.#ended.promise);
  }

  async policy(): Promise<PolicyReport> {
    return policyReport(await this.opened(), this.#options);
  }

  reinitialize(): Promise<Message> {
    return this.request(this.#initializeRequest());
  }

  /** Asks something of the session. Rejects with its error. */
  async request(request: Message): Promise<Message> {
    const copy = plainCopy(request) as Message;
    if (this.#stopped) return await this.#ended.promise;
    return await this.#handle(await this.#untilEnd(this.#host), copy);
  }

  /** Where the session could not be prepared, its end says so. */
  #withHost(act: (host: HostSession<CallbackChannel>) => void): void {
    this.#host.then(act, () => undefined);
  }

  /** Resolves to the work; rejects with the end of the session where that comes first. */
  #untilEnd<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      const done = (): boolean => this.#waiting.delete(reject);
      work.then(resolve, reject).finally(done);
    });
  }

  async #handle({ handling }: HostSession<CallbackChannel>, request: Message): Promise<Message> {
    try {
      const { response, then = [] } = await this.#untilEnd(handleRequest(handling, request));
      for (const frame of then) handling.outlet.write(frame);
      return plainCopy(response) as Message;
    } catch (thrown) {
      // The start has failed: the end of the session says why.
      if (thrown instanceof StartFailed) return await this.#ended.promise;
      if (thrown instanceof PortcullisError) throw thrown;
      const { code } = thrown instanceof ControlError ? thrown : { code: '' };
      throw new PortcullisError(MISUSED.includes(code) ? 'usage' : 'session', messageOf(thrown));
    }
  }

  #initializeRequest(): Message {
    const servers = this.servers.partitionServers(this.#options.mcpServers ?? {});
    const request = initializeRequest(this.#options, { hooks: this.#hooks.hooks, servers });
    try {
      return plainCopy(request) as Message;
    } catch (thrown) {
      // fail-closed: what is lost on the way may have been a limit.
      throw new PortcullisError('usage', `an option cannot be used: ${messageOf(thrown)}`);
    }
  }

  async #prepare(): Promise<HostSession<CallbackChannel>> {
    const options = this.#options;
    const { canUseTool, onElicitation, sessionStore } = options;
    const servers = this.servers.partitionServers(options.mcpServers ?? {});
    const initialize = this.#initializeRequest();
    const { warnings, ...reading } = await readOptions(options, servers);
    for (const text of warnings) this.#warn(text);
    const { uuid, now } = systemClock;
    const write = (frame: Frame): void | Promise<void> => this.#deliver(frame);
    let { config } = reading;
    if (sessionStore !== undefined) {
      try {
        config = await withStore(config, sessionStore);
      } catch (thrown) {
        await refusedStart({ config, write, uuid }, thrown);
        throw thrown;
      }
      this.#writer = createStoreWriter(sessionStore, projectKeyOf(config.cwd), (error, key) =>
        this.#tell('mirror_error', { error, key }),
      );
    }
    const channel = createCallbackChannel({
      callbacks: { hooks: this.#hooks.callbacks, canUseTool, onElicitation },
      servers: this.servers,
      agents: this.#agents,
      sessionId: () => this.#current?.id ?? '',
      now,
    });
    this.#channel = channel;
    const host = createHostSession(
      {
        ...reading,
        name: 'sdk',
        config,
        write,
        uuid,
        onOpen: (session) => this.#opened(session),
        tap: (event) => this.#hear(event),
      },
      () => channel,
    );
    // Before any prompt can open the session without it.
    if (!this.#stopped) this.#initialized = this.#handle(host, initialize);
    this.#initialized?.catch(() => undefined);
    return host;
  }

  async #serve(): Promise<void> {
    try {
      const host = await this.#host;
      if (this.#stopped) host.runner.stop();
      const served = await host.run();
      await this.#writer?.flush();
      this.#finish(served);
    } catch (thrown) {
      this.#end(asError(thrown));
    } finally {
      this.servers.close();
    }
  }

  #finish(served: ServeResult): void {
    const closed = new PortcullisError('session', 'the session has ended');
    const failure = served.startError ?? this.#inputError;
    if (failure !== undefined) this.#end(failure);
    else if (!this.#stopped && !endedWell(served) && this.#lastResult) {
      this.#messages.end(new ResultError(this.#lastResult));
    } else this.#messages.end();
    this.#open.reject(closed);
    this.#ended.reject(closed);
  }

  #end(error: PortcullisError): void {
    if (error.code !== 'aborted') this.#warn(error.message);
    this.#open.reject(error);
    this.#ended.reject(error);
    this.#messages.end(error);
  }

  #opened(session: AgentSession): void {
    this.#current = session;
    this.#open.resolve(session);
    if (this.#options.policyReport === true) {
      this.#tell('policy', { policy: policyReport(session, this.#options) });
    }
  }

  #hear(event: LoopEvent | SessionNews): void {
    this.#agents.hear(event);
    if (this.#options.debug === true) this.#options.stderr?.(`${JSON.stringify(event)}\n`);
    if (event.type === 'notice' && event.level === 'warning') this.#warn(event.text);
  }

  #warn(text: string): void {
    this.#options.stderr?.(`${text}\n`);
  }

  #tell(subtype: string, fields: Message): void {
    const ids = { uuid: systemClock.uuid(), session_id: this.#current?.id ?? '' };
    this.#deliver({ type: 'system', subtype, ...fields, ...ids });
  }

  /** Takes one frame; a promise when the program is behind with reading. */
  #deliver(frame: Frame): void | Promise<void> {
    if (frame.type === 'transcript_mirror') {
      this.#writer?.write(frame.filePath, frame.entries);
      return undefined;
    }
    if (frame.type === 'system' && frame.subtype === 'init') this.#channel?.beginTurn();
    const message = this.#withAgent(frame);
    if (message.type === 'result') this.#lastResult = message;
    this.#messages.push(message);
    if (this.#messages.size < MANY_UNREAD || this.#stopped) return undefined;
    this.#behind ??= deferred<void>();
    return this.#behind.promise;
  }

  #caughtUp(): void {
    this.#behind?.resolve();
    this.#behind = undefined;
  }

  #withAgent(frame: Frame): SDKMessage {
    const { agent_id: id, task_id: task } = frame;
    // The tasks that are agents go by the ids of these.
    const of = typeof task === 'string' && this.#agents.knows(task) ? task : undefined;
    const agent = this.#agents.find(typeof id === 'string' ? id : of);
    return { agent, ...frame } as unknown as SDKMessage;
  }

  #watchAbort(): void {
    const signal = this.#options.abortController?.signal;
    const abort = (): void => void this.fail(new AbortError());
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    void this.done.then(() => signal?.removeEventListener('abort', abort));
  }
}

/** Codes of requests that were wrong, whatever the session does. */
const MISUSED: readonly string[] = ['unsupported_request', 'invalid_request', 'invalid_mode'];

function asError(thrown: unknown): PortcullisError {
  if (thrown instanceof PortcullisError) return thrown;
  return new PortcullisError('internal', messageOf(thrown), { cause: thrown });
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** A rejection that no one waits for is no failure of the program. */
function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
