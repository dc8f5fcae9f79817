import type { Message, ModelStopReason, Usage } from '../protocol/content.js';

/** A tool as the model sees it. Frozen for a session, so that its bytes never change. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
}

export interface SystemBlock {
  readonly type: 'text';
  readonly text: string;
}

export type ThinkingConfig =
  | { readonly type: 'disabled' }
  | { readonly type: 'adaptive'; readonly display?: ThinkingDisplay }
  | {
      readonly type: 'enabled';
      readonly budget_tokens: number;
      readonly display?: ThinkingDisplay;
    };

/** Whether the text of thinking comes back. */
export type ThinkingDisplay = 'summarized' | 'omitted';

export interface ModelRequest {
  /** Already resolved: an id that the provider knows, not an alias. */
  readonly model: string;
  readonly system: readonly SystemBlock[];
  readonly tools: readonly ToolDefinition[];
  /**
   * Append-only within a conversation, and never changed in place: adapters serialise each message once and
   * recognise it by identity in the next request.
   */
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  readonly thinking?: ThinkingConfig;
  readonly effort?: string;
  readonly betas?: readonly string[];
  /** Forces one tool, for structured answers. */
  readonly toolChoice?: { readonly type: 'tool'; readonly name: string };
}

/** The provider's stream, event by event, in the shapes of the Anthropic API. Unknown kinds are kept. */
export type StreamEvent =
  | {
      readonly type: 'message_start';
      readonly message: {
        readonly id: string;
        readonly model: string;
        readonly usage: Partial<Usage>;
      };
      /** The provider's own id of the request, for support questions. */
      readonly requestId?: string | undefined;
    }
  | {
      readonly type: 'content_block_start';
      readonly index: number;
      readonly content_block: { readonly type: string; readonly [key: string]: unknown };
    }
  | {
      readonly type: 'content_block_delta';
      readonly index: number;
      readonly delta: BlockDelta;
    }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | {
      readonly type: 'message_delta';
      readonly delta: {
        readonly stop_reason: ModelStopReason | null;
        readonly stop_sequence?: string | null;
      };
      readonly usage?: Partial<Usage>;
    }
  | { readonly type: 'message_stop' }
  | { readonly type: 'ping' };

export type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string };

/** What went wrong, in terms that decide what to do next. */
export type FailureKind =
  | 'authentication'
  | 'billing'
  | 'rate_limit'
  | 'overloaded'
  | 'server'
  | 'invalid_request'
  | 'prompt_too_long'
  | 'model_not_found'
  | 'connection'
  | 'timeout'
  | 'bad_response'
  | 'aborted';

export interface ModelFailure {
  readonly kind: FailureKind;
  /** HTTP status, where there was one. */
  readonly status?: number | undefined;
  /** What happened, in one sentence. */
  readonly message: string;
  /** What the user can do about it. */
  readonly remedy?: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  /** The server was waited for this long and sent not even the head of an answer. */
  readonly waitedMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/**
 * Everything that a model client yields. Failures are a last event, never a throw.
 * `retry` and `fallback` mean: forget what came since the last `message_start`; the answer begins anew.
 */
export type ModelEvent =
  | StreamEvent
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly maxRetries: number;
      readonly delayMs: number;
      readonly failure: ModelFailure;
    }
  | {
      readonly type: 'fallback';
      readonly from: string;
      readonly to: string;
      readonly failure: ModelFailure;
    }
  | { readonly type: 'failure'; readonly failure: ModelFailure };

export interface ModelClient {
  /** `anthropic`, `openai-compatible`, `scripted` … */
  readonly provider: string;
  /**
   * Contract: yields events until `message_stop` or one `failure`; never throws; stops promptly when
   * `signal` aborts, with a failure of kind `aborted`.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
