import { type AgentSession, type LoopEvent, openSession, type SessionNews } from '../app.js';
import { slashCommands } from '../client/commands/complete.js';
import type { Turn } from '../client/events.js';
import { connectClient } from '../client/local-client.js';
import { replaced } from '../client/session-slot.js';
import { turnEnd } from '../client/turn-end.js';
import { TurnRunner } from '../client/turn-runner.js';
import { announceSession } from '../console/announce.js';
import { messageOf, PortcullisError } from '../errors.js';
import { createControl } from './control.js';
import type { Handling } from './control-request.js';
import { FrameStream } from './frame-stream.js';
import type { FrameOptions } from './frames.js';
import { createHostCallbacks } from './host-callbacks.js';
import { createHostChannel, type HostChannel } from './host-channel.js';
import { putQuestionsToHost } from './host-questions.js';
import { type HostedConfig, hostConfig, ignoredFields } from './host-session.js';
import { type Inbound, type Message, readInbound } from './inbound.js';
import { createOutlet, type Outlet, type Sink } from './outlet.js';
import { startFailureFrame } from './result.js';
import { createSdkServers } from './sdk-servers.js';
import { UsageTotals } from './usage-totals.js';
import { readUserMessage } from './user-message.js';

export interface HostSessionOptions {
  readonly config: HostedConfig;
  /** Names the host among the clients of the session; absent: `wire`. */
  readonly name?: string;
  /** Which messages the host wants besides those that every host gets. */
  readonly messages: Omit<FrameOptions, 'sessionId' | 'uuid'>;
  /** Calls that no rule decides are put to the host; otherwise they are refused. */
  readonly asksHost: boolean;
  readonly write: Sink;
  /** The longest frame, in bytes, that the host can read. Absent: any. */
  readonly frameLimit?: number;
  uuid(): string;
  onOpen?(session: AgentSession): void;
  /** Also hears everything that the session tells. */
  tap?(event: LoopEvent | SessionNews): void;
}

export interface HostServing extends HostSessionOptions {
  /** Prompts wait until the host has initialised the session. */
  readonly awaitsInitialize?: boolean;
  readonly input: Inbound;
  /** Ends the session whatever it does: the running turn is interrupted, what waits is dropped. */
  readonly signal?: AbortSignal;
  /** Lets other clients join the session. */
  onRunner?(runner: TurnRunner): void;
}

export interface ServeResult {
  /** The last turn as the host was told of it; undefined: none, or a command that needed no model. */
  readonly lastRun: Turn | undefined;
  /** Set when the host sent what cannot be read: what came before it was still done. */
  readonly inputError: PortcullisError | undefined;
  /** Why no session could be opened. The host has been told by a result of its own. */
  readonly startError: PortcullisError | undefined;
}

/** One session with the program that drives it: in another process, or in this one. */
export interface HostSession<Channel extends HostChannel> {
  readonly channel: Channel;
  readonly runner: TurnRunner;
  /** What `handleRequest` works with. */
  readonly handling: Handling;
  /** Runs turns until the input is over. Resolves when the session is closed. */
  run(): Promise<ServeResult>;
}

