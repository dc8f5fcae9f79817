import type { AgentSession } from '../app.js';
import type { TurnRunner } from '../client/turn-runner.js';
import type { RegisteredCallbacks } from './host-callbacks.js';
import type { HostChannel } from './host-channel.js';
import type { Message } from './inbound.js';
import type { CommandRow } from './initialize.js';
import type { Outlet } from './outlet.js';
import type { SdkServers } from './sdk-servers.js';
import type { UsageTotals } from './usage-totals.js';
import type { Frame } from './wire.js';

/** The response to a control request: its payload, fields beside it, and frames sent after it. */
export interface Reply {
  readonly response: Message;
  readonly beside?: Message;
  readonly then?: readonly Frame[];
}

/** What requests of a host are answered with. */
export interface Handling {
  readonly outlet: Outlet;
  readonly runner: TurnRunner;
  readonly totals: UsageTotals;
  readonly channel: HostChannel;
  readonly callbacks: RegisteredCallbacks;
  readonly sdkServers: SdkServers;
  /** The session, opened with this if there is none yet. */
  open(initialize: Message): Promise<AgentSession>;
  /** What the session was opened with; undefined: none was asked for yet. */
  openedWith(): Message | undefined;
  /** The host has a button for each background task; interrupts leave them alone. */
  sparesTasks: boolean;
  /** The host has been told of these commands. */
  onCommandsTold(rows: readonly CommandRow[]): void;
  uuid(): string;
}

/** That the host may take its request back. */
export interface Withdrawal {
  /** Fires when it does. */
  readonly signal: AbortSignal;
}

/** Answers one kind of request. A throw becomes the error answer. */
export type Handler = (
  handling: Handling,
  request: Message,
  withdrawal: Withdrawal,
) => Promise<Reply> | Reply;

/** A request that is refused, with a word for programs. */
export class ControlError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The session could not be opened, which ends the program: a result says so, and nothing else. */
export class StartFailed extends Error {}

/** A field that must be there. */
export function text(request: Message, name: string): string {
  const value = request[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new ControlError('invalid_request', `${name} is missing`);
}

/** Done, and nothing to say about it. */
export const ACKNOWLEDGED: Reply = { response: {} };
