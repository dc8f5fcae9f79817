import { messageOf, PortcullisError } from '../errors.js';
import type { AgentSession, AskAnswer, AskRequest } from '../harness.js';
import type { AskElicitation } from '../protocol/elicitation.js';
import { isRecord, own } from '../util/own.js';
import { askHost } from './can-use-tool.js';
import { REPORT_HANDLERS } from './control-reports.js';
import { ControlError, type Handler, type Handling } from './control-request.js';
import { SERVER_HANDLERS } from './control-servers.js';
import { SESSION_HANDLERS } from './control-session.js';
import { WORK_HANDLERS } from './control-work.js';
import { elicitHost } from './elicitation.js';
import { createHostCallbacks, type RegisteredCallbacks } from './host-callbacks.js';
import { createHostChannel } from './host-channel.js';
import type { Message } from './inbound.js';
import { createSdkServers, type SdkServers } from './sdk-servers.js';

export type ControlDeps = Pick<
  Handling,
  | 'outlet'
  | 'queue'
  | 'spent'
  | 'session'
  | 'open'
  | 'interrupt'
  | 'onCancelled'
  | 'onCommandsTold'
  | 'uuid'
>;

/** Both directions of the control channel. */
export interface HostControl {
  /** A message from the host that is no prompt. */
  receive(message: Message): void;
  /** Puts an ask to the host's callback. */
  ask(request: AskRequest): Promise<AskAnswer>;
  /** Puts a server's question to the host's callback. Undefined: the host cannot answer. */
  readonly elicit: AskElicitation;
  readonly callbacks: RegisteredCallbacks;
  /** The way to servers in the host's process. */
  readonly sdkServers: SdkServers;
  /** What the host has changed about the session before, for one that takes its place. */
  steerAgain(): Promise<void>;
  /** The host says nothing any more: what waits for it is answered no. */
  close(): void;
  /** Resolves when every request of the host that has come so far has its answer. */
  answered(): Promise<void>;
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  ...SESSION_HANDLERS,
  ...SERVER_HANDLERS,
  ...WORK_HANDLERS,
  ...REPORT_HANDLERS,
};

/** Requests that hold for the rest of the session. Its mode is carried over by itself. */
const STEERING: ReadonlySet<string> = new Set([
  'set_model',
  'set_max_thinking_tokens',
  'apply_flag_settings',
  'mcp_set_servers',
  'mcp_toggle',
]);

/**
 * Answers every control request exactly once. Requests of both directions may be in flight at the
 * same time; nothing here waits for a turn.
 */
export function createControl(deps: ControlDeps): HostControl {
  const channel = createHostChannel(deps.outlet.write);
  const callbacks = createHostCallbacks(channel);
  const sdkServers = createSdkServers(channel);
  const handling: Handling = { ...deps, channel, callbacks, sdkServers, sparesTasks: false };
  const inFlight = new Map<Promise<void>, { id: unknown; controller: AbortController }>();
  /** Questions that people are thinking about. */
  let asking = 0;
  const steering: Message[] = [];
  const receiveRequest = (id: unknown, request: Message): void => {
    const controller = new AbortController();
    const answering = answer(handling, { id, request }, controller.signal).then((done) => {
      if (done && STEERING.has(String(request.subtype))) steering.push(request);
    });
    inFlight.set(answering, { id, controller });
    void answering.finally(() => inFlight.delete(answering));
  };
  const tellState = (session: AgentSession | undefined): void =>
    session?.news({ type: 'state', state: asking > 0 ? 'requires_action' : 'running' });
  return {
    callbacks,
    sdkServers,
    async steerAgain() {
      for (const request of steering) {
        // fail-closed: what was restricted before must not be free now; a refusal ends the session.
        const handler = own(HANDLERS, String(request.subtype));
        try {
          await handler?.(handling, request, new AbortController().signal);
        } catch (thrown) {
          throw new PortcullisError('usage', `${request.subtype}: ${messageOf(thrown)}`);
        }
      }
    },
    close: () => channel.close(),
    async answered() {
      await Promise.all(inFlight.keys());
    },
    receive(message) {
      if (message.type === 'control_request') {
        receiveRequest(message.request_id, isRecord(message.request) ? message.request : {});
      } else if (message.type === 'control_response' && isRecord(message.response)) {
        channel.settle(message.response);
      } else if (message.type === 'control_cancel_request') {
        for (const { id, controller } of inFlight.values()) {
          if (id === message.request_id) controller.abort(new Error('the host withdrew it'));
        }
      }
      // Kinds of messages that we do not know are ignored: newer clients may send them.
    },
    async ask(request) {
      const session = await deps.session();
      asking++;
      if (asking === 1) tellState(session);
      try {
        return await askHost(channel, request);
      } finally {
        asking--;
        if (asking === 0) tellState(session);
      }
    },
    // Not told as a state of the session: a server may ask while the session is still opening.
    elicit: (question, signal) => elicitHost(channel, question, signal),
  };
}

/** False: it was answered with an error. */
async function answer(
  handling: Handling,
  { id, request }: { readonly id: unknown; readonly request: Message },
  signal: AbortSignal,
): Promise<boolean> {
  const write = (response: Message): void =>
    handling.outlet.write({
      type: 'control_response',
      response: { ...response, request_id: id },
    });
  try {
    const handler = own(HANDLERS, String(request.subtype));
    if (handler === undefined) throw unsupported(request.subtype);
    const { response, beside, then } = await handler(handling, request, signal);
    write({ subtype: 'success', response, ...beside });
    for (const frame of then ?? []) handling.outlet.write(frame);
    return true;
  } catch (thrown) {
    const code = thrown instanceof ControlError ? { error_code: thrown.code } : {};
    write({ subtype: 'error', error: messageOf(thrown), ...code });
    return false;
  }
}

function unsupported(subtype: unknown): ControlError {
  return new ControlError(
    'unsupported_request',
    `Unsupported control request subtype: ${String(subtype)}`,
  );
}
