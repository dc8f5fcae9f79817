import { messageOf, PortcullisError } from '../errors.js';
import type { AgentSession, LoopEvent, RunResult, SessionNews } from '../harness.js';
import { createControl } from './control.js';
import type { Host } from './host.js';
import { type Inbound, type Message, readInbound } from './inbound.js';
import { createOutlet, type Sink } from './outlet.js';
import { createPromptQueue } from './prompt-queue.js';
import { createSpent } from './spent.js';
import { createTurns } from './turns.js';
import { readUserMessage } from './user-message.js';
import type { Frame } from './wire.js';

export interface StreamServerDeps {
  readonly input: Inbound;
  /**
   * Opens the session; called once the host's first message is there, so that `initialize` can shape
   * it, and with the id of a new one each time that the conversation is cleared.
   */
  open(initialize: Message, host: Host, clearedId?: string): Promise<AgentSession>;
  /** What a session tells, as frames. */
  frames(event: LoopEvent | SessionNews): readonly Frame[];
  readonly write: Sink;
  uuid(): string;
  /** Prompts wait until the host has initialised the session. */
  readonly awaitsInitialize?: boolean;
  /** Ends everything: the running turn is interrupted, what waits is dropped. */
  readonly signal?: AbortSignal;
  /** The longest frame, in bytes, that the host can read. Absent: any. */
  readonly frameLimit?: number;
}

export interface StreamServerResult {
  readonly lastRun: RunResult | undefined;
  /** Set when the host sent what cannot be read: what came before it was still done. */
  readonly inputError: PortcullisError | undefined;
}

/**
 * One session spoken over messages, both ways. Input that ends means "no more prompts", not "stop":
 * running and queued turns are finished first.
 */
export async function serveStream(deps: StreamServerDeps): Promise<StreamServerResult> {
  const queue = createPromptQueue();
  const outlet = createOutlet(deps.write, deps.frameLimit);
  let stopped = false;
  let wake: () => void = () => undefined;
  let ended = false;
  let inputError: PortcullisError | undefined;
  let session: Promise<AgentSession> | undefined;
  const spent = createSpent();
  const { frames, uuid } = deps;
  const turns = createTurns({ outlet, queue, spent, frames, uuid, onWorkEnded: () => wake() });
  let initialized: Message = {};
  const openOne = (clearedId?: string): Promise<AgentSession> => {
    const opening = deps.open(
      initialized,
      {
        asker: control.ask,
        callbacks: control.callbacks,
        elicit: control.elicit,
        mcpBridge: control.sdkServers.bridge,
        mcpEntries: control.sdkServers.entries,
        emit: turns.emit,
        ready: outlet.ready,
      },
      clearedId,
    );
    opening.then(
      (opened) => opened.requests.onCommands(() => void turns.commandsChanged(opened)),
      // A refused start ends the program at once, also while the host keeps its side open.
      () => wake(),
    );
    return opening;
  };
  const open = (initialize: Message): Promise<AgentSession> => {
    if (session === undefined) {
      initialized = initialize;
      session = openOne();
    }
    return session;
  };
  /** A new session in the place of this one, steered as it was. */
  const clear = async (old: AgentSession): Promise<void> => {
    await turns.clear(old, async (id) => {
      // Not before now: the host may have changed it while the old one was closing.
      const { mode } = old.info();
      session = openOne(id);
      const fresh = await session;
      if (fresh.info().mode !== mode) fresh.setMode(mode);
      await control.steerAgain();
      return fresh;
    });
  };
  const control = createControl({
    outlet,
    queue,
    spent,
    session: () => session,
    open,
    openedWith: () => (session === undefined ? undefined : initialized),
    interrupt: turns.interrupt,
    onCancelled: turns.cancelled,
    onCommandsTold: turns.commandsTold,
    uuid,
  });
  const stop = (): void => {
    queue.takeAll();
    stopped = true;
    reading.stop();
    void session?.then(
      (opened) => turns.interrupt(opened),
      () => undefined,
    );
    wake();
  };
  const reading = readInbound(deps.input, (message) => {
    if (message.type !== 'user') return control.receive(message);
    const prompt = readUserMessage(message, uuid);
    queue.push(prompt);
    turns.queued(prompt);
    wake();
  });
  if (deps.signal?.aborted === true) stop();
  deps.signal?.addEventListener('abort', stop, { once: true });
  const inputDone = reading.done
    .catch((thrown: unknown) => {
      inputError =
        thrown instanceof PortcullisError ? thrown : new PortcullisError('io', messageOf(thrown));
    })
    .finally(() => {
      ended = true;
      control.close();
      wake();
    });

  let listensTo: AgentSession | undefined;
  /** One listener at a time: it is gone only when something arrives. */
  const wakeOnBackgroundInput = (opened: AgentSession): void => {
    if (listensTo === opened) return;
    listensTo = opened;
    opened.onBackgroundInput(() => {
      listensTo = undefined;
      wake();
    });
  };
  let lastRun: RunResult | undefined;
  try {
    while (!stopped) {
      const background = (await session)?.takeBackgroundInput() ?? [];
      const mayOpen = session !== undefined || ended || deps.awaitsInitialize !== true;
      if (background.length > 0 || (queue.size > 0 && mayOpen)) {
        const opened = await open({});
        await outlet.ready();
        const order = background.length > 0 ? undefined : queue.nextOrder;
        if (order === 'clear') await clear(opened);
        else if (order !== undefined && order !== 'compact') await turns.local(opened);
        else lastRun = await turns.take(opened, background);
        // What was done without the model has gone well.
        if (order !== undefined && order !== 'compact') lastRun = undefined;
        continue;
      }
      if (inputError !== undefined) break;
      const opened = await session;
      // A message may have arrived during the wait above, when nobody could be woken.
      if (queue.size > 0 && (mayOpen || ended || session !== undefined)) continue;
      if (opened !== undefined) turns.rest(opened);
      if (ended && !(await opened?.waitForBackground())) break;
      if (ended) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (opened !== undefined) wakeOnBackgroundInput(opened);
      });
    }
    // Unreadable input has ended by itself; a session that was stopped does not wait for its end.
    await inputDone;
    return { lastRun, inputError };
  } finally {
    reading.stop();
    deps.signal?.removeEventListener('abort', stop);
    try {
      // Also when a turn threw: servers and shells would live on. A refused start has opened nothing.
      const opened = await session?.catch(() => undefined);
      await opened?.close();
    } finally {
      control.close();
      turns.end();
      await control.answered();
    }
  }
}