/** Prepares a session whose questions, hooks and servers are answered over the channel. */
export function createHostSession<Channel extends HostChannel>(
  options: HostSessionOptions,
  createChannel: (outlet: Outlet) => Channel,
): HostSession<Channel> {
  const { config, uuid, frameLimit } = options;
  const outlet = createOutlet(options.write, frameLimit);
  let agentTexts = options.messages.agentTexts?.() === true;
  const frames = new FrameStream({
    outlet,
    uuid,
    firstId: wantedId(config, uuid),
    messages: {
      ...(frameLimit !== undefined && { frameLimit }),
      ...options.messages,
      agentTexts: () => agentTexts,
    },
  });
  const channel = createChannel(outlet);
  const callbacks = createHostCallbacks(channel);
  const sdkServers = createSdkServers(channel);
  let initialized: Message | undefined;
  const runner: TurnRunner = new TurnRunner({
    env: config.env,
    clock: { now: Date.now, uuid },
    commands: slashCommands,
    ready: outlet.ready,
    prepareTurn: frames.tellCommands.bind(frames),
    async open(ports, replacement) {
      const initialize = initialized ?? {};
      if (initialize.forwardSubagentText === true) agentTexts = true;
      const emit: typeof ports.emit = (event) => {
        options.tap?.(event);
        ports.emit(event);
      };
      const { bridge: mcpBridge, entries: mcpEntries } = sdkServers;
      const host = { ...ports, emit, ready: outlet.ready, callbacks, mcpBridge, mcpEntries };
      const asked = hostConfig(config, initialize, { host, asksHost: options.asksHost });
      const session = await openSession(replaced(asked, replacement));
      for (const text of replacement === undefined ? ignoredFields(initialize) : []) {
        session.news({ type: 'notice', level: 'warning', text });
      }
      options.onOpen?.(session);
      return session;
    },
  });
  const kind = options.name === 'sdk' ? 'sdk' : 'wire';
  announceSession(runner, { kind, cwd: config.cwd, env: config.env });
  frames.follow(runner);
  const client = connectClient(runner, {
    name: options.name ?? 'wire',
    answers: options.asksHost ? ['permission', 'plan', 'choices', 'form', 'url'] : ['form', 'url'],
  });
  putQuestionsToHost(client, channel);
  const handling: Handling = {
    outlet,
    runner,
    channel,
    callbacks,
    sdkServers,
    sparesTasks: false,
    totals: new UsageTotals(runner.log),
    openedWith: () => (runner.session === undefined ? undefined : (initialized ?? {})),
    open(initialize) {
      initialized ??= initialize;
      return runner.open();
    },
    onCommandsTold: (rows) => frames.commandsTold(rows),
    uuid,
  };
  return {
    channel,
    runner,
    handling,
    async run() {
      try {
        await runner.run();
        return { lastRun: frames.lastRun, inputError: undefined, startError: undefined };
      } catch (thrown) {
        return await refusedStart(options, thrown, frames.sessionId);
      } finally {
        channel.close();
        frames.end();
      }
    },
  };
}

/**
 * One session for one host, whatever carries the messages between them. Input that ends means "no more
 * prompts", not "stop": running and queued turns are finished first. Resolves when the session is closed.
 */
export async function serveHost(serving: HostServing): Promise<ServeResult> {
  const { uuid, signal } = serving;
  const session = createHostSession(serving, ({ write, tooLong }) =>
    createHostChannel(write, tooLong),
  );
  const { runner, handling, channel } = session;
  const control = createControl(handling, channel);
  serving.onRunner?.(runner);
  runner.hold(serving.awaitsInitialize === true);
  let inputError: PortcullisError | undefined;
  const reading = readInbound(serving.input, (message) => {
    if (message.type !== 'user') return control.receive(message);
    runner.push(readUserMessage(message, uuid));
  });
  const stop = (): void => {
    reading.stop();
    runner.stop();
  };
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  const inputDone = reading.done
    .catch((thrown: unknown) => {
      inputError =
        thrown instanceof PortcullisError ? thrown : new PortcullisError('io', messageOf(thrown));
    })
    .finally(() => {
      channel.close();
      // Unreadable input has ended by itself: its background work is not waited for.
      runner.endInput(inputError === undefined ? 'finish' : 'now');
    });
  try {
    const served = await session.run();
    // A session that was stopped does not wait for the end of its input.
    if (served.startError === undefined) await inputDone;
    return { ...served, inputError };
  } finally {
    reading.stop();
    signal?.removeEventListener('abort', stop);
    await control.answered();
  }
}

/** A host that reads messages learns of a failed start from a message. */
export async function refusedStart(
  { config, write, uuid }: Pick<HostSessionOptions, 'config' | 'write' | 'uuid'>,
  thrown: unknown,
  sessionId = wantedId(config, uuid),
): Promise<ServeResult> {
  if (!(thrown instanceof PortcullisError)) throw thrown;
  const words =
    thrown.remedy === undefined ? thrown.message : `${thrown.message} · ${thrown.remedy}`;
  await write(startFailureFrame([words], sessionId, uuid()));
  return { lastRun: undefined, inputError: undefined, startError: thrown };
}

function wantedId({ start }: HostedConfig, uuid: () => string): string {
  if (start.kind === 'resume') return start.newId ?? start.id;
  return (start.kind === 'new' ? start.id : start.newId) ?? uuid();
}

/** Whether a program that did only this may say that all is well. */
export function endedWell({ lastRun, inputError, startError }: ServeResult): boolean {
  if (inputError !== undefined || startError !== undefined) return false;
  return lastRun === undefined || !turnEnd(lastRun.outcome.reason).isError;
}
