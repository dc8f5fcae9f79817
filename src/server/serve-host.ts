import { PortcullisError } from '../errors.js';
import { type AgentSession, type LoopEvent, openSession, type SessionNews } from '../harness.js';
import { createFramer, type FrameOptions } from './frames.js';
import { type HostedConfig, hostConfig, ignoredFields } from './host-session.js';
import type { Inbound } from './inbound.js';
import type { Sink } from './outlet.js';
import { startFailureFrame } from './result.js';
import { type StreamServerResult, serveStream } from './stream-json.js';

export interface HostServing {
  readonly config: HostedConfig;
  /** Which messages the host wants besides those that every host gets. */
  readonly messages: Omit<FrameOptions, 'sessionId' | 'uuid'>;
  /** Calls that no rule decides are put to the host; otherwise they are refused. */
  readonly asksHost: boolean;
  /** Prompts wait until the host has initialised the session. */
  readonly awaitsInitialize?: boolean;
  readonly input: Inbound;
  readonly write: Sink;
  /** The longest frame, in bytes, that the host can read. Absent: any. */
  readonly frameLimit?: number;
  uuid(): string;
  /** Ends the session whatever it does: the running turn is interrupted, what waits is dropped. */
  readonly signal?: AbortSignal;
  onOpen?(session: AgentSession): void;
  /** Also hears everything that the session tells. */
  tap?(event: LoopEvent | SessionNews): void;
}

export interface Served extends StreamServerResult {
  /** Why no session could be opened. The host has been told by a result of its own. */
  readonly startError: PortcullisError | undefined;
}

/**
 * One session for one host, whatever carries the messages between them. Resolves when the input has
 * ended and everything that was asked for is done, and the session is closed.
 */
export async function serveHost(serving: HostServing): Promise<Served> {
  const { config, messages, tap, uuid } = serving;
  let sessionId = wantedId(config, uuid);
  let agentTexts = messages.agentTexts?.() === true;
  const limit = serving.frameLimit === undefined ? {} : { frameLimit: serving.frameLimit };
  const frames = createFramer({
    sessionId: () => sessionId,
    uuid,
    ...limit,
    ...messages,
    agentTexts: () => agentTexts,
  });
  try {
    const served = await serveStream({
      input: serving.input,
      write: serving.write,
      frames(event) {
        tap?.(event);
        return frames(event);
      },
      uuid,
      ...limit,
      awaitsInitialize: serving.awaitsInitialize === true,
      ...(serving.signal === undefined ? {} : { signal: serving.signal }),
      async open(initialize, host, clearedId) {
        if (initialize.forwardSubagentText === true) agentTexts = true;
        const asked = hostConfig(config, initialize, { host, asksHost: serving.asksHost });
        const session = await openSession(
          clearedId === undefined
            ? asked
            : { ...asked, start: { kind: 'new', id: clearedId }, fork: false, startedBy: 'clear' },
        );
        sessionId = session.id;
        for (const text of clearedId === undefined ? ignoredFields(initialize) : []) {
          session.news({ type: 'notice', level: 'warning', text });
        }
        serving.onOpen?.(session);
        return session;
      },
    });
    return { ...served, startError: undefined };
  } catch (thrown) {
    return await refusedStart(serving, thrown, sessionId);
  }
}

/** A host that reads messages learns of a failed start from a message. */
export async function refusedStart(
  { config, write, uuid }: Pick<HostServing, 'config' | 'write' | 'uuid'>,
  thrown: unknown,
  sessionId = wantedId(config, uuid),
): Promise<Served> {
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
export function endedWell({ lastRun, inputError, startError }: Served): boolean {
  if (inputError !== undefined || startError !== undefined) return false;
  const reason = lastRun?.outcome.reason.kind;
  return reason === undefined || ENDED_WELL.has(reason);
}

const ENDED_WELL: ReadonlySet<string> = new Set([
  'completed',
  'finished',
  'hook_stopped',
  'stop_prevented',
  'prompt_blocked',
  'tool_deferred',
]);
