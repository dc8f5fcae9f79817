/** One entry of what a host registered: these callbacks, for this event, for these names. */
export interface CallbackEntry {
  /** Absent: everything. */
  readonly matcher?: string;
  readonly ids: readonly string[];
  /** Absent: what is usual at the event. */
  readonly timeoutMs?: number;
  /** What the host wants of a callback that answers with an error or with something invalid. */
  readonly onFailure: 'continue' | 'block';
}

export interface CallbackRequest {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Absent for events that are about no call. */
  readonly toolUseId?: string;
  readonly signal: AbortSignal;
}

/** The callbacks of a host, as registered at this moment. */
export interface HostCallbacks {
  registered(event: string): readonly CallbackEntry[];
  /** The events that something is registered for, known or not. Absent: only known ones. */
  events?(): readonly string[];
  /** Called when others are registered in place of these. */
  onRegistered?(listener: () => void): void;
  /** Whether the host can still be asked. Absent: it can. */
  isOpen?(): boolean;
  /** Rejects with what the host says went wrong. Undefined: the callback returned nothing. */
  call(request: CallbackRequest): Promise<unknown>;
}

/** A question that was never put to the host: nobody has seen it, so that nobody let it pass. */
export class HostNotAsked extends Error {}
