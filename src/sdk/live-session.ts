import { messageOf, PortcullisError } from '../errors.js';
import {
  type AgentSession,
  type LoopEvent,
  projectKeyOf,
  type SessionNews,
  systemClock,
} from '../harness.js';
import { endedWell, refusedStart, type Served, serveHost } from '../server/serve-host.js';
import type { Frame } from '../server/wire.js';
import { readOptions } from './config.js';
import { AbortError, ResultError } from './errors.js';
import { createHostEnd, type HostEnd } from './host-end.js';
import { initializeRequest, registerHooks } from './initialize.js';
import { createAgentRegister } from './lineage.js';
import { createHostServers, type HostServers } from './mcp-host.js';
import { createPipe } from './pipe.js';
import { plainCopy } from './plain-copy.js';
import { policyReport } from './policy.js';
import { createStoreWriter, inStore, type StoreWriter } from './store-session.js';
import type {
  Options,
  PolicyReport,
  SDKMessage,
  SDKResultMessage,
  SessionStore,
} from './types/index.js';

type Message = Readonly<Record<string, unknown>>;

/** More unread messages than this, and the model is read no faster than they are. */
const MANY_UNREAD = 1_000;

/** One session in this process, and the program's end of it. */
export interface LiveSession {
  readonly host: HostEnd;
  readonly servers: HostServers;
  /** Messages for the program; ends or fails with the session. */
  next(): Promise<IteratorResult<SDKMessage, undefined>>;
  /** Called with every one of them that the program gets, just before it does. */
  onRead: ((message: SDKMessage) => void) | undefined;
  /** Puts a prompt into the session. */
  prompt(message: object): void;
  /** No more prompts: the session ends when it has nothing left to do. */
  endInput(): void;
  /** Ends it, whatever it does. Resolves when everything is closed. */
  stop(): Promise<void>;
  /** The same, and the program gets this error. */
  abandon(error: Error): Promise<void>;
  /** Resolves when the session is open; rejects when it cannot be. */
  opened(): Promise<AgentSession>;
  initialized(): Promise<Message>;
  policy(): Promise<PolicyReport>;
  reinitialize(): Promise<Message>;
  /** Resolves when all is over; never rejects. */
  readonly done: Promise<void>;
}

export function openLiveSession(options: Options): LiveSession {
  return new Live(options);
}

class Live implements LiveSession {
  readonly host: HostEnd;
  readonly servers: HostServers;
  readonly done: Promise<void>;
  onRead: LiveSession['onRead'];
  readonly #options: Options;
  readonly #inbound = createPipe<Message>();
  readonly #messages = createPipe<SDKMessage>();
  readonly #stopping = new AbortController();
  readonly #agents = createAgentRegister();
  readonly #registered;
  readonly #open = deferred<AgentSession>();
  /** Another one than was opened first, once the conversation has been cleared. */
  #current: AgentSession | undefined;
  #initialized: Promise<Message> | undefined;
  #writer: StoreWriter | undefined;
  #sessionId = '';
  #lastResult: SDKResultMessage | undefined;
  #drained: (() => void) | undefined;
  #behind: Promise<void> | undefined;
  /** Whether the input is to end as soon as nothing is left to do. */
  #inputOver = false;
  #running = false;
  #waiting = false;
  readonly #backgroundAgents = new Set<string>();

