import type { SessionNews } from '../protocol/session-events.js';

/** One entry of what a host registered: these callbacks, for this event, for these names. */
export interface CallbackEntry {
  /** Absent: every tool. */
  readonly matcher?: string;
  readonly ids: readonly string[];
  readonly timeoutMs: number;
  /** What the host wants of a callback that answers with an error or with something invalid. */
  readonly onFailure: 'continue' | 'block';
}

export interface CallbackRequest {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly toolUseId: string;
  readonly signal: AbortSignal;
}

/** The callbacks of a host, as registered at this moment. */
export interface HostCallbacks {
  registered(event: string): readonly CallbackEntry[];
  /** Rejects with what the host says went wrong. Undefined: the callback returned nothing. */
  call(request: CallbackRequest): Promise<unknown>;
}

/** What callbacks are told about the session. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly transcriptPath: string;
  /** One per prompt of a person. */
  readonly promptId: string | undefined;
}

export interface CallbackDeps {
  readonly callbacks: HostCallbacks;
  readonly monotonic: () => number;
  facts(): SessionFacts;
  /** An administrator lets nobody else's hooks grant anything: a yes counts as no opinion. */
  restrictOnly?(): boolean;
  emit(news: SessionNews): void;
}
