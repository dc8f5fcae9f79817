import { messageOf, PortcullisError } from '../errors.js';
import { isRecord, own } from '../lib/own.js';
import { REPORT_HANDLERS } from './control-reports.js';
import {
  ControlError,
  type Handler,
  type Handling,
  type Reply,
  StartFailed,
  type Withdrawal,
} from './control-request.js';
import { SERVER_HANDLERS } from './control-servers.js';
import { SESSION_HANDLERS } from './control-session.js';
import { WORK_HANDLERS } from './control-work.js';
import type { WireChannel } from './host-channel.js';
import type { Message } from './inbound.js';
import type { Frame } from './wire.js';

/** The host's side of the control channel: its requests, and its answers to ours. */
export interface HostControl {
  /** A message from the host that is no prompt. */
  receive(message: Message): void;
  /** Resolves when every request of the host that has come so far has its answer. */
  answered(): Promise<void>;
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  ...SESSION_HANDLERS,
  ...SERVER_HANDLERS,
  ...WORK_HANDLERS,
  ...REPORT_HANDLERS,
};

/** Requests that hold for the rest of the session, and for the one that takes its place. */
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
export function createControl(handling: Handling, channel: WireChannel): HostControl {
  const inFlight = new Map<Promise<void>, AskedOfUs>();
  const receiveRequest = (id: unknown, request: Message): void => {
    const asked = new AskedOfUs(id, request);
    const answering = answer(handling, asked);
    inFlight.set(answering, asked);
    void answering.finally(() => inFlight.delete(answering));
  };
  /** Warns about a request without effect. */
  const complain = (what: string): void => {
    const text = `the host sent ${what}, which has no effect`;
    handling.runner.session?.then(
      (session) => session.news({ type: 'notice', level: 'warning', text }),
      // A failed start reports itself.
      () => undefined,
    );
  };
  return {
    async answered() {
      await Promise.all(inFlight.keys());
    },
    receive(message) {
      if (message.type === 'control_request') {
        receiveRequest(message.request_id, isRecord(message.request) ? message.request : {});
      } else if (message.type === 'control_response' && isRecord(message.response)) {
        if (!channel.settle(message.response)) complain('an answer without the id of a request');
      } else if (message.type === 'control_cancel_request') {
        for (const asked of inFlight.values()) {
          if (asked.id === message.request_id) asked.withdraw(new Error('the host withdrew it'));
        }
      }
      // Kinds of messages that we do not know are ignored: newer clients may send them.
    },
  };
}

/** A request of the host that has no answer yet. */
class AskedOfUs implements Withdrawal {
  readonly id: unknown;
  readonly request: Message;
  /** Made for the few that look at it: a signal costs more than most answers do. */
  #controller: AbortController | undefined;

  constructor(id: unknown, request: Message) {
    this.id = id;
    this.request = request;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  withdraw(reason: Error): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }
}

async function answer(handling: Handling, asked: AskedOfUs): Promise<void> {
  const { id, request } = asked;
  const frameOf = (response: Message): Frame => ({
    type: 'control_response',
    response: { request_id: id, ...response },
  });
  try {
    if (typeof id !== 'string') throw invalid('request_id is not a text');
    const { response, beside, then } = await handleRequest(handling, request, asked);
    const frame = frameOf({ subtype: 'success', response, ...beside });
    const problem = handling.outlet.tooLong(frame);
    // It was done; only its answer is lost.
    if (problem !== undefined) throw new ControlError('too_long', `no answer: ${problem}`);
    handling.outlet.write(frame);
    for (const told of then ?? []) handling.outlet.write(told);
  } catch (thrown) {
    if (thrown instanceof StartFailed) return;
    const code = thrown instanceof ControlError ? { error_code: thrown.code } : {};
    handling.outlet.write(frameOf({ subtype: 'error', error: messageOf(thrown), ...code }));
  }
}

/** Does what a host asks for. Rejects with the reason where it is refused. */
export async function handleRequest(
  handling: Handling,
  request: Message,
  withdrawal: Withdrawal = NEVER,
): Promise<Reply> {
  const handler = handlerOf(request);
  if (handler === undefined) throw unsupported(request.subtype);
  const reply = await act(handling, handler, { request, withdrawal });
  if (STEERING.has(String(request.subtype))) {
    handling.runner.steered(() => steerAgain(handling, handler, request));
  }
  return reply;
}

const NEVER: Withdrawal = { signal: new AbortController().signal };

/** fail-closed: what was restricted before must not be free now; a refusal ends the session. */
async function steerAgain(handling: Handling, handler: Handler, request: Message): Promise<void> {
  try {
    await handler(handling, request, NEVER);
  } catch (thrown) {
    throw new PortcullisError('usage', `${request.subtype}: ${messageOf(thrown)}`);
  }
}

/** A session may be replaced while its request is under way: then it is asked of the new one again. */
async function act(
  handling: Handling,
  handler: Handler,
  { request, withdrawal }: { readonly request: Message; readonly withdrawal: Withdrawal },
): Promise<Reply> {
  for (;;) {
    const before = handling.runner.session;
    const reply = await handler(handling, request, withdrawal);
    const isCarried = STEERING.has(String(request.subtype)) || request.subtype === MODE;
    if (!isCarried || before === undefined || before === handling.runner.session) return reply;
  }
}

/** The last mode of a session is carried over to the next one. */
const MODE = 'set_permission_mode';

/** Only a text names a kind of request. */
function handlerOf({ subtype }: Message): Handler | undefined {
  return typeof subtype === 'string' ? own(HANDLERS, subtype) : undefined;
}

function invalid(why: string): ControlError {
  return new ControlError('invalid_request', why);
}

function unsupported(subtype: unknown): ControlError {
  const name = typeof subtype === 'string' ? subtype : JSON.stringify(subtype);
  return new ControlError('unsupported_request', `Unsupported control request subtype: ${name}`);
}