  constructor(options: Options) {
    this.#options = options;
    this.#registered = registerHooks(options.hooks);
    this.servers = createHostServers((server, message) =>
      this.#send({
        type: 'control_request',
        request_id: `server-${systemClock.uuid()}`,
        request: { subtype: 'mcp_message', server_name: server, message: plainCopy(message) },
      }),
    );
    this.host = createHostEnd({
      send: (message) => this.#send(message),
      callbacks: {
        hooks: this.#registered.callbacks,
        canUseTool: options.canUseTool,
        onElicitation: options.onElicitation,
        onUserDialog: options.onUserDialog,
      },
      servers: this.servers,
      agents: this.#agents,
      sessionId: () => this.#sessionId,
      uuid: systemClock.uuid,
      now: systemClock.now,
    });
    this.#messages.onTaken = (message) => {
      this.onRead?.(message);
      if (this.#messages.size < MANY_UNREAD / 2) this.#drained?.();
    };
    this.#open.promise.catch(() => undefined);
    this.done = this.#serve();
    this.#watchAbort();
  }

  next(): Promise<IteratorResult<SDKMessage, undefined>> {
    return this.#messages.next();
  }

  prompt(message: object): void {
    this.#waiting = true;
    this.#send(message as Message);
  }

  endInput(): void {
    this.#inputOver = true;
    this.#endWhenIdle();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#inbound.end();
    this.#drained?.();
    await this.done;
  }

  async abandon(error: Error): Promise<void> {
    this.#messages.fail(error);
    await this.stop();
  }

  opened(): Promise<AgentSession> {
    return this.#current === undefined ? this.#open.promise : Promise.resolve(this.#current);
  }

  initialized(): Promise<Message> {
    this.#initialized ??= this.opened().then(() => this.reinitialize());
    return this.#initialized;
  }

  async policy(): Promise<PolicyReport> {
    return policyReport(await this.opened(), this.#options);
  }

  reinitialize(): Promise<Message> {
    return this.host.request(this.#initializeBody());
  }

  #initializeBody(): Message {
    const servers = this.servers.adopt(this.#options.mcpServers ?? {});
    const body = initializeRequest(this.#options, { hooks: this.#registered.hooks, servers });
    try {
      return plainCopy(body) as Message;
    } catch (thrown) {
      // fail-closed: what is lost on the way may have been a limit.
      throw new PortcullisError('usage', `an option cannot be used: ${messageOf(thrown)}`);
    }
  }

  #send(message: Message): void {
    this.#inbound.push(message);
  }

  async #serve(): Promise<void> {
    try {
      const served = await this.#run();
      await this.#writer?.flush();
      this.#finish(served);
    } catch (thrown) {
      this.#fail(thrown);
    } finally {
      this.host.close(new PortcullisError('session', 'the session has ended'));
      await this.servers.close();
    }
  }

  async #run(): Promise<Served> {
    const options = this.#options;
    const adopted = this.servers.adopt(options.mcpServers ?? {});
    this.#initialized = this.reinitialize();
    this.#initialized.catch(() => undefined);
    const serving = await readOptions(options, adopted);
    for (const text of serving.warnings) this.#warn(text);
    const { sessionStore } = options;
    const write = (frame: Frame): void | Promise<void> => this.#receive(frame);
    const { uuid } = systemClock;
    let { config } = serving;
    if (sessionStore !== undefined) {
      try {
        config = await inStore(config, sessionStore);
      } catch (thrown) {
        return await refusedStart({ config, write, uuid }, thrown);
      }
      this.#keepIn(sessionStore, config.cwd);
    }
    return await serveHost({
      config,
      messages: serving.messages,
      asksHost: serving.asksHost,
      input: this.#inbound,
      write,
      uuid,
      signal: this.#stopping.signal,
      onOpen: (session) => this.#opened(session),
      tap: (event) => this.#hear(event),
    });
  }

  #keepIn(store: SessionStore, cwd: string): void {
    this.#writer = createStoreWriter(store, projectKeyOf(cwd), (error, key) =>
      this.#deliver({
        type: 'system',
        subtype: 'mirror_error',
        error,
        key,
        uuid: systemClock.uuid(),
        session_id: this.#sessionId,
      }),
    );
  }

  #opened(session: AgentSession): void {
    this.#sessionId = session.id;
    this.#current = session;
    this.#open.resolve(session);
    if (this.#options.policyReport === true) {
      this.#deliver({
        type: 'system',
        subtype: 'policy',
        policy: policyReport(session, this.#options),
        uuid: systemClock.uuid(),
        session_id: session.id,
      });
    }
  }

  #hear(event: LoopEvent | SessionNews): void {
    this.#agents.hear(event);
    if (this.#options.debug === true) this.#options.stderr?.(`${JSON.stringify(event)}\n`);
    if (event.type === 'notice' && event.level === 'warning') this.#warn(event.text);
    if (event.type === 'background_tasks') {
      this.#backgroundAgents.clear();
      for (const { taskId, taskType } of event.tasks) {
        if (taskType === 'local_agent') this.#backgroundAgents.add(taskId);
      }
      this.#endWhenIdle();
    }
    if (event.type === 'state' && event.state === 'idle') {
      this.#running = false;
      this.#waiting = false;
      this.#endWhenIdle();
    }
  }

  #warn(text: string): void {
    this.#options.stderr?.(`${text}\n`);
  }

  /** Takes one frame; a promise when the program is behind with reading. */
  #receive(frame: Frame): void | Promise<void> {
    if (this.host.receive(frame)) return undefined;
    if (frame.type === 'system' && frame.subtype === 'init') {
      this.#running = true;
      this.host.beginTurn();
    }
    // Told to the end that keeps the input open, which is this one.
    if (frame.sdk_host_only === true) return undefined;
    if (frame.type === 'transcript_mirror') {
      this.#writer?.write(frame.filePath, frame.entries);
      return undefined;
    }
    return this.#deliver(frame);
  }

  #deliver(frame: Frame): void | Promise<void> {
    const message = this.#withAgent(frame);
    if (message.type === 'result') this.#lastResult = message;
    this.#messages.push(message);
    if (this.#messages.size < MANY_UNREAD || this.#stopping.signal.aborted) return undefined;
    this.#behind ??= new Promise<void>((resolve) => {
      this.#drained = () => {
        this.#behind = undefined;
        this.#drained = undefined;
        resolve();
        this.#endWhenIdle();
      };
    });
    return this.#behind;
  }

  #withAgent(frame: Frame): SDKMessage {
    const { agent_id: id, task_id: task } = frame;
    // The tasks that are agents go by the ids of these.
    const of = typeof task === 'string' && this.#agents.knows(task) ? task : undefined;
    const agent = this.#agents.find(typeof id === 'string' ? id : of);
    return { agent, ...frame } as unknown as SDKMessage;
  }

  /** Callbacks need the input as long as anything may still call them. */
  #endWhenIdle(): void {
    if (!this.#inputOver) return;
    // A prompt that is under way to the session has reached it by then.
    setImmediate(() => {
      if (this.#running || this.#waiting || this.#behind !== undefined) return;
      if (this.#backgroundAgents.size > 0) return;
      this.#inbound.end();
    });
  }

  #watchAbort(): void {
    const signal = this.#options.abortController?.signal;
    if (signal === undefined) return;
    const abort = (): void => void this.abandon(new AbortError());
    if (signal.aborted) abort();
    else {
      signal.addEventListener('abort', abort, { once: true });
      void this.done.then(() => signal.removeEventListener('abort', abort));
    }
  }

  #finish(served: Served): void {
    const failure = served.startError ?? served.inputError;
    if (failure !== undefined) this.#fail(failure);
    else if (!this.#stopping.signal.aborted && !endedWell(served) && this.#lastResult) {
      this.#messages.fail(new ResultError(this.#lastResult));
    } else this.#messages.end();
    this.#open.reject(new PortcullisError('session', 'the session was closed before it was open'));
  }

  #fail(thrown: unknown): void {
    const error =
      thrown instanceof PortcullisError
        ? thrown
        : new PortcullisError('internal', messageOf(thrown), { cause: thrown });
    if (error.code !== 'aborted') this.#warn(error.message);
    this.#open.reject(error);
    this.host.close(error);
    this.#messages.fail(error);
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
